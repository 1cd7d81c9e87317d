// How a grid runs: blocks one after the other, and the threads of a block that
// cooperate as fibers, which take turns on the thread of the stream.
#include "core.h"
#include "runtime.h"

#include <cstring>
#include <sys/mman.h>
#include <ucontext.h>

namespace sim {

#if defined(__x86_64__) && !defined(GPUSIM_UCONTEXT)
// The switch of ucontext, for other processors, asks the kernel each time.
// gpusim_switch saves what C preserves on the stack in use, leaves that stack in
// *from and goes on with another.
extern "C" void gpusim_switch(void** from, void* to);
asm(R"(
	.text
	.type gpusim_switch,@function
gpusim_switch:
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	ret
	.size gpusim_switch,.-gpusim_switch
)");

struct Place {
	void* sp = nullptr;
	void prepare(char* stack, size_t size, void (*entry)()) {
		auto** top = reinterpret_cast<void**>(stack + size) - 8; // six registers, the entry, and no caller
		memset(top, 0, 8 * sizeof *top);
		top[6] = reinterpret_cast<void*>(entry);
		sp = top;
	}
	void to(Place& other) { gpusim_switch(&sp, other.sp); }
};
#else
struct Place {
	ucontext_t c;
	void prepare(char* stack, size_t size, void (*entry)()) {
		getcontext(&c);
		c.uc_stack.ss_sp = stack;
		c.uc_stack.ss_size = size;
		c.uc_link = nullptr;
		makecontext(&c, entry, 0);
	}
	void to(Place& other) { swapcontext(&c, &other.c); }
};
#endif

enum State { runnable, atBarrier, atMeeting, finished };

struct Fiber {
	Place place;
	State state;
	int line;
	gpusim_meeting kind;
	unsigned long long mask, value, result;
	int source;
};

// Stacks are kept by the thread of a stream. Each has a guard below it.
struct Stacks {
	static const size_t size = 64 << 10, guard = 4 << 10;
	std::vector<char*> all;
	char* get(size_t i) {
		while (all.size() <= i) {
			void* m = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			if (m == MAP_FAILED) failKernel(outOfMemory, "no memory for the stacks of a block's threads");
			mprotect(m, guard, PROT_NONE);
			all.push_back(static_cast<char*>(m));
		}
		return all[i] + guard;
	}
	~Stacks() {
		for (char* s : all) munmap(s, size);
	}
};

// Dynamic shared memory ends at a guard.
struct SharedMemory {
	static const size_t size = 256 << 10, guard = 64 << 10;
	char* base = nullptr;
	void* get(size_t n) {
		if (!base) {
			void* m = mmap(nullptr, size + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (m == MAP_FAILED) failKernel(outOfMemory, "no memory for the shared memory of a block");
			base = static_cast<char*>(m);
			mprotect(base + size, guard, PROT_NONE);
		}
		char* p = base + size - (n + 15) / 16 * 16;
		memset(p, 0xff, size_t(base + size - p));
		return p;
	}
	~SharedMemory() {
		if (base) munmap(base, size + guard);
	}
};

static thread_local Stacks stacks;
static thread_local SharedMemory sharedMemory;

// A Team is the block that a thread is running.
struct Team {
	const Function* kernel;
	int warp;
	std::vector<Fiber> fibers;
	Place scheduler;
	size_t now; // the fiber that runs
	bool cooperative = false;
	void (*body)(const void*);
	const void* args;
	unsigned turn = 0;

