// How operations of ranks find each other, wait, and move data.
#include "core.h"
#include "nccl_core.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace sim {
namespace nccl {

// Waits look up now and then: a failure of a device wakes nobody.
static const auto glance = std::chrono::milliseconds(5);

void Clique::wake() {
	std::lock_guard<std::mutex> l(mu);
	cv.notify_all();
}

bool Clique::exchange(Comm* c, uint64_t key, int64_t value, std::vector<int64_t>* all) {
	std::unique_lock<std::mutex> l(mu);
	Exchange& e = exchanges[key];
	e.values.resize(size_t(n));
	e.values[size_t(c->rank)] = value;
	e.count++;
	cv.notify_all();
	while (e.count < n && !c->aborted) cv.wait_for(l, glance);
	*all = e.values;
	return !c->aborted;
}

// post hands in an op, and takes all that can now move together.
std::vector<OpRef> Clique::post(const OpRef& op) {
	std::vector<OpRef> ready;
	if (op->kind == send || op->kind == recv) {
		auto route = op->kind == send ? std::make_pair(op->rank, op->root) : std::make_pair(op->root, op->rank);
		auto &mine = op->kind == send ? sends[route] : recvs[route], &other = op->kind == send ? recvs[route] : sends[route];
		if (other.empty()) {
			mine.push_back(op);
			return ready;
		}
		OpRef partner = other.front();
		other.pop_front();
		ready = op->kind == send ? std::vector<OpRef>{op, partner} : std::vector<OpRef>{partner, op};
	} else {
		op->sequence = op->comm->sequence++;
		auto& slots = collectives[op->sequence];
		slots.resize(size_t(n));
		slots[size_t(op->rank)] = op;
		if (std::count(slots.begin(), slots.end(), nullptr)) return ready;
		ready = slots;
		collectives.erase(op->sequence);
	}
	for (auto& o : ready) o->state = Op::moving;
	return ready;
}

void Clique::withdraw(const OpRef& op) {
	if (op->kind == send || op->kind == recv) {
		auto route = op->kind == send ? std::make_pair(op->rank, op->root) : std::make_pair(op->root, op->rank);
		auto& queue = op->kind == send ? sends[route] : recvs[route];
		queue.erase(std::remove(queue.begin(), queue.end(), op), queue.end());
	} else {
		auto it = collectives.find(op->sequence);
		if (it != collectives.end()) it->second[size_t(op->rank)] = nullptr;
	}
	op->state = Op::done;
}

static bool agree(const std::vector<OpRef>& ops) {
	const Op& a = *ops[0];
	for (auto& o : ops) {
		bool same = o->count * typeSize(o->type) == a.count * typeSize(a.type);
		if (a.kind != send) same = same && o->kind == a.kind && o->type == a.type && o->root == a.root && (o->op == a.op || a.op >= firstOwn);
		if (!same) return false;
	}
	return true;
}

void Clique::run(Comm* c, const std::vector<OpRef>& ops) {
	for (auto& op : ops) {
		std::vector<OpRef> ready;
		{
			std::lock_guard<std::mutex> l(mu);
			ready = post(op);
		}
		if (ready.empty()) continue;
		if (!agree(ready)) { // the real library hangs or worse; so does this, until it is aborted
			note("gpusim: NCCL: ranks call different collectives, or with different counts, types or roots");
			fprintf(stderr, "gpusim: NCCL: ranks call different collectives, or with different counts, types or roots: they hang\n");
			std::lock_guard<std::mutex> l(mu);
			for (auto& o : ready) o->state = Op::posted;
			continue;
		}
		std::string why;
		if (int status = guarded([&] { move(ready); }, &why)) c->ctx->fail(status, "NCCL: " + why);
		std::lock_guard<std::mutex> l(mu);
		for (auto& o : ready) o->state = Op::done;
		cv.notify_all();
	}
	std::unique_lock<std::mutex> l(mu);
	for (auto& op : ops) {
		while (op->state != Op::done && !(op->state == Op::posted && c->ended())) cv.wait_for(l, glance);
		if (op->state == Op::posted) withdraw(op);
	}
}

// move does the work of all ranks, through a copy where a buffer of one rank
// may be both input and output.
void Clique::move(const std::vector<OpRef>& ops) {
	const Op& a = *ops[0];
	size_t width = typeSize(a.type), bytes = a.count * width, ranks = ops.size(), root = size_t(a.root);
	auto at = [](void* p, size_t offset) { return static_cast<char*>(p) + offset; };
	auto from = [&](size_t r, size_t offset) { return static_cast<const char*>(ops[r]->from) + offset; };
	std::string copy;
	switch (a.kind) {
	case allReduce:
	case reduce:
		copy.resize(bytes);
		fold(ops, 0, a.count, &copy[0]);
		for (size_t r = 0; r < ranks; r++)
			if (a.kind == allReduce || r == root) memcpy(ops[r]->to, copy.data(), bytes);
		break;
	case reduceScatter:
		copy.resize(bytes * ranks);
		fold(ops, 0, a.count * ranks, &copy[0]);
		for (size_t r = 0; r < ranks; r++) memcpy(ops[r]->to, &copy[r * bytes], bytes);
		break;
	case broadcast:
		for (size_t r = 0; r < ranks; r++) memmove(ops[r]->to, from(root, 0), bytes);
		break;
	case allGather:
		for (size_t r = 0; r < ranks; r++)
			for (size_t q = 0; q < ranks; q++) memmove(at(ops[r]->to, q * bytes), from(q, 0), bytes);
		break;
	case gather:
		for (size_t q = 0; q < ranks; q++) memmove(at(ops[root]->to, q * bytes), from(q, 0), bytes);
		break;
	case scatter:
		for (size_t r = 0; r < ranks; r++) memmove(ops[r]->to, from(root, r * bytes), bytes);
		break;
	case allToAll:
		for (size_t r = 0; r < ranks; r++)
			for (size_t q = 0; q < ranks; q++) copy.append(from(q, r * bytes), bytes);
		for (size_t r = 0; r < ranks; r++) memcpy(ops[r]->to, &copy[r * ranks * bytes], ranks * bytes);
		break;
	case send:
	case recv:
		memmove(ops[1]->to, ops[0]->from, bytes);
		break;
	}
}

} // namespace nccl
} // namespace sim
