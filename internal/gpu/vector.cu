// Kernels that work element by element.

// VectorArgs are the arguments of all: dst = f(x, y) of n elements.
struct VectorArgs {
	u64 dst, x, y;
	i64 n;
	Scalar a, b;
	int mode, conjugate;
};

// each calls f.one(i) for single elements, and f.pack(i) for packs that are aligned
// in all arrays. alike says that the arrays have the same alignment.
template <class F> __device__ __forceinline__ void each(i64 n, u64 address, bool alike, F f) {
	i64 me = threadIndex(), all = threadCount();
	if (!alike) {
		for (i64 i = me; i < n; i += all) f.one(i);
		return;
	}
	i64 head = min(n, i64((16 - (address & 15)) & 15) / i64(sizeof(T)));
	i64 packs = (n - head) / packed;
	if (me < head) f.one(me);
	for (i64 i = me; i < packs; i += all) f.pack(head + i * packed);
	i64 tail = head + packs * packed;
	if (me < n - tail) f.one(tail + me);
}

__device__ __forceinline__ bool alike(u64 a, u64 b) { return ((a ^ b) & 15) == 0; }

// Unary and Binary are f for one and two sources. dst may be a source.
template <class Op> struct Unary {
	T* dst;
	const T* x;
	Op op;
	__device__ __forceinline__ void one(i64 i) { dst[i] = op(x[i]); }
	__device__ __forceinline__ void pack(i64 i) {
		Pack a = *reinterpret_cast<const Pack*>(x + i), r;
#pragma unroll
		for (int j = 0; j < packed; j++) r.v[j] = op(a.v[j]);
		*reinterpret_cast<Pack*>(dst + i) = r;
	}
};
template <class Op> struct Binary {
	T* dst;
	const T *x, *y;
	Op op;
	__device__ __forceinline__ void one(i64 i) { dst[i] = op(x[i], y[i]); }
	__device__ __forceinline__ void pack(i64 i) {
		Pack a = *reinterpret_cast<const Pack*>(x + i), b = *reinterpret_cast<const Pack*>(y + i), r;
#pragma unroll
		for (int j = 0; j < packed; j++) r.v[j] = op(a.v[j], b.v[j]);
		*reinterpret_cast<Pack*>(dst + i) = r;
	}
};
template <class Op> __device__ __forceinline__ void unary(const VectorArgs& p, Op op) {
	each(p.n, p.dst, alike(p.dst, p.x), Unary<Op>{as<T>(p.dst), as<T>(p.x), op});
}
template <class Op> __device__ __forceinline__ void binary(const VectorArgs& p, Op op) {
	each(p.n, p.dst, alike(p.dst, p.x) && alike(p.dst, p.y), Binary<Op>{as<T>(p.dst), as<T>(p.x), as<T>(p.y), op});
}

struct Filler {
	T* dst;
	T v;
	__device__ __forceinline__ void one(i64 i) { dst[i] = v; }
	__device__ __forceinline__ void pack(i64 i) {
		Pack r;
#pragma unroll
		for (int j = 0; j < packed; j++) r.v[j] = v;
		*reinterpret_cast<Pack*>(dst + i) = r;
	}
};
KERNEL(fill, VectorArgs) { each(p.n, p.dst, true, Filler{as<T>(p.dst), scalar(p.a)}); }

// Modes of combine. With real factors, real and imaginary parts do not mix.
enum { scaleReal, scaleComplex, combineReal, combineComplex };

struct ScaleReal {
	R a;
	__device__ __forceinline__ T operator()(T x) const { return a * x; }
};
struct Scale {
	T a;
	__device__ __forceinline__ T operator()(T x) const { return a * x; }
};
struct CombineReal {
	R a, b;
	__device__ __forceinline__ T operator()(T x, T y) const { return mac(a, x, b * y); }
};
struct Combine {
	T a, b;
	__device__ __forceinline__ T operator()(T x, T y) const { return mac(a, x, b * y); }
};
KERNEL(combine, VectorArgs) {
	switch (p.mode) {
	case scaleReal: return unary(p, ScaleReal{R(p.a.re)});
	case combineReal: return binary(p, CombineReal{R(p.a.re), R(p.b.re)});
#if GOLOPS_T >= 2
	case scaleComplex: return unary(p, Scale{scalar(p.a)});
	case combineComplex: return binary(p, Combine{scalar(p.a), scalar(p.b)});
#endif
	}
}

