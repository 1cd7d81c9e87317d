// Names and texts of errors, which CUDA and HIP print.
#pragma once

namespace sim {
const char* errorName(int status); // null if there is none
const char* hipErrorName(int status);
const char* errorText(int status);
} // namespace sim
