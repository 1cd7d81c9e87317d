// A program of NVRTC or hipRTC: both have the same calls under other names.
#pragma once

#include "core.h"

#include <cstring>

namespace sim {

enum Compiled : int { compiled = 0, invalidInput = 3, invalidProgram = 4, invalidOption = 5, compilationFailed = 6 };

struct Program {
	std::string name, source, log, image;
	std::vector<Header> headers;
};

inline int createProgram(Program** p, const char* source, const char* name, int n, const char* const* headers, const char* const* names) {
	if (!p || !source) return invalidInput;
	*p = new Program;
	(*p)->source = source;
	(*p)->name = name ? name : "";
	for (int i = 0; i < n; i++) (*p)->headers.push_back({names[i], headers[i]});
	return compiled;
}

inline int destroyProgram(Program** p) {
	if (!p || !*p) return invalidProgram;
	delete *p;
	*p = nullptr;
	return compiled;
}

inline int compileProgram(Program* p, int n, const char* const* options, bool hip) {
	if (!p) return invalidProgram;
	std::vector<std::string> all(options, options + n);
	p->log.clear();
	p->image = compile(p->name, p->source, p->headers, all, hip, &p->log);
	return p->image.empty() ? compilationFailed : compiled;
}

inline int imageSize(Program* p, size_t* n) {
	if (!p) return invalidProgram;
	*n = p->image.size();
	return compiled;
}

inline int getImage(Program* p, char* to) {
	if (!p || p->image.empty()) return invalidProgram;
	memcpy(to, p->image.data(), p->image.size());
	return compiled;
}

inline int logSize(Program* p, size_t* n) {
	if (!p) return invalidProgram;
	*n = p->log.size() + 1;
	return compiled;
}

inline int getLog(Program* p, char* to) {
	if (!p) return invalidProgram;
	memcpy(to, p->log.c_str(), p->log.size() + 1);
	return compiled;
}

inline const char* compiledText(const char* prefix, int status) {
	static const char* const texts[] = {"SUCCESS", "ERROR_OUT_OF_MEMORY", "ERROR_PROGRAM_CREATION_FAILURE", "ERROR_INVALID_INPUT",
	                                    "ERROR_INVALID_PROGRAM", "ERROR_INVALID_OPTION", "ERROR_COMPILATION"};
	static thread_local std::string text;
	text = prefix + std::string(status >= 0 && status <= 6 ? texts[status] : "ERROR_INTERNAL_ERROR");
	return text.c_str();
}

} // namespace sim
