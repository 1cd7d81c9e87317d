// libnccl.so.2 and librccl.so.1 by name.
#include "core.h"
#include "library.h"
#include "nccl_core.h"

#include <cstring>

using namespace sim;
using namespace sim::nccl;

struct Id {
	char bytes[128];
};

#define WITH_COMM(handle) \
	CommRef c = nccl::find(handle); \
	if (!c) return invalidArgument

// start looks at the arguments of an operation and puts it on the stream.
static int start(Comm* handle, Kind kind, const void* from, void* to, size_t count, int type, int op, int root, void* stream) {
	WITH_COMM(handle);
	size_t bytes = count * typeSize(type), all = bytes * size_t(c->n);
	bool reduces = kind == allReduce || kind == nccl::reduce || kind == reduceScatter;
	if (!typeSize(type) || (reduces && !reducible(type))) return refuse(c, invalidArgument, "invalid type");
	auto own = c->scalars.find(op);
	if (reduces && (op < 0 || (op >= firstOwn && (own == c->scalars.end() || own->second.type != type)))) return refuse(c, invalidArgument, "invalid operation for this type");
	if (root < 0 || root >= c->n) return refuse(c, invalidArgument, "invalid root or peer");
	if (count == 0) return success;
	auto o = std::make_shared<Op>();
	o->kind = kind, o->from = from, o->to = to, o->count = count, o->type = type, o->op = op, o->root = root;
	o->comm = c.get(), o->rank = c->rank;
	if (op >= firstOwn) o->scalar = own->second;

	bool atRoot = root == c->rank;
	size_t in = kind == reduceScatter || kind == allToAll || kind == scatter ? all : bytes;
	size_t out = kind == allGather || kind == allToAll || kind == gather ? all : bytes;
	if (kind == recv || ((kind == broadcast || kind == scatter) && !atRoot)) in = 0;
	if (kind == send || ((kind == nccl::reduce || kind == gather) && !atRoot)) out = 0;
	StreamRef s;
	if (findStream(c->ctx, stream, &s) == ok && !present(s, "NCCL", {{from, in}, {to, out}})) return success;
	return enqueue(c, o, stream);
}