struct Mul {
	bool conjugate;
	__device__ __forceinline__ T operator()(T x, T y) const { return (conjugate ? conj(x) : x) * y; }
};
KERNEL(mul, VectorArgs) { binary(p, Mul{p.conjugate != 0}); }

struct Conj {
	__device__ __forceinline__ T operator()(T x) const { return conj(x); }
};
KERNEL(conjugate, VectorArgs) { unary(p, Conj{}); }

// WidenArgs are for dst = src, from 32 to 64 bits.
struct WidenArgs {
	u64 dst, src;
	i64 n;
};
KERNEL(widen, WidenArgs) {
	double* dst = as<double>(p.dst);
	const float* src = as<float>(p.src);
	for (i64 i = threadIndex(); i < p.n; i += threadCount()) dst[i] = src[i];
}

// MulAxisArgs are for dst[o,i,j] = d[i]·x[o,i,j].
struct MulAxisArgs {
	u64 dst, d, x;
	i64 n, axis, inner;
	int conjugate, pad;
};

// I is the type of indices. 32-bit divisions are faster, where 32 bits suffice.
template <class I> __device__ __forceinline__ void mulAxisOf(const MulAxisArgs& p) {
	T* dst = as<T>(p.dst);
	const T *d = as<T>(p.d), *x = as<T>(p.x);
	const I axis = I(p.axis), inner = I(p.inner);
	bool fits = aligned(p.dst) && aligned(p.x);
	i64 packs = (p.n + packed - 1) / packed;
	for (i64 k = threadIndex(); k < packs; k += threadCount()) {
		i64 at = k * packed;
		I row = I(at) / inner, left = inner - (I(at) - row * inner), i = row % axis;
		int many = int(min(i64(packed), p.n - at));
		Pack a;
		if (fits && many == packed) a = load(x + at, true);
#pragma unroll
		for (int j = 0; j < packed; j++) {
			if (j < many && !(fits && many == packed)) a.v[j] = x[at + j];
			if (left == 0) {
				left = inner;
				i = i + 1 == axis ? 0 : i + 1;
			}
			left--;
			if (j < many) {
				a.v[j] = (p.conjugate ? conj(d[i]) : d[i]) * a.v[j];
				if (!(fits && many == packed)) dst[at + j] = a.v[j];
			}
		}
		if (fits && many == packed) *reinterpret_cast<Pack*>(dst + at) = a;
	}
}
KERNEL(mulAxis, MulAxisArgs) {
	if (p.n < (i64(1) << 32)) mulAxisOf<unsigned>(p);
	else mulAxisOf<u64>(p);
}

// ThresholdArgs: elements up to the size border become 0.
struct ThresholdArgs {
	u64 dst, x, unused;
	i64 n;
	double t, border;
	int kind, pad;
};
enum { softly, hardly, halfway };

__device__ __noinline__ double halfFactor(double r, double t) {
	double q = r / 3, phi = acos(t / 8 / (q * sqrt(q)));
	return 2. / 3 * (1 + cos(2. / 3 * (3.14159265358979323846 - phi)));
}

// NaN is neither beyond the border nor within it, and stays NaN.
struct Threshold {
	double t, border;
	int kind;
	__device__ __forceinline__ T operator()(T x) const {
		if (kind == softly && !isComplex) {
			R v = re(x), s = R(t);
			return to<T>(v > s ? v - s : v < -s ? v + s : v == v ? R(0) : v);
		}
		if (kind == hardly && !isComplex) {
			R v = re(x), s = R(border);
			return to<T>(v >= -s && v <= s ? R(0) : v);
		}
		double r = modulus(x);
		if (r <= border) return zero();
		if (kind == hardly) return x;
		double f = kind == halfway ? halfFactor(r, t) : r > 1.79e308 ? 1 : (r - t) / r;
		return to<T>(Complex<double>{f * re(x), f * im(x)});
	}
};
KERNEL(threshold, ThresholdArgs) {
	each(p.n, p.dst, alike(p.dst, p.x), Unary<Threshold>{as<T>(p.dst), as<T>(p.x), Threshold{p.t, p.border, p.kind}});
}
