// Modules, launches, and what becomes of a kernel that faults.
#include "core.h"
#include "runtime.h"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>
#include <unordered_map>

namespace sim {

static std::mutex mu;
static auto& modules = *new std::unordered_map<void*, ModuleRef>;
static auto& functions = *new std::unordered_map<void*, ModuleRef>; // by Function*

Module::~Module() { dlclose(handle); }

// A file of its own for each module: the loader would take a second one with
// the same name or inode for the first, whose variables they would share.
static void* openImage(const char* bytes, size_t size) {
	const char* tmp = getenv("TMPDIR");
	std::string path = std::string(tmp && *tmp ? tmp : "/tmp") + "/gpusim-XXXXXX";
	int fd = mkstemp(&path[0]);
	if (fd < 0) return nullptr;
	size_t done = 0;
	while (done < size) {
		ssize_t n = write(fd, bytes + done, size - done);
		if (n <= 0) break;
		done += size_t(n);
	}
	::close(fd);
	void* h = done == size ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
	unlink(path.c_str());
	return h;
}

Status loadModule(Context* c, const void* image, int warp, void** handle) {
	if (!image || !handle) return invalidValue;
	size_t size = 0;
	const char* elf = payload(image, &size);
	if (!elf) return invalidImage;
	void* h = openImage(elf, size);
	if (!h) return invalidImage;
	auto* rt = static_cast<const gpusim_runtime**>(dlsym(h, "gpusim_rt"));
	if (!rt) {
		dlclose(h);
		return invalidImage;
	}
	*rt = runtime();
	auto m = std::make_shared<Module>();
	m->ctx = c;
	m->handle = h;
	m->warp = warp;
	std::lock_guard<std::mutex> l(mu);
	modules[m.get()] = m;
	*handle = m.get();
	return ok;
}

static void forget(const ModuleRef& m) { // mu is held
	for (auto& f : m->functions) functions.erase(f.second.get());
	modules.erase(m.get());
}

Status unloadModule(void* handle) {
	std::lock_guard<std::mutex> l(mu);
	auto it = modules.find(handle);
	if (it == modules.end()) return invalidHandle;
	ModuleRef m = it->second;
	forget(m);
	return ok;
}

void dropModules(Context* c) {
	std::lock_guard<std::mutex> l(mu);
	std::vector<ModuleRef> gone;
	for (auto& e : modules)
		if (e.second->ctx == c) gone.push_back(e.second);
	for (auto& m : gone) forget(m);
}

Status getFunction(void* module, const char* name, void** handle) {
	if (!name || !handle) return invalidValue;
	std::lock_guard<std::mutex> l(mu);
	auto it = modules.find(module);
	if (it == modules.end()) return invalidHandle;
	Module& m = *it->second;
	auto& f = m.functions[name];
	if (!f) {
		auto* entry = dlsym(m.handle, name);
		auto* size = static_cast<const unsigned*>(dlsym(m.handle, (std::string("gpusim_size_") + name).c_str()));
		if (!entry || !size) {
			m.functions.erase(name);
			return notFound;
		}
		f = std::make_unique<Function>();
		f->name = name;
		f->entry = reinterpret_cast<decltype(f->entry)>(entry);
		f->argSize = *size;
		f->module = &m;
		functions[f.get()] = it->second;
	}
	*handle = f.get();
	return ok;
}

Function* findFunction(void* handle) {
	std::lock_guard<std::mutex> l(mu);
	return functions.count(handle) ? static_cast<Function*>(handle) : nullptr;
}

static bool bad(const Dim& grid, const Dim& block) {
	uint64_t threads = uint64_t(block.x) * block.y * block.z;
	return !grid.x || !grid.y || !grid.z || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535 || threads == 0 ||
	       block.x > 1024 || block.y > 1024 || block.z > 64 || threads > 1024;
}

// arguments finds the one struct of a kernel in params, or in the buffer that
// extra describes as {1, buffer, 2, &size, 0}.
static const void* arguments(const Function* f, void** params, void** extra) {
	if (params) return params[0];
	const void* buffer = nullptr;
	size_t size = 0;
	for (int i = 0; extra && extra[i]; i += 2) {
		if (extra[i] == reinterpret_cast<void*>(1)) buffer = extra[i + 1];
		if (extra[i] == reinterpret_cast<void*>(2)) size = *static_cast<size_t*>(extra[i + 1]);
	}
	return size == f->argSize ? buffer : nullptr;
}

// A Guard is where a thread goes on when the work in hand cannot.
struct Guard {
	sigjmp_buf env;
	int status = 0;
	std::string why;
};
// Initial-exec: the handler of a signal must not allocate it.
static thread_local Guard* guard __attribute__((tls_model("initial-exec"))) = nullptr;
static thread_local const Function* running = nullptr;
static struct sigaction before[NSIG];

int guarded(const std::function<void()>& work, std::string* why) {
	Guard g;
	guard = &g;
	running = nullptr;
	if (sigsetjmp(g.env, 1) == 0) work();
	guard = nullptr;
	*why = g.why;
	return g.status;
}

void failKernel(int status, const std::string& why) {
	Guard* g = guard;
	g->status = status;
	g->why = why;
	siglongjmp(g->env, 1);
}

static const char* describe(int sig) {
	switch (sig) {
	case SIGSEGV: return "touched an address that is no memory";
	case SIGBUS: return "touched an address that is no memory (SIGBUS)";
	case SIGFPE: return "divided an integer by zero";
	}
	return "met an illegal instruction";
}

// A fault in work of a stream fails its context; any other is for whoever
// handled it before, such as Go, which turns it into a panic.
static void onFault(int sig, siginfo_t* info, void* context) {
	if (guard) {
		char address[32];
		snprintf(address, sizeof address, " (%p)", info->si_addr);
		failKernel(illegalAddress, (running ? "kernel " + running->name : "a copy") + " " + describe(sig) + address);
	}
	struct sigaction& old = before[sig];
	if (old.sa_flags & SA_SIGINFO) {
		old.sa_sigaction(sig, info, context);
	} else if (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN) {
		signal(sig, SIG_DFL);
	} else {
		old.sa_handler(sig);
	}
}

void catchFaults() {
	static std::once_flag once;
	std::call_once(once, [] {
		for (int sig : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
			struct sigaction a = {};
			sigaction(sig, nullptr, &before[sig]);
			a.sa_sigaction = onFault;
			a.sa_mask = before[sig].sa_mask;
			a.sa_flags = SA_SIGINFO | SA_ONSTACK | (before[sig].sa_flags & (SA_RESTART | SA_NODEFER));
			sigaction(sig, &a, nullptr);
		}
	});
}

Status launch(Context* c, Function* f, Dim grid, Dim block, unsigned dynamic, const StreamRef& s, void** params, void** extra) {
	if (f->module->ctx != c) return invalidHandle;
	if (bad(grid, block) || int64_t(dynamic) > f->maxDynamic) return invalidValue;
	const void* args = arguments(f, params, extra);
	if (!args) return invalidValue;
	ModuleRef keep;
	{
		std::lock_guard<std::mutex> l(mu);
		auto it = functions.find(f);
		if (it == functions.end()) return invalidHandle;
		keep = it->second;
	}
	std::string copy(static_cast<const char*>(args), f->argSize);
	Grid g{grid, block, dynamic, f->module->warp};
	s->submit([f, keep, copy, g] {
		running = f;
		if (int status = injected(f->name)) failKernel(status, "kernel " + f->name + ": the failure that the test asked for");
		runGrid(f, copy.data(), g);
	});
	return ok;
}

} // namespace sim
