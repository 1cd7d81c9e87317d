// Settings, injected faults, and the functions by which tests reach them.
#include "core.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace sim {

static std::mutex mu;
static std::map<std::string, std::string>& overrides() {
	static auto* m = new std::map<std::string, std::string>;
	return *m;
}
static std::map<std::string, int>& faults() {
	static auto* m = new std::map<std::string, int>;
	return *m;
}
static std::string& lastMessage() {
	static auto* s = new std::string;
	return *s;
}

std::string setting(const char* key, const char* otherwise) {
	std::lock_guard<std::mutex> l(mu);
	auto it = overrides().find(key);
	if (it != overrides().end()) return it->second;
	const char* e = getenv(key);
	return e && *e ? e : otherwise;
}

int deviceCount() { return atoi(setting("GPUSIM_DEVICES", "4").c_str()); }

size_t deviceMemory() { return strtoull(setting("GPUSIM_MEMORY", "2147483648").c_str(), nullptr, 10); }

int injected(const std::string& kernel) {
	std::lock_guard<std::mutex> l(mu);
	auto it = faults().find(kernel);
	if (it == faults().end()) it = faults().find("*");
	if (it == faults().end()) return 0;
	int status = it->second;
	faults().erase(it);
	return status;
}

void note(const std::string& message) {
	std::lock_guard<std::mutex> l(mu);
	lastMessage() = message;
}

static std::mutex heldMu;
static auto& heldCv = *new std::condition_variable;
static bool held = false;

void passHold() {
	std::unique_lock<std::mutex> l(heldMu);
	heldCv.wait(l, [] { return !held; });
}

const std::string& folder() {
	static const std::string dir = [] {
		Dl_info info;
		if (!dladdr(reinterpret_cast<void*>(&folder), &info)) return std::string(".");
		std::string path = info.dli_fname;
		size_t slash = path.rfind('/');
		return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
	}();
	return dir;
}

} // namespace sim

using namespace sim;

// gpusim_set changes a setting (GPUSIM_MEMORY, ...) of this process; null takes
// the change back. The environment alone would not do: a Go program without cgo
// does not share its own with C.
extern "C" void gpusim_set(const char* key, const char* value) {
	std::lock_guard<std::mutex> l(mu);
	if (value)
		overrides()[key] = value;
	else
		overrides().erase(key);
}

// gpusim_fail_launch makes the next run of a kernel ("*": of any) fail with an
// error that stays with the context.
extern "C" void gpusim_fail_launch(const char* kernel, int error) {
	std::lock_guard<std::mutex> l(mu);
	faults()[kernel] = error;
}

// gpusim_hold keeps all streams from starting on their next work, until it is
// called with 0.
extern "C" void gpusim_hold(int on) {
	std::lock_guard<std::mutex> l(heldMu);
	held = on;
	heldCv.notify_all();
}

// gpusim_reset forgets settings, faults and failures of contexts, and lets streams go on.
extern "C" void gpusim_reset() {
	gpusim_hold(0);
	{
		std::lock_guard<std::mutex> l(mu);
		overrides().clear();
		faults().clear();
		lastMessage().clear();
	}
	for (int i = 0; Context* c = primary(i); i++) c->sticky = 0;
}

// gpusim_message copies why a kernel failed last.
extern "C" void gpusim_message(char* to, size_t size) {
	std::lock_guard<std::mutex> l(mu);
	snprintf(to, size, "%s", lastMessage().c_str());
}
