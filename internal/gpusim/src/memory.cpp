// Device memory and pinned memory are mappings of the host. Each ends at a page
// that cannot be touched, is filled with NaNs at first, and is unmapped when
// freed: use of what is not there, not yet or no longer shows.
#include "core.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace sim {

enum Kind { device, pinned, registered };

struct Block {
	Kind kind;
	Context* ctx;
	size_t size;    // as asked for
	char* base;     // of the mapping, null for registered memory
	size_t mapping; // bytes of it, with the guard
};

static std::mutex mu;
static auto& blocks = *new std::map<uintptr_t, Block>;

static const size_t align = 256;
static const unsigned char poison = 0xff;

static size_t roundUp(size_t n, size_t to) { return (n + to - 1) / to * to; }

// map returns memory for size bytes that ends at the guard page, but for what
// the alignment costs.
static char* map(Block* b) {
	size_t page = sysconf(_SC_PAGESIZE), body = roundUp(b->size, align);
	b->mapping = roundUp(body, page) + page;
	void* m = mmap(nullptr, b->mapping, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m == MAP_FAILED) return nullptr;
	b->base = static_cast<char*>(m);
	char* end = b->base + b->mapping - page;
	mprotect(end, page, PROT_NONE);
	char* p = end - body;
	const size_t most = 32 << 20; // large memory is poisoned at its ends only, to spare the host
	if (body <= 2 * most) {
		memset(p, poison, body);
	} else {
		memset(p, poison, most);
		memset(end - most, poison, most);
	}
	return p;
}

static void unmap(const Block& b) {
	if (b.base) munmap(b.base, b.mapping);
}

// find returns the block that holds all n bytes at p.
static const Block* find(const void* p, size_t n) {
	auto at = reinterpret_cast<uintptr_t>(p);
	auto it = blocks.upper_bound(at);
	if (it == blocks.begin()) return nullptr;
	--it;
	return at - it->first <= it->second.size && n <= it->second.size - (at - it->first) ? &it->second : nullptr;
}

bool isDevice(const void* p, size_t n) {
	std::lock_guard<std::mutex> l(mu);
	return find(p, n);
}

bool isPinned(const void* p, size_t n) {
	std::lock_guard<std::mutex> l(mu);
	const Block* b = find(p, n);
	return b && b->kind != device;
}

Status allocate(Context* c, size_t size, void** p) {
	if (size == 0 || !p) return invalidValue;
	size_t charge = roundUp(size, align);
	if (c->used.fetch_add(charge) + charge > deviceMemory()) {
		c->used -= charge;
		return outOfMemory;
	}
	Block b{device, c, size, nullptr, 0};
	char* m = map(&b);
	if (!m) {
		c->used -= charge;
		return outOfMemory;
	}
	std::lock_guard<std::mutex> l(mu);
	blocks[reinterpret_cast<uintptr_t>(m)] = b;
	*p = m;
	return ok;
}

// take removes the block that starts at p from the table, so that a second free
// is an error from now on.
static bool take(void* p, Kind kind, Block* b) {
	std::lock_guard<std::mutex> l(mu);
	auto it = blocks.find(reinterpret_cast<uintptr_t>(p));
	if (it == blocks.end() || it->second.kind != kind) return false;
	*b = it->second;
	blocks.erase(it);
	return true;
}

// intact says whether nobody has written to the bytes that only alignment added.
static bool intact(const Block& b, const void* p) {
	auto* s = static_cast<const unsigned char*>(p);
	for (size_t i = b.size; i < roundUp(b.size, align); i++)
		if (s[i] != poison) return false;
	return true;
}

static void checkAndUnmap(const Block& b, const void* p) {
	if (!intact(b, p))
		b.ctx->fail(illegalAddress, "something wrote past the end of " + std::to_string(b.size) + " bytes of device memory");
	unmap(b);
}

Status release(Context* c, void* p, const StreamRef& s) {
	if (!p) return ok;
	Block b;
	if (!take(p, device, &b)) return invalidValue;
	b.ctx->used -= roundUp(b.size, align);
	if (s) {
		s->submit([b, p] { checkAndUnmap(b, p); }, true);
		return ok;
	}
	b.ctx->wait(); // as the real one does
	checkAndUnmap(b, p);
	return Status(c->sticky.load());
}

Status allocateHost(Context* c, size_t size, void** p) {
	if (size == 0 || !p) return invalidValue;
	Block b{pinned, c, size, nullptr, 0};
	char* m = map(&b);
	if (!m) return outOfMemory;
	std::lock_guard<std::mutex> l(mu);
	blocks[reinterpret_cast<uintptr_t>(m)] = b;
	*p = m;
	return ok;
}

Status freeHost(void* p) {
	Block b;
	if (!take(p, pinned, &b)) return invalidValue;
	b.ctx->wait();
	unmap(b);
	return ok;
}

Status registerHost(Context* c, void* p, size_t size) {
	if (!p || size == 0) return invalidValue;
	std::lock_guard<std::mutex> l(mu);
	if (find(p, 1)) return hostAlreadyRegistered;
	blocks[reinterpret_cast<uintptr_t>(p)] = Block{registered, c, size, nullptr, 0};
	return ok;
}

Status unregisterHost(void* p) {
	Block b;
	return take(p, registered, &b) ? ok : hostNotRegistered;
}

void releaseAll(Context* c) {
	std::lock_guard<std::mutex> l(mu);
	for (auto it = blocks.begin(); it != blocks.end();) {
		if (it->second.ctx != c) {
			++it;
			continue;
		}
		unmap(it->second);
		it = blocks.erase(it);
	}
	c->used = 0;
}

// Pageable memory is copied before the call returns, as the driver stages it.
Status copyIn(void* dst, const void* host, size_t n, const StreamRef& s) {
	if (n == 0) return ok;
	if (!isDevice(dst, n) || !host) return invalidValue;
	if (isPinned(host, n)) {
		s->submit([=] { memcpy(dst, host, n); });
		return ok;
	}
	auto staged = std::make_shared<std::string>(static_cast<const char*>(host), n);
	s->submit([=] { memcpy(dst, staged->data(), n); });
	return ok;
}

// A copy to pageable memory has ended when the call returns.
Status copyOut(void* host, const void* src, size_t n, const StreamRef& s) {
	if (n == 0) return ok;
	if (!isDevice(src, n) || !host) return invalidValue;
	uint64_t ticket = s->submit([=] { memcpy(host, src, n); });
	if (isPinned(host, n)) return ok;
	s->wait(ticket);
	return Status(s->ctx->sticky.load());
}

Status copy(void* dst, const void* src, size_t n, const StreamRef& s) {
	if (n == 0) return ok;
	if (!isDevice(dst, n) || !isDevice(src, n)) return invalidValue;
	s->submit([=] { memmove(dst, src, n); });
	return ok;
}

Status fill(void* dst, uint32_t value, size_t width, size_t n, const StreamRef& s) {
	if (n == 0) return ok;
	if (!isDevice(dst, n * width) || reinterpret_cast<uintptr_t>(dst) % width) return invalidValue;
	s->submit([=] {
		if (width == 1) {
			memset(dst, int(value & 0xff), n);
			return;
		}
		auto* p = static_cast<uint32_t*>(dst);
		for (size_t i = 0; i < n; i++) p[i] = value;
	});
	return ok;
}

} // namespace sim
