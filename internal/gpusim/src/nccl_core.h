// NCCL among the threads of one process. A Clique is what the ranks of a
// communicator share, a Comm is one rank's handle on it, an Op one operation of
// one rank. Nobody moves data alone: whoever brings the last missing Op of a
// collective, or the second of a message, moves the data of all its ranks.
#pragma once

#include "core.h"

#include <set>

namespace sim {
namespace nccl {

enum Result : int {
	success = 0,
	unhandledCuda = 1,
	systemError = 2,
	internalError = 3,
	invalidArgument = 4,
	invalidUsage = 5,
	remoteError = 6,
	inProgress = 7,
};

enum Kind { allReduce, reduce, broadcast, allGather, reduceScatter, allToAll, gather, scatter, send, recv };

struct Comm;
struct Clique;
using CommRef = std::shared_ptr<Comm>;
using CliqueRef = std::shared_ptr<Clique>;

// reduce.cpp
enum { sum = 0, product = 1, maximum = 2, minimum = 3, average = 4, firstOwn = 5 };
size_t typeSize(int type); // 0 if there is none
bool reducible(int type);

// A Scalar is what an operation of the user multiplies by before it sums.
struct Scalar {
	int type = -1;
	char bytes[8] = {};
	const void* device = nullptr; // read when the operation runs, if not null
};

struct Op {
	Kind kind;
	const void* from;
	void* to;
	size_t count;
	int type, op, root; // root is the peer of a message
	Comm* comm;
	int rank;
	Scalar scalar;
	enum { posted, moving, done } state = posted;
	uint64_t sequence = 0; // of a collective
};
using OpRef = std::shared_ptr<Op>;
// fold reduces the inputs of all ranks to out.
void fold(const std::vector<OpRef>& ops, size_t offset, size_t count, void* out);

// An Exchange is a value from each rank, for Init, Split and the like.
struct Exchange {
	std::vector<int64_t> values;
	int count = 0;
};

struct Clique {
	int n;
	std::mutex mu;
	std::condition_variable cv;
	std::vector<Comm*> members; // null before a rank has joined and after it has left
	std::vector<bool> taken;    // ranks that somebody has asked to be
	std::map<uint64_t, std::vector<OpRef>> collectives; // by sequence, one slot for each rank
	std::map<std::pair<int, int>, std::deque<OpRef>> sends, recvs; // by sender and receiver
	std::map<uint64_t, Exchange> exchanges;
	std::map<std::pair<uint64_t, int>, CliqueRef> children; // by exchange and colour

	explicit Clique(int size) : n(size), members(size_t(size)), taken(size_t(size)) {}
	// exchange returns the values of all ranks, or false if c is aborted first.
	bool exchange(Comm* c, uint64_t key, int64_t value, std::vector<int64_t>* all);
	void run(Comm* c, const std::vector<OpRef>& ops); // until they are complete or c has ended
	void wake();

private:
	std::vector<OpRef> post(const OpRef& op); // the ops that can move now
	void withdraw(const OpRef& op);
	void move(const std::vector<OpRef>& ops);
};

struct Comm : std::enable_shared_from_this<Comm> {
	CliqueRef clique;
	int rank = 0, n = 0;
	Context* ctx = nullptr;
	bool blocking = true;
	std::mutex mu;
	std::condition_variable cv;
	int pending = 0; // jobs in the background
	int outstanding = 0; // works in streams
	int error = success;
	std::string why;
	std::atomic<bool> aborted{false}, revoked{false};
	bool finalized = false;
	RecordingRef last;       // the work that the next one comes after
	uint64_t sequence = 0;   // of collectives, on the streams' threads
	uint64_t exchanges = 1;  // 0 is that of init
	std::map<int, Scalar> scalars;

	bool ended() const { return aborted || revoked || ctx->sticky; }
	int state(); // what GetAsyncError says
	int fail(int result, const std::string& text);
	void begin();
	void end(int result);
	void settle(); // waits for the jobs in the background
};

// A Job is done in the background, or waited for if the communicator blocks.
struct Job {
	CommRef comm;
	std::function<int()> run;
};

// comm.cpp
int makeId(char* id);
int initRank(CommRef* out, int n, const char* id, int rank, const void* config);
int split(const CommRef& parent, int color, int key, Comm** out, const void* config);
int finalize(const CommRef& c);
int destroy(const CommRef& c);
int abort(const CommRef& c);
int revoke(const CommRef& c);
int kill(const CommRef& c);
int count(); // communicators that are not destroyed
CommRef find(Comm* c); // null if there is no such communicator
void keep(const CommRef& c);
const char* lastError(const CommRef& c);
void setLastError(const std::string& text);

// register.cpp
int memAlloc(void** p, size_t size);
int memFree(void* p);
int registerMemory(const CommRef& c, void* p, size_t bytes, void** handle);
int windowRegister(const CommRef& c, void* p, size_t bytes, void** window, int flags);
int deregister(const CommRef& c, void* handle, bool window);
void forgetAll(Comm* c);

// group.cpp
void groupStart();
int groupEnd();
bool inGroup();
int enqueue(const CommRef& c, const OpRef& op, void* stream); // now, or with the group
int perform(const Job& job);                                  // now, or with the group
int refuse(const CommRef& c, int result, const std::string& why); // and the group with it

} // namespace nccl
} // namespace sim
