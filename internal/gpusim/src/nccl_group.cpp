// Groups of NCCL: what a thread has asked for between start and end, and how it
// gets to the streams.
#include "core.h"
#include "nccl_core.h"

#include <algorithm>
#include <csignal>
#include <pthread.h>
#include <thread>

namespace sim {
namespace nccl {

struct Asked {
	CommRef comm;
	OpRef op;
	StreamRef stream;
};

// A Group belongs to a thread, as in the real library.
struct Group {
	int depth = 0;
	int error = success;
	std::vector<Asked> ops;
	std::vector<Job> jobs;
};
static thread_local Group group;

void groupStart() { group.depth++; }
bool inGroup() { return group.depth > 0; }

// background starts a thread that takes no signals, for those are Go's.
static std::thread background(std::function<void()> f) {
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	std::thread t(std::move(f));
	pthread_sigmask(SIG_SETMASK, &before, nullptr);
	return t;
}

// runOps is the work that a stream does for one communicator.
static void runOps(const CommRef& c, const std::vector<OpRef>& ops, const RecordingRef& before, const RecordingRef& end) {
	while (before && !before->done() && !c->ended()) std::this_thread::sleep_for(std::chrono::microseconds(200));
	if (!c->ended()) c->clique->run(c.get(), ops);
	{
		std::lock_guard<std::mutex> l(c->mu);
		c->outstanding--;
		c->cv.notify_all();
	}
	end->finish();
}

// submit puts all operations of one communicator on the stream of the first. If
// there are other streams, it comes after what they have and before what they get.
static void submit(const CommRef& c, const std::vector<Asked>& all) {
	std::vector<OpRef> ops;
	std::vector<StreamRef> streams;
	for (auto& a : all) {
		ops.push_back(a.op);
		if (std::find(streams.begin(), streams.end(), a.stream) == streams.end()) streams.push_back(a.stream);
	}
	auto end = std::make_shared<Recording>();
	for (size_t i = 1; i < streams.size(); i++) {
		auto mark = std::make_shared<Recording>();
		streams[i]->submit([mark] { mark->finish(); }, true);
		streams[0]->submit([mark] { mark->wait(); }, true);
	}
	RecordingRef before;
	{
		std::lock_guard<std::mutex> l(c->mu);
		before = c->last;
		c->last = end;
		c->outstanding++;
	}
	streams[0]->submit([=] { runOps(c, ops, before, end); }, true);
	for (size_t i = 1; i < streams.size(); i++) streams[i]->submit([end] { end->wait(); }, true);
}

static int launch(const std::vector<Job>& jobs, const std::vector<Asked>& ops) {
	int result = success;
	std::vector<int> results(jobs.size());
	std::vector<std::thread> threads;
	for (size_t i = 1; i < jobs.size(); i++) threads.push_back(background([&, i] { results[i] = jobs[i].run(); }));
	if (!jobs.empty()) results[0] = jobs[0].run();
	for (auto& t : threads) t.join();
	for (size_t i = 0; i < jobs.size(); i++)
		if (results[i]) result = results[i];
	std::vector<CommRef> order;
	for (auto& a : ops)
		if (std::find(order.begin(), order.end(), a.comm) == order.end()) order.push_back(a.comm);
	for (auto& c : order) {
		std::vector<Asked> mine;
		for (auto& a : ops)
			if (a.comm == c) mine.push_back(a);
		submit(c, mine);
	}
	return result;
}

int groupEnd() {
	if (group.depth == 0) {
		setLastError("ncclGroupEnd: not in a group");
		return invalidUsage;
	}
	if (--group.depth > 0) return success;
	Group g = std::move(group);
	group = Group{};
	if (g.error) return g.error;
	std::vector<CommRef> involved;
	auto involve = [&](const CommRef& c) {
		if (std::find(involved.begin(), involved.end(), c) == involved.end()) involved.push_back(c);
	};
	for (auto& a : g.ops) involve(a.comm);
	for (auto& j : g.jobs) involve(j.comm);
	if (involved.empty()) return success;
	for (auto& c : involved)
		if (c->blocking != involved[0]->blocking) return c->fail(invalidArgument, "a group of blocking and non-blocking communicators");
	if (involved[0]->blocking) return launch(g.jobs, g.ops);

	// The caller of a non-blocking communicator polls: nothing is on the stream yet.
	for (auto& c : involved) c->begin();
	background([jobs = g.jobs, ops = g.ops, involved] {
		int result = launch(jobs, ops);
		for (auto& c : involved) c->end(result);
	}).detach();
	return inProgress;
}

// together runs add inside a group, or in one of its own.
static int together(const std::function<void()>& add) {
	groupStart();
	add();
	int r = groupEnd();
	return r;
}

int refuse(const CommRef& c, int result, const std::string& why) {
	if (inGroup()) group.error = result;
	return c->fail(result, why);
}

int enqueue(const CommRef& c, const OpRef& op, void* stream) {
	if (c->state() == inProgress) return refuse(c, invalidArgument, "the communicator is still busy with the call before: poll its state");
	if (c->revoked || c->finalized) return refuse(c, invalidUsage, "the communicator is revoked or finalized");
	if (c->ctx->sticky) return refuse(c, unhandledCuda, "the device has failed");
	StreamRef s;
	if (findStream(c->ctx, stream, &s) != ok) return refuse(c, unhandledCuda, "the stream is not one of the communicator's device");
	return together([&] { group.ops.push_back({c, op, s}); });
}

int perform(const Job& job) {
	if (job.comm->state() == inProgress) return refuse(job.comm, invalidArgument, "the communicator is still busy with the call before: poll its state");
	return together([&] { group.jobs.push_back(job); });
}

} // namespace nccl
} // namespace sim
