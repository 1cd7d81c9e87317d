// Streams, each a thread with a queue, and events between them.
#include "core.h"

#include <chrono>
#include <csignal>
#include <pthread.h>
#include <sys/mman.h>
#include <thread>
#include <unordered_map>

namespace sim {

// The loader and Go own the signals of a process; a fault of memory is the only
// one that a stream wants, on a stack of its own, for those of fibers are small.
struct ThreadSetup {
	stack_t alt = {};
	ThreadSetup() {
		sigset_t most;
		sigfillset(&most);
		for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&most, s);
		pthread_sigmask(SIG_SETMASK, &most, nullptr);
		alt.ss_size = 64 << 10;
		alt.ss_sp = mmap(nullptr, alt.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		sigaltstack(&alt, nullptr);
	}
	~ThreadSetup() {
		stack_t none = {};
		none.ss_flags = SS_DISABLE;
		sigaltstack(&none, nullptr);
		munmap(alt.ss_sp, alt.ss_size);
	}
};

void Stream::start() {
	// Signals are blocked before the thread starts, so that none reaches it.
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	std::thread([self = shared_from_this()] {
		ThreadSetup setup;
		self->loop();
	}).detach();
	pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// The default stream waits for all blocking ones and they wait for it. Tickets
// of others are read before one's own is drawn, so no two works wait for each other.
uint64_t Stream::submit(std::function<void()> run, bool essential) {
	Work w{std::move(run), essential, {}};
	if (ctx->standard.get() == this) {
		for (auto& s : ctx->allStreams())
			if (s.get() != this && s->blocking && !s->idle()) w.after.push_back({s, s->submitted});
	} else if (blocking && ctx->standard && !ctx->standard->idle()) {
		w.after.push_back({ctx->standard, ctx->standard->submitted});
	}
	std::lock_guard<std::mutex> l(mu);
	queue.push_back(std::move(w));
	cv.notify_all();
	return ++submitted;
}

void Stream::wait(uint64_t ticket) {
	std::unique_lock<std::mutex> l(mu);
	cv.wait(l, [&] { return completed >= ticket; });
}

void Stream::close() {
	std::lock_guard<std::mutex> l(mu);
	closed = true;
	cv.notify_all();
}

void Stream::loop() {
	for (;;) {
		Work w;
		{
			std::unique_lock<std::mutex> l(mu);
			cv.wait(l, [&] { return closed || !queue.empty(); });
			if (queue.empty()) return;
			w = std::move(queue.front());
			queue.pop_front();
		}
		passHold();
		for (auto& a : w.after) a.first->wait(a.second);
		if (w.essential) {
			w.run();
		} else if (!ctx->sticky) {
			std::string why;
			if (int status = guarded(w.run, &why)) ctx->fail(status, why);
		}
		w = {}; // frees what the work holds before anybody learns that it is complete
		std::lock_guard<std::mutex> l(mu);
		completed++;
		cv.notify_all();
	}
}

// Handles are addresses of objects that these tables keep; a destroyed one is
// found out instead of followed.
static std::mutex tableMu;
static auto& streamTable = *new std::unordered_map<void*, StreamRef>;
static auto& eventTable = *new std::unordered_map<void*, EventRef>;

Status findStream(Context* c, void* handle, StreamRef* s) {
	if (handle == nullptr || handle == reinterpret_cast<void*>(1)) { // CU_STREAM_LEGACY
		*s = c->standard;
		return ok;
	}
	std::lock_guard<std::mutex> l(tableMu);
	auto it = streamTable.find(handle);
	if (it == streamTable.end() || it->second->ctx != c) return invalidHandle;
	*s = it->second;
	return ok;
}

Status createStream(Context* c, bool blocking, void** handle) {
	auto s = c->makeStream(blocking);
	std::lock_guard<std::mutex> l(tableMu);
	streamTable[s.get()] = s;
	*handle = s.get();
	return ok;
}

Status destroyStream(void* handle) {
	StreamRef s;
	{
		std::lock_guard<std::mutex> l(tableMu);
		auto it = streamTable.find(handle);
		if (it == streamTable.end()) return invalidHandle;
		s = it->second;
		streamTable.erase(it);
	}
	s->close();
	return ok;
}

void dropStreams(Context* c) {
	{
		std::lock_guard<std::mutex> l(tableMu);
		for (auto it = streamTable.begin(); it != streamTable.end();)
			it = it->second->ctx == c ? streamTable.erase(it) : std::next(it);
		for (auto it = eventTable.begin(); it != eventTable.end();)
			it = it->second->ctx == c ? eventTable.erase(it) : std::next(it);
	}
	for (auto& s : c->allStreams()) s->close();
	std::lock_guard<std::mutex> l(c->mu);
	c->streams.clear();
	c->standard.reset();
}

void Recording::finish() {
	std::lock_guard<std::mutex> l(mu);
	auto t = std::chrono::steady_clock::now().time_since_epoch();
	when = std::chrono::duration<double, std::milli>(t).count();
	complete = true;
	cv.notify_all();
}

bool Recording::done() {
	std::lock_guard<std::mutex> l(mu);
	return complete;
}

void Recording::wait() {
	std::unique_lock<std::mutex> l(mu);
	cv.wait(l, [&] { return complete; });
}

RecordingRef Event::recording() {
	std::lock_guard<std::mutex> l(mu);
	return last;
}

EventRef findEvent(void* handle) {
	std::lock_guard<std::mutex> l(tableMu);
	auto it = eventTable.find(handle);
	return it == eventTable.end() ? nullptr : it->second;
}

Status createEvent(Context* c, bool timing, void** handle) {
	auto e = std::make_shared<Event>(c, timing);
	std::lock_guard<std::mutex> l(tableMu);
	eventTable[e.get()] = e;
	*handle = e.get();
	return ok;
}

Status destroyEvent(void* handle) {
	std::lock_guard<std::mutex> l(tableMu);
	return eventTable.erase(handle) ? ok : invalidHandle;
}

Status record(const EventRef& e, const StreamRef& s) {
	if (e->ctx != s->ctx) return invalidHandle;
	auto r = std::make_shared<Recording>();
	s->submit([r] { r->finish(); }, true);
	std::lock_guard<std::mutex> l(e->mu);
	e->last = r;
	return ok;
}

Status waitEvent(const StreamRef& s, const EventRef& e) {
	auto r = e->recording();
	if (r && !r->done()) s->submit([r] { r->wait(); }, true);
	return ok;
}

Status elapsed(const EventRef& a, const EventRef& b, float* ms) {
	auto from = a->recording(), to = b->recording();
	if (!a->timing || !b->timing || !from || !to) return invalidHandle;
	if (!from->done() || !to->done()) return notReady;
	*ms = float(to->when - from->when);
	return ok;
}

} // namespace sim
