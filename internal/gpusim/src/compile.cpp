// Compiles kernels with g++ into shared objects, once for all processes that
// use this folder.
#include "core.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace sim {

static uint64_t hash(const std::string& s, uint64_t h = 0xcbf29ce484222325ull) {
	for (unsigned char c : s) h = (h ^ c) * 0x100000001b3ull;
	return h;
}

// An image is this and the shared object: a device would refuse a broken one.
struct ImageHeader {
	char magic[8];
	uint64_t size, sum;
};
static const char magic[8] = {'G', 'P', 'U', 'S', 'I', 'M', '1', 0};

static std::string pack(const std::string& object) {
	ImageHeader h;
	memcpy(h.magic, magic, sizeof magic);
	h.size = object.size();
	h.sum = hash(object);
	return std::string(reinterpret_cast<char*>(&h), sizeof h) + object;
}

const char* payload(const void* image, size_t* size) {
	ImageHeader h;
	memcpy(&h, image, sizeof h);
	auto* object = static_cast<const char*>(image) + sizeof h;
	if (memcmp(h.magic, magic, sizeof magic) || h.size > (1u << 30)) return nullptr;
	if (hash(std::string(object, h.size)) != h.sum) return nullptr;
	*size = h.size;
	return object;
}

static bool readFile(const std::string& path, std::string* text) {
	std::ifstream f(path, std::ios::binary);
	if (!f) return false;
	std::stringstream s;
	s << f.rdbuf();
	*text = s.str();
	return true;
}

static bool writeFile(const std::string& path, const std::string& text) {
	std::ofstream f(path, std::ios::binary);
	f << text;
	f.flush();
	return bool(f);
}

// run runs a program with its output in a file, and returns its exit status.
static int run(const std::vector<std::string>& args, const std::string& output) {
	std::vector<char*> argv;
	for (auto& a : args) argv.push_back(const_cast<char*>(a.c_str()));
	argv.push_back(nullptr);
	posix_spawn_file_actions_t files;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&files, 1, 2);
	posix_spawnattr_t attr;
	posix_spawnattr_init(&attr);
	sigset_t none;
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	pid_t pid;
	int err = posix_spawnp(&pid, argv[0], &files, &attr, argv.data(), environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (err) {
		writeFile(output, std::string("gpusim: cannot run ") + argv[0] + ": " + strerror(err) + "\n");
		return -1;
	}
	int status = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
	return status;
}

// passed says which options of the real compilers g++ gets.
static bool passed(const std::string& o) { return o.rfind("-D", 0) == 0 || o.rfind("-I", 0) == 0 || o.rfind("-U", 0) == 0; }

// translate writes the options that count in the short form: both compilers
// take "-D name" and "--define-macro=name" as well.
static std::vector<std::string> translate(const std::vector<std::string>& options) {
	static const std::pair<const char*, const char*> longer[] = {
	    {"--define-macro=", "-D"}, {"--include-path=", "-I"}, {"--undefine-macro=", "-U"}};
	std::vector<std::string> all;
	for (size_t i = 0; i < options.size(); i++) {
		std::string o = options[i];
		for (auto& l : longer)
			if (o.rfind(l.first, 0) == 0) o = l.second + o.substr(strlen(l.first));
		if (!passed(o)) continue;
		if (o.size() == 2 && i + 1 < options.size()) o += options[++i];
		all.push_back(o);
	}
	return all;
}

static void removeAll(const std::string& dir, const std::vector<std::string>& names) {
	for (auto& n : names) unlink((dir + "/" + n).c_str());
	rmdir(dir.c_str());
}

std::string compile(const std::string& name, const std::string& source, const std::vector<Header>& headers,
                    const std::vector<std::string>& options, bool hip, std::string* log) {
	// Shared memory of a template would be one variable for all modules otherwise,
	// however large each takes it to be.
	std::vector<std::string> args = {"g++", "-x", "c++", "-std=gnu++17", "-O1", "-fPIC", "-shared", "-w", "-fno-exceptions",
	                                 "-ffp-contract=off", "-fno-gnu-unique", "-U_FORTIFY_SOURCE", "-include", folder() + "/src/prelude.h"};
	if (hip) args.push_back("-DGPUSIM_HIP=1");
	for (auto& o : translate(options)) args.push_back(o);
	std::string key = source;
	for (auto& a : args) key += '\0' + a;
	for (auto& h : headers) key += '\0' + h.name + '\0' + h.text;
	char id[40];
	snprintf(id, sizeof id, "%016lx%016lx", (unsigned long)hash(key), (unsigned long)hash(key, 0x9e3779b97f4a7c15ull));

	std::string cache = folder() + "/kernels", kept = cache + "/" + id + ".so", object;
	mkdir(cache.c_str(), 0700);
	if (readFile(kept, &object)) return pack(object);

	std::string dir = cache + "/tmp-XXXXXX";
	if (!mkdtemp(&dir[0])) {
		*log = "gpusim: cannot write to " + cache;
		return "";
	}
	std::vector<std::string> made = {"kernel.cu", "out.so", "log"};
	writeFile(dir + "/kernel.cu", "#line 1 \"" + (name.empty() ? "kernel.cu" : name) + "\"\n" + source);
	for (auto& h : headers) {
		writeFile(dir + "/" + h.name, h.text);
		made.push_back(h.name);
	}
	args.insert(args.end(), {"-I" + dir, "-o", dir + "/out.so", dir + "/kernel.cu"});
	int status = run(args, dir + "/log");
	readFile(dir + "/log", log);
	if (status != 0 || !readFile(dir + "/out.so", &object)) {
		if (log->empty()) *log = "gpusim: g++ failed and said nothing";
		removeAll(dir, made);
		return "";
	}
	rename((dir + "/out.so").c_str(), kept.c_str());
	removeAll(dir, made);
	return pack(object);
}

} // namespace sim
