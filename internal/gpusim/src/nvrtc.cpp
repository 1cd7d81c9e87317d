// libnvrtc.so.12: the compiler of CUDA kernels by name.
#include "core.h"
#include "program.h"

using namespace sim;

// known says whether NVRTC has an option, up to its value.
static bool known(const std::string& option) {
	static const char* const all[] = {"-D", "-I", "-U", "-arch", "-std", "-w", "-G", "-lineinfo", "-default-device", "-rdc", "-dc", "-dw",
	                                  "-ewp", "-pch", "-restrict", "--"};
	for (auto* k : all)
		if (option.rfind(k, 0) == 0) return true;
	return option.empty() || option[0] != '-'; // the value of the option before
}

extern "C" {

const char* nvrtcGetErrorString(int status) { return compiledText("NVRTC_", status); }

int nvrtcVersion(int* major, int* minor) {
	*major = 12;
	*minor = 4;
	return compiled;
}

static const int archs[] = {50, 60, 70, 75, 80, 86, 89, 90};

int nvrtcGetNumSupportedArchs(int* n) {
	*n = int(sizeof archs / sizeof *archs);
	return compiled;
}

int nvrtcGetSupportedArchs(int* to) {
	memcpy(to, archs, sizeof archs);
	return compiled;
}

int nvrtcCreateProgram(Program** p, const char* source, const char* name, int n, const char* const* headers, const char* const* names) {
	return createProgram(p, source, name, n, headers, names);
}

int nvrtcDestroyProgram(Program** p) { return destroyProgram(p); }

int nvrtcCompileProgram(Program* p, int n, const char* const* options) {
	for (int i = 0; p && i < n; i++) {
		if (known(options[i])) continue;
		p->log = std::string("nvrtc: error: invalid value for option ") + options[i] + "\n";
		return invalidOption;
	}
	return compileProgram(p, n, options, false);
}

int nvrtcGetPTXSize(Program* p, size_t* n) { return imageSize(p, n); }
int nvrtcGetPTX(Program* p, char* to) { return getImage(p, to); }
int nvrtcGetCUBINSize(Program* p, size_t* n) { return imageSize(p, n); }
int nvrtcGetCUBIN(Program* p, char* to) { return getImage(p, to); }
int nvrtcGetProgramLogSize(Program* p, size_t* n) { return logSize(p, n); }
int nvrtcGetProgramLog(Program* p, char* to) { return getLog(p, to); }

} // extern "C"