	[[noreturn]] void fail(const std::string& why) { failKernel(launchFailed, "kernel " + kernel->name + ": " + why); }
	void pause(State s, int line);
	bool runAll(const gpusim_block* b, uint3* index);
	bool meetings();
	bool barrier();
	[[noreturn]] void stuck();
};
static thread_local Team* team = nullptr;

static void fiberMain() {
	team->body(team->args);
	team->pause(finished, 0);
}

void Team::pause(State s, int line) {
	Fiber& f = fibers[now];
	f.state = s;
	f.line = line;
	f.place.to(scheduler);
}

// runAll lets each fiber run until it waits. The order differs from turn to
// turn, so that a missing barrier is found.
bool Team::runAll(const gpusim_block* b, uint3* index) {
	size_t n = fibers.size(), start = (turn++ * 389u + b->index.x * 53u) % n;
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		now = (start + i * 1031) % n; // a prime beyond 1024 visits all of them
		if (fibers[now].state != runnable) continue;
		any = true;
		unsigned t = unsigned(now);
		*index = uint3{t % b->size.x, t / b->size.x % b->size.y, t / b->size.x / b->size.y};
		scheduler.to(fibers[now].place);
	}
	return any;
}

// meetings ends those operations of warps whose lanes have all come. Lanes that
// have finished, or that a small block lacks, do not count.
bool Team::meetings() {
	bool any = false;
	for (size_t first = 0; first < fibers.size(); first += size_t(warp)) {
		size_t lanes = std::min(size_t(warp), fibers.size() - first);
		Fiber* w = &fibers[first];
		for (size_t i = 0; i < lanes; i++) {
			if (w[i].state != atMeeting) continue;
			bool complete = true;
			unsigned long long votes = 0;
			for (size_t j = 0; j < lanes && complete; j++) {
				if (!(w[i].mask >> j & 1) || w[j].state == finished) continue;
				complete = w[j].state == atMeeting && w[j].mask == w[i].mask && w[j].line == w[i].line && w[j].kind == w[i].kind;
				votes |= (unsigned long long)(w[j].value != 0) << j;
			}
			if (!complete) continue;
			unsigned long long mask = w[i].mask;
			for (size_t j = 0; j < lanes; j++) {
				if (!(mask >> j & 1) || w[j].state == finished) continue;
				size_t from = size_t(w[j].source);
				bool there = from < lanes && (mask >> from & 1) && w[from].state != finished;
				w[j].result = w[j].kind == gpusim_ballot ? votes : there ? w[from].value : ~0ull;
			}
			for (size_t j = 0; j < lanes; j++)
				if ((mask >> j & 1) && w[j].state == atMeeting) w[j].state = runnable;
			any = true;
		}
	}
	return any;
}

// barrier ends a __syncthreads that all threads that have not finished are at.
bool Team::barrier() {
	int line = 0;
	for (auto& f : fibers) {
		if (f.state == finished) continue;
		if (f.state != atBarrier || (line && f.line != line)) stuck();
		line = f.line;
	}
	if (!line) return false;
	for (auto& f : fibers)
		if (f.state == atBarrier) f.state = runnable;
	return true;
}

// stuck says where threads are that wait for each other.
void Team::stuck() {
	std::string where;
	for (size_t i = 0, told = 0; i < fibers.size() && told < 4; i++) {
		bool same = i > 0 && fibers[i].state == fibers[i - 1].state && fibers[i].line == fibers[i - 1].line;
		if (same) continue;
		const char* at = fibers[i].state == atBarrier ? " is at the barrier of line " : " is at the warp operation of line ";
		where += (told++ ? ", thread " : ": thread ") + std::to_string(i) +
		         (fibers[i].state == finished ? std::string(" has ended") : at + std::to_string(fibers[i].line));
	}
	fail("not all threads reach the same barrier" + where);
}

static Team* cooperating(const char* what, int line) {
	if (!team->cooperative)
		team->fail(std::string(what) + " at line " + std::to_string(line) + " in a kernel that is not a KERNEL_SYNC");
	return team;
}

static void runFibers(const gpusim_block* b, uint3* index, void (*body)(const void*), const void* args) {
	Team& t = *team;
	t.cooperative = true;
	t.body = body;
	t.args = args;
	t.fibers.resize(size_t(b->size.x) * b->size.y * b->size.z);
	for (size_t i = 0; i < t.fibers.size(); i++) {
		t.fibers[i].state = runnable;
		t.fibers[i].place.prepare(stacks.get(i), Stacks::size - Stacks::guard, fiberMain);
	}
	do
		while (t.runAll(b, index) || t.meetings()) {}
	while (t.barrier());
}

static void syncThreads(int line) { cooperating("__syncthreads", line)->pause(atBarrier, line); }

static unsigned long long meet(int line, gpusim_meeting kind, unsigned long long mask, unsigned long long value, int source) {
	Team* t = cooperating("a warp operation", line);
	Fiber& f = t->fibers[t->now];
	if (!(mask >> (t->now % size_t(t->warp)) & 1)) t->fail("a lane that its own mask leaves out, line " + std::to_string(line));
	f.kind = kind;
	f.mask = mask;
	f.value = value;
	f.source = source;
	t->pause(atMeeting, line);
	return f.result;
}

static unsigned lane() {
	Team* t = cooperating("a warp operation", 0);
	return unsigned(t->now % size_t(t->warp));
}

static void trap(int line) { team->fail("trap at line " + std::to_string(line)); }

const gpusim_runtime* runtime() {
	static const gpusim_runtime rt = {runFibers, syncThreads, meet, lane, trap};
	return &rt;
}

// runGrid runs the blocks in an order that nobody should rely on.
void runGrid(const Function* f, const void* args, const Grid& g) {
	static thread_local Team t; // kept by the thread, for a failure jumps over this frame
	t.kernel = f;
	t.warp = g.warp;
	t.cooperative = false;
	team = &t;
	gpusim_block b;
	b.size = dim3(g.block.x, g.block.y, g.block.z);
	b.grid = dim3(g.grid.x, g.grid.y, g.grid.z);
	uint64_t n = uint64_t(g.grid.x) * g.grid.y * g.grid.z;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t k = i % 2 ? n - 1 - i / 2 : i / 2; // from both ends
		b.index = uint3{unsigned(k % g.grid.x), unsigned(k / g.grid.x % g.grid.y), unsigned(k / g.grid.x / g.grid.y)};
		b.shared = sharedMemory.get(g.dynamic);
		f->entry(args, &b);
	}
}

} // namespace sim
