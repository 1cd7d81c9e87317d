// Reductions of NCCL by element type, in the order of the ranks.
#include "core.h"
#include "nccl_core.h"

#include <cstring>

namespace sim {
namespace nccl {

struct Half {
	uint16_t bits;
};
struct Bfloat {
	uint16_t bits;
};

static float widen(Bfloat b) {
	uint32_t u = uint32_t(b.bits) << 16;
	float f;
	memcpy(&f, &u, 4);
	return f;
}

static float widen(Half h) {
	uint32_t sign = uint32_t(h.bits & 0x8000) << 16, exp = h.bits >> 10 & 31, man = h.bits & 1023, u;
	if (exp == 31) {
		u = sign | 0x7f800000 | man << 13;
	} else if (exp) {
		u = sign | (exp + 112) << 23 | man << 13;
	} else {
		float f = float(man) / 16777216.0f;
		return sign ? -f : f;
	}
	float f;
	memcpy(&f, &u, 4);
	return f;
}

template <class T> T widen(T x) { return x; }

static void narrow(float f, Bfloat* b) {
	uint32_t u;
	memcpy(&u, &f, 4);
	if (f != f)
		b->bits = uint16_t(u >> 16 | 64);
	else
		b->bits = uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16); // to the nearest even
}

static void narrow(float f, Half* h) {
	uint32_t u;
	memcpy(&u, &f, 4);
	uint32_t sign = u >> 16 & 0x8000, rest = u & 0x7fffffff;
	if (rest > 0x7f800000) {
		h->bits = uint16_t(sign | 0x7e00);
	} else if (rest >= 0x477ff000) { // beyond 65504 and a half step
		h->bits = uint16_t(sign | 0x7c00);
	} else if (rest < 0x38800000) { // subnormal: a multiple of 2^-24
		float a = (f < 0 ? -f : f) * 16777216.0f;
		auto n = uint32_t(a);
		float part = a - float(n);
		n += part > 0.5f || (part == 0.5f && (n & 1));
		h->bits = uint16_t(sign | n);
	} else {
		rest -= 112u << 23;
		h->bits = uint16_t(sign | (rest + 0xfff + (rest >> 13 & 1)) >> 13);
	}
}

template <class T> void narrow(T x, T* y) { *y = x; }

template <class T> static T scalarOf(const Op& op) {
	T s;
	memcpy(&s, op.scalar.device ? op.scalar.device : op.scalar.bytes, sizeof s);
	return s;
}

template <class T> static void foldAs(const std::vector<OpRef>& ops, size_t offset, size_t count, void* out) {
	using A = decltype(widen(T{}));
	int how = ops[0]->op;
	std::vector<A> scale;
	for (auto& o : ops) scale.push_back(how >= firstOwn ? A(widen(scalarOf<T>(*o))) : A(1));
	for (size_t i = 0; i < count; i++) {
		A acc{};
		for (size_t r = 0; r < ops.size(); r++) {
			A x = widen(static_cast<const T*>(ops[r]->from)[offset + i]);
			if (how >= firstOwn) x = A(x * scale[r]);
			if (r == 0)
				acc = x;
			else if (how == product)
				acc = A(acc * x);
			else if (how == maximum)
				acc = x > acc ? x : acc;
			else if (how == minimum)
				acc = x < acc ? x : acc;
			else
				acc = A(acc + x);
		}
		if (how == average) acc = A(acc / A(ops.size()));
		narrow(acc, static_cast<T*>(out) + i);
	}
}

size_t typeSize(int type) {
	static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
	return type >= 0 && type < 12 ? sizes[type] : 0;
}

bool reducible(int type) { return type >= 0 && type < 10; } // 8-bit floats are only moved here

void fold(const std::vector<OpRef>& ops, size_t offset, size_t count, void* out) {
	switch (ops[0]->type) {
	case 0: return foldAs<int8_t>(ops, offset, count, out);
	case 1: return foldAs<uint8_t>(ops, offset, count, out);
	case 2: return foldAs<int32_t>(ops, offset, count, out);
	case 3: return foldAs<uint32_t>(ops, offset, count, out);
	case 4: return foldAs<int64_t>(ops, offset, count, out);
	case 5: return foldAs<uint64_t>(ops, offset, count, out);
	case 6: return foldAs<Half>(ops, offset, count, out);
	case 7: return foldAs<float>(ops, offset, count, out);
	case 8: return foldAs<double>(ops, offset, count, out);
	case 9: return foldAs<Bfloat>(ops, offset, count, out);
	}
}

} // namespace nccl
} // namespace sim
