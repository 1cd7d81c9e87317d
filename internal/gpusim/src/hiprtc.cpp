// libhiprtc.so.6: the compiler of HIP kernels by name.
#include "core.h"
#include "program.h"

using namespace sim;

extern "C" {

const char* hiprtcGetErrorString(int status) { return compiledText("HIPRTC_", status); }

int hiprtcVersion(int* major, int* minor) {
	*major = 6;
	*minor = 3;
	return compiled;
}

int hiprtcCreateProgram(Program** p, const char* source, const char* name, int n, const char** headers, const char** names) {
	return createProgram(p, source, name, n, headers, names);
}
int hiprtcDestroyProgram(Program** p) { return destroyProgram(p); }
int hiprtcCompileProgram(Program* p, int n, const char** options) { return compileProgram(p, n, options, true); }
int hiprtcGetCodeSize(Program* p, size_t* n) { return imageSize(p, n); }
int hiprtcGetCode(Program* p, char* to) { return getImage(p, to); }
int hiprtcGetProgramLogSize(Program* p, size_t* n) { return logSize(p, n); }
int hiprtcGetProgramLog(Program* p, char* to) { return getLog(p, to); }

} // extern "C"
