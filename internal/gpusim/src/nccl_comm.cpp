// Communicators of NCCL: their making, splitting and end.
#include "core.h"
#include "nccl_core.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <random>
#include <unistd.h>

namespace sim {
namespace nccl {

static std::mutex mu;
static auto& comms = *new std::map<Comm*, CommRef>;
static auto& joining = *new std::map<std::string, CliqueRef>; // by unique id, until all ranks are there
static auto& lastText = *new std::string;

CommRef find(Comm* c) {
	std::lock_guard<std::mutex> l(mu);
	auto it = comms.find(c);
	return it == comms.end() ? nullptr : it->second;
}

void keep(const CommRef& c) {
	std::lock_guard<std::mutex> l(mu);
	comms[c.get()] = c;
}

static void forget(const CommRef& c) {
	std::lock_guard<std::mutex> l(mu);
	comms.erase(c.get());
}

void setLastError(const std::string& text) {
	std::lock_guard<std::mutex> l(mu);
	lastText = text;
}

const char* lastError(const CommRef& c) {
	static thread_local std::string text;
	if (c) {
		std::lock_guard<std::mutex> l(c->mu);
		text = c->why;
		if (!text.empty()) return text.c_str();
	}
	std::lock_guard<std::mutex> l(mu);
	text = lastText;
	return text.c_str();
}

int Comm::state() {
	std::lock_guard<std::mutex> l(mu);
	if (pending) return inProgress;
	if (error) return error;
	return ctx->sticky ? unhandledCuda : success;
}

int Comm::fail(int result, const std::string& text) {
	setLastError(text);
	std::lock_guard<std::mutex> l(mu);
	why = text;
	return result;
}

void Comm::begin() {
	std::lock_guard<std::mutex> l(mu);
	pending++;
}

void Comm::end(int result) {
	std::lock_guard<std::mutex> l(mu);
	pending--;
	if (result && !error) error = result;
	cv.notify_all();
}

void Comm::settle() {
	std::unique_lock<std::mutex> l(mu);
	cv.wait(l, [&] { return pending == 0; });
}

// ConfigHead is the part of ncclConfig_t that counts here.
struct ConfigHead {
	size_t size;
	uint32_t magic, version;
	int blocking;
};

// readConfig says whether the communicator blocks, false if the config is none.
static bool readConfig(const void* config, bool* blocking) {
	if (!config) return true;
	ConfigHead h;
	memcpy(&h, config, sizeof h);
	if (h.magic != 0xcafebeef || h.size < 20) return false;
	if (h.blocking != INT_MIN) *blocking = h.blocking != 0;
	return h.blocking == INT_MIN || h.blocking == 0 || h.blocking == 1;
}

// token marks the ids of this process: ranks of others cannot join.
static const std::string& token() {
	static const std::string t = "gpusim " + std::to_string(getpid()) + " " + std::to_string(std::random_device{}()) + " ";
	return t;
}

int makeId(char* id) {
	static std::atomic<uint64_t> count{0};
	memset(id, 0, 128);
	std::string text = token() + std::to_string(++count);
	memcpy(id, text.data(), text.size());
	return success;
}

static bool sharing() { return setting("GPUSIM_NCCL_SHARE", "0") == "1"; }

// join meets the other ranks and looks at where they are.
static int join(const CommRef& c) {
	std::vector<int64_t> devices;
	if (!c->clique->exchange(c.get(), 0, c->ctx->device, &devices)) return c->fail(internalError, "aborted while ranks were joining");
	for (int a = 0; a < c->n && !sharing(); a++)
		for (int b = a + 1; b < c->n; b++)
			if (devices[size_t(a)] == devices[size_t(b)])
				return c->fail(invalidUsage, "Duplicate GPU detected : rank " + std::to_string(a) + " and rank " + std::to_string(b) +
				                                 " both on CUDA device " + std::to_string(devices[size_t(a)]));
	return success;
}

static CommRef makeComm(const CliqueRef& clique, int rank, Context* ctx, bool blocking) {
	auto c = std::make_shared<Comm>();
	c->clique = clique;
	c->rank = rank;
	c->n = clique->n;
	c->ctx = ctx;
	c->blocking = blocking;
	std::lock_guard<std::mutex> l(clique->mu);
	clique->members[size_t(rank)] = c.get();
	return c;
}

// here is the context of the calling thread. As in the real library a thread
// without one is on device 0.
static Context* here() {
	Context* c = current();
	if (!c || !c->retained) {
		if (init() != ok || retain(0, &c) != ok) return nullptr;
		setCurrent(c);
	}
	return c;
}

int initRank(CommRef* out, int n, const char* id, int rank, const void* config) {
	bool blocking = true;
	if (n < 1 || rank < 0 || rank >= n || !readConfig(config, &blocking)) {
		setLastError("invalid rank, number of ranks or config");
		return invalidArgument;
	}
	std::string key(id, 128);
	if (key.compare(0, token().size(), token())) {
		setLastError("gpusim: the id is of another process: the simulator joins ranks of one process only");
		return systemError;
	}
	Context* ctx = here();
	if (!ctx || ctx->sticky) return unhandledCuda;
	CliqueRef clique;
	{
		std::lock_guard<std::mutex> l(mu);
		auto& slot = joining[key];
		if (!slot) slot = std::make_shared<Clique>(n);
		clique = slot;
		std::lock_guard<std::mutex> m(clique->mu);
		if (clique->n != n || clique->taken[size_t(rank)]) {
			lastText = "rank " + std::to_string(rank) + " of " + std::to_string(n) + " joins twice, or others with another number of ranks";
			return invalidUsage;
		}
		clique->taken[size_t(rank)] = true;
		if (std::count(clique->taken.begin(), clique->taken.end(), false) == 0) joining.erase(key);
	}
	auto c = makeComm(clique, rank, ctx, blocking);
	*out = c;
	return perform(Job{c, [c] { return join(c); }});
}

// childOf makes the clique of one colour of a split once for all its ranks.
static CliqueRef childOf(Clique& parent, uint64_t key, int color, int n) {
	std::lock_guard<std::mutex> l(parent.mu);
	auto& child = parent.children[{key, color}];
	if (!child) child = std::make_shared<Clique>(n);
	return child;
}

// split writes the new communicator when it is ready, which is when the state of
// the parent says so: until then the memory at out must live.
int split(const CommRef& parent, int color, int key, Comm** out, const void* config) {
	bool blocking = parent->blocking;
	if ((color < 0 && color != -1) || !readConfig(config, &blocking)) return parent->fail(invalidArgument, "invalid colour or config");
	*out = nullptr;
	uint64_t exchange = parent->exchanges++;
	return perform(Job{parent, [=]() -> int {
		                   std::vector<int64_t> all;
		                   int64_t mine = int64_t(color) << 32 | uint32_t(key);
		                   if (!parent->clique->exchange(parent.get(), exchange, mine, &all)) return internalError;
		                   if (color < 0) return success;
		                   std::vector<std::pair<int32_t, int>> group; // by key, then rank
		                   for (int r = 0; r < parent->n; r++)
			                   if (int(all[size_t(r)] >> 32) == color) group.push_back({int32_t(all[size_t(r)]), r});
		                   std::sort(group.begin(), group.end());
		                   int rank = 0;
		                   while (group[size_t(rank)].second != parent->rank) rank++;
		                   auto clique = childOf(*parent->clique, exchange, color, int(group.size()));
		                   auto c = makeComm(clique, rank, parent->ctx, blocking);
		                   if (int r = join(c)) return parent->fail(r, c->why);
		                   keep(c);
		                   __atomic_store_n(out, c.get(), __ATOMIC_RELEASE);
		                   return success;
	                   }});
}

static int drain(const CommRef& c) {
	std::unique_lock<std::mutex> l(c->mu);
	c->cv.wait(l, [&] { return c->outstanding == 0; });
	return success;
}

int finalize(const CommRef& c) {
	if (c->revoked || c->finalized) return c->fail(invalidUsage, "finalize of a communicator that is revoked or finalized");
	c->finalized = true;
	return perform(Job{c, [c] { return drain(c); }});
}

// leave takes a rank out of its clique; its handle is no longer valid.
static void leave(const CommRef& c) {
	forget(c);
	std::lock_guard<std::mutex> l(c->clique->mu);
	if (c->clique->members[size_t(c->rank)] == c.get()) c->clique->members[size_t(c->rank)] = nullptr;
}

int destroy(const CommRef& c) {
	c->settle();
	drain(c);
	leave(c);
	return success;
}

int abort(const CommRef& c) {
	c->aborted = true;
	c->clique->wake();
	c->settle();
	forgetAll(c.get());
	leave(c);
	return success;
}

// revoke stops the works in streams and keeps all else, in the background. The
// real library comes to grief over a communicator that is still busy with the
// call before; here it is told so.
int revoke(const CommRef& c) {
	if (c->revoked || c->finalized) return c->fail(invalidArgument, "revoke of a communicator that is revoked or finalized");
	if (c->state() == inProgress) {
		note("gpusim: NCCL: revoke of a communicator that is still busy with the call before");
		return c->fail(internalError, "revoke of a communicator that is still busy with the call before");
	}
	c->revoked = true;
	c->clique->wake();
	return perform(Job{c, [c] { return drain(c); }});
}

int count() {
	std::lock_guard<std::mutex> l(mu);
	return int(comms.size());
}

// kill is a rank whose process died: others learn of it, and hang until they abort.
int kill(const CommRef& c) {
	std::lock_guard<std::mutex> l(c->clique->mu);
	for (Comm* m : c->clique->members) {
		if (!m || m == c.get()) continue;
		std::lock_guard<std::mutex> k(m->mu);
		m->error = remoteError;
		m->why = "rank " + std::to_string(c->rank) + " is gone";
	}
	return success;
}

} // namespace nccl
} // namespace sim
