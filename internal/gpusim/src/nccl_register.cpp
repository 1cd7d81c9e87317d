// Memory that communicators of NCCL know: registered by one rank, or as a window
// by all. The real library forgives much of what is refused here.
#include "core.h"
#include "nccl_core.h"

#include <iterator>

namespace sim {
namespace nccl {

// A Registration is memory that one communicator knows.
struct Registration {
	Comm* comm;
	bool window;
	uintptr_t from, to;
};

static std::mutex mu;
static auto& registrations = *new std::map<uintptr_t, Registration>; // by handle
static auto& blocks = *new std::map<uintptr_t, size_t>;              // of memAlloc, by address
static uintptr_t next = 1;                                           // handle

static const size_t page = 4096; // NCCL_WIN_REQUIRED_ALIGNMENT

static void* add(Comm* c, bool window, const void* p, size_t bytes) {
	std::lock_guard<std::mutex> l(mu);
	auto from = reinterpret_cast<uintptr_t>(p);
	registrations[next] = Registration{c, window, from, from + bytes};
	return reinterpret_cast<void*>(next++);
}

// forgetAll is what an abort does. To destroy a communicator does not: what it
// still knows then stays in the count for tests to see.
void forgetAll(Comm* c) {
	std::lock_guard<std::mutex> l(mu);
	for (auto it = registrations.begin(); it != registrations.end();) it = it->second.comm == c ? registrations.erase(it) : std::next(it);
}

int memAlloc(void** p, size_t size) {
	Context* ctx = nullptr;
	if (enter(&ctx) != ok || allocate(ctx, (size + page - 1) / page * page, p) != ok) return unhandledCuda;
	std::lock_guard<std::mutex> l(mu);
	blocks[reinterpret_cast<uintptr_t>(*p)] = size;
	return success;
}

int memFree(void* p) {
	Context* ctx = nullptr;
	auto at = reinterpret_cast<uintptr_t>(p);
	{
		std::lock_guard<std::mutex> l(mu);
		auto it = blocks.find(at);
		if (it == blocks.end()) {
			setLastError("not memory of ncclMemAlloc, or freed before");
			return invalidArgument;
		}
		for (auto& r : registrations) {
			if (r.second.from >= at + it->second || r.second.to <= at) continue;
			setLastError("the memory to free is still registered");
			return invalidUsage;
		}
		blocks.erase(it);
	}
	return enter(&ctx) == ok && release(ctx, p, nullptr) == ok ? success : unhandledCuda;
}

// allocated says whether all bytes at p are in one block of memAlloc.
static bool allocated(const void* p, size_t bytes) {
	std::lock_guard<std::mutex> l(mu);
	auto at = reinterpret_cast<uintptr_t>(p);
	auto it = blocks.upper_bound(at);
	if (it == blocks.begin()) return false;
	--it;
	return at + bytes <= it->first + it->second;
}

int registerMemory(const CommRef& c, void* p, size_t bytes, void** handle) {
	if (c->state() == inProgress) return c->fail(invalidArgument, "the communicator is still busy with the call before: poll its state");
	if (!handle || !bytes || !isDevice(p, bytes) || isPinned(p, bytes)) return c->fail(invalidArgument, "registered memory must be a device's");
	*handle = add(c.get(), false, p, bytes);
	return success;
}

// refusal is what the setting makes of this rank's next windows: "null" and
// "fail" are for all ranks, "null 1" and "fail 1" for rank 1.
static std::string refusal(const CommRef& c) {
	std::string s = setting("GPUSIM_NCCL_WINDOWS", "");
	size_t space = s.find(' ');
	return space != std::string::npos && s.substr(space + 1) != std::to_string(c->rank) ? "" : s.substr(0, space);
}

// windowRegister returns success while ranks still wait for each other, as the
// real one does on a communicator that does not block: only its state tells.
int windowRegister(const CommRef& c, void* p, size_t bytes, void** window, int flags) {
	if (flags & ~3 || !window) return c->fail(invalidArgument, "invalid flags of a window, or nowhere to put it");
	if (!bytes || !allocated(p, bytes) || !isDevice(p, bytes)) return c->fail(invalidArgument, "a window must be memory of ncclMemAlloc");
	if (reinterpret_cast<uintptr_t>(p) % page) return c->fail(invalidArgument, "Window address must be suitably aligned.");
	std::string refused = refusal(c);
	uint64_t exchange = c->exchanges++;
	int result = perform(Job{c, [=]() -> int {
		                         std::vector<int64_t> all;
		                         if (!c->clique->exchange(c.get(), exchange, int64_t(bytes), &all)) return internalError;
		                         for (int64_t other : all)
			                         if (other != int64_t(bytes)) return c->fail(invalidArgument, "windows of ranks differ in size");
		                         if (refused == "fail") return c->fail(unhandledCuda, "Cuda failure 'operation not supported'");
		                         void* w = refused == "null" ? nullptr : add(c.get(), true, p, bytes);
		                         __atomic_store_n(window, w, __ATOMIC_RELEASE);
		                         return success;
	                         }});
	return result == inProgress ? success : result;
}

int deregister(const CommRef& c, void* handle, bool window) {
	if (c->state() == inProgress) return c->fail(invalidArgument, "the communicator is still busy with the call before: poll its state");
	std::lock_guard<std::mutex> l(mu);
	auto it = registrations.find(reinterpret_cast<uintptr_t>(handle));
	if (it == registrations.end() || it->second.comm != c.get() || it->second.window != window)
		return c->fail(invalidUsage, "Deregister: Could not find handle");
	registrations.erase(it);
	return success;
}

} // namespace nccl
} // namespace sim

// gpusim_nccl_live counts what communicators of this process know.
extern "C" int gpusim_nccl_live() {
	std::lock_guard<std::mutex> l(sim::nccl::mu);
	return int(sim::nccl::registrations.size());
}
