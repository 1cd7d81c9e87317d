// What the libraries over the driver share: a handle on a context and one of
// its streams, and a check that what they are given is memory of a device.
#pragma once

#include "core.h"

#include <algorithm>

namespace sim {

struct Handle {
	Context* ctx = nullptr;
	void* raw = nullptr; // as the caller gave it

	// stream finds the stream to work on. The context must be the current one.
	bool stream(StreamRef* s) const {
		Context* c = nullptr;
		return enter(&c) == ok && c == ctx && findStream(c, raw, s) == ok;
	}
};

struct Range {
	const void* p;
	size_t bytes;
};

// present says whether all ranges are memory of a device. If one is not, the
// stream fails when it gets there, as a real device would; the call succeeds.
inline bool present(const StreamRef& s, const char* what, const std::vector<Range>& ranges) {
	for (auto& r : ranges) {
		if (r.bytes == 0 || isDevice(r.p, r.bytes)) continue;
		std::string why = std::string(what) + ": " + std::to_string(r.bytes) + " bytes that are not all memory of a device";
		s->submit([why] { failKernel(illegalAddress, why); });
		return false;
	}
	return true;
}

} // namespace sim