extern "C" {

int ncclGetVersion(int* v) {
	*v = 22809;
	return success;
}

int ncclGetUniqueId(Id* id) { return makeId(id->bytes); }

int ncclCommInitRankConfig(Comm** out, int n, Id id, int rank, const void* config) {
	CommRef c;
	int r = initRank(&c, n, id.bytes, rank, config);
	*out = c.get();
	if (c && (r == success || r == inProgress))
		keep(c);
	else
		*out = nullptr;
	return r;
}

int ncclCommInitRank(Comm** out, int n, Id id, int rank) { return ncclCommInitRankConfig(out, n, id, rank, nullptr); }

int ncclCommInitRankScalable(Comm** out, int n, int rank, int ids, Id* id, const void* config) {
	if (ids < 1 || ids > n) return invalidArgument;
	return ncclCommInitRankConfig(out, n, id[0], rank, config);
}

int ncclCommSplit(Comm* comm, int color, int key, Comm** out, const void* config) {
	WITH_COMM(comm);
	return split(c, color, key, out, config);
}

int ncclCommFinalize(Comm* comm) {
	WITH_COMM(comm);
	return finalize(c);
}
int ncclCommDestroy(Comm* comm) {
	if (!comm) return success;
	WITH_COMM(comm);
	return destroy(c);
}
int ncclCommAbort(Comm* comm) {
	if (!comm) return success;
	WITH_COMM(comm);
	return nccl::abort(c);
}
int ncclCommRevoke(Comm* comm, int flags) {
	WITH_COMM(comm);
	return flags ? invalidArgument : revoke(c);
}

int ncclCommGetAsyncError(Comm* comm, int* state) {
	WITH_COMM(comm);
	*state = c->state();
	return success;
}

const char* ncclGetErrorString(int r) {
	static const char* const texts[] = {"no error",
	                                    "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
	                                    "unhandled system error (run with NCCL_DEBUG=INFO for details)",
	                                    "internal error - please report this issue to the NCCL developers",
	                                    "invalid argument (run with NCCL_DEBUG=WARN for details)",
	                                    "invalid usage (run with NCCL_DEBUG=WARN for details)",
	                                    "remote process exited or there was a network error",
	                                    "NCCL operation in progress"};
	return r >= 0 && r < 8 ? texts[r] : "unknown result code";
}
const char* ncclGetLastError(Comm* comm) { return lastError(nccl::find(comm)); }

int ncclCommCount(Comm* comm, int* n) {
	WITH_COMM(comm);
	*n = c->n;
	return success;
}
int ncclCommCuDevice(Comm* comm, int* device) {
	WITH_COMM(comm);
	*device = c->ctx->device;
	return success;
}
int ncclCommUserRank(Comm* comm, int* rank) {
	WITH_COMM(comm);
	*rank = c->rank;
	return success;
}

int ncclAllReduce(const void* from, void* to, size_t n, int type, int op, Comm* c, void* s) { return start(c, allReduce, from, to, n, type, op, 0, s); }
int ncclReduce(const void* from, void* to, size_t n, int type, int op, int root, Comm* c, void* s) {
	return start(c, nccl::reduce, from, to, n, type, op, root, s);
}
int ncclBroadcast(const void* from, void* to, size_t n, int type, int root, Comm* c, void* s) {
	return start(c, broadcast, from, to, n, type, 0, root, s);
}
int ncclBcast(void* p, size_t n, int type, int root, Comm* c, void* s) { return start(c, broadcast, p, p, n, type, 0, root, s); }
int ncclAllGather(const void* from, void* to, size_t n, int type, Comm* c, void* s) { return start(c, allGather, from, to, n, type, 0, 0, s); }
int ncclReduceScatter(const void* from, void* to, size_t n, int type, int op, Comm* c, void* s) {
	return start(c, reduceScatter, from, to, n, type, op, 0, s);
}
int ncclAlltoAll(const void* from, void* to, size_t n, int type, Comm* c, void* s) { return start(c, allToAll, from, to, n, type, 0, 0, s); }
int ncclAllToAll(const void* from, void* to, size_t n, int type, Comm* c, void* s) { return ncclAlltoAll(from, to, n, type, c, s); }
int ncclGather(const void* from, void* to, size_t n, int type, int root, Comm* c, void* s) {
	return start(c, gather, from, to, n, type, 0, root, s);
}
int ncclScatter(const void* from, void* to, size_t n, int type, int root, Comm* c, void* s) {
	return start(c, scatter, from, to, n, type, 0, root, s);
}
int ncclSend(const void* from, size_t n, int type, int peer, Comm* c, void* s) { return start(c, send, from, nullptr, n, type, 0, peer, s); }
int ncclRecv(void* to, size_t n, int type, int peer, Comm* c, void* s) { return start(c, recv, nullptr, to, n, type, 0, peer, s); }

int ncclGroupStart() {
	groupStart();
	return success;
}
int ncclGroupEnd() { return groupEnd(); }

int ncclRedOpCreatePreMulSum(int* op, void* scalar, int type, int residence, Comm* comm) {
	WITH_COMM(comm);
	if (!reducible(type) || (residence != 0 && residence != 1)) return c->fail(invalidArgument, "invalid type or residence of a scalar");
	Scalar s;
	s.type = type;
	if (residence == 1)
		memcpy(s.bytes, scalar, typeSize(type));
	else
		s.device = scalar;
	int next = firstOwn;
	while (c->scalars.count(next)) next++;
	c->scalars[next] = s;
	*op = next;
	return success;
}
int ncclRedOpDestroy(int op, Comm* comm) {
	WITH_COMM(comm);
	return c->scalars.erase(op) ? success : invalidArgument;
}

int ncclMemAlloc(void** p, size_t size) { return memAlloc(p, size); }
int ncclMemFree(void* p) { return memFree(p); }

int ncclCommRegister(Comm* comm, void* p, size_t size, void** handle) {
	WITH_COMM(comm);
	return registerMemory(c, p, size, handle);
}
int ncclCommDeregister(Comm* comm, void* handle) {
	WITH_COMM(comm);
	return deregister(c, handle, false);
}
int ncclCommWindowRegister(Comm* comm, void* p, size_t size, void** window, int flags) {
	WITH_COMM(comm);
	return windowRegister(c, p, size, window, flags);
}
int ncclCommWindowDeregister(Comm* comm, void* window) {
	WITH_COMM(comm);
	return deregister(c, window, true);
}

// gpusim_nccl_kill makes the other ranks see this one as gone.
int gpusim_nccl_kill(Comm* comm) {
	WITH_COMM(comm);
	return kill(c);
}

// gpusim_nccl_count returns how many communicators of this process are not
// destroyed.
int gpusim_nccl_count() { return count(); }

} // extern "C"
