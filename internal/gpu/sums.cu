// Sums and extremes of vectors, in one launch. The order of additions depends only on
// the length. Threads add in double. A block joins the sums of its threads in a tree.
// The last block to end joins the sums of blocks. It writes the result to host memory
// and then the number of the sum. A sum without a number stays in GPU memory.

struct SumArgs {
	u64 x, y;
	i64 n;
	u64 partial; // sums of blocks
	u64 ended;   // number of blocks that have ended
	u64 result, number;
	double p, scale;
	Scalar a;
	int kind, conjugate;
};

// Two is a partial result: a complex sum, a real sum, or two extremes.
struct Two {
	double a, b;
};
struct Result {
	double a, b;
	u64 number;
};

struct Add {
	__device__ __forceinline__ static Two none() { return {0, 0}; }
	__device__ __forceinline__ static Two join(Two x, Two y) { return {x.a + y.a, x.b + y.b}; }
};
// NaN wins.
__device__ __forceinline__ double larger(double a, double b) { return a >= b || a != a ? a : b; }
__device__ __forceinline__ double smaller(double a, double b) { return a <= b || a != a ? a : b; }
#define INFINITE __longlong_as_double(0x7ff0000000000000ll)
struct Extremes { // smallest and largest
	__device__ __forceinline__ static Two none() { return {INFINITE, -INFINITE}; }
	__device__ __forceinline__ static Two join(Two x, Two y) { return {smaller(x.a, y.a), larger(x.b, y.b)}; }
};

constexpr int sumThreads = 256;

// ofBlock joins the values of all threads of a block. Thread 0 gets the result.
template <class J> __device__ __forceinline__ Two ofBlock(Two v) {
	__shared__ Two sums[sumThreads / group];
#pragma unroll
	for (int by = group / 2; by > 0; by /= 2) v = J::join(v, Two{golops_down(v.a, by), golops_down(v.b, by)});
	__syncthreads(); // the block may have been here before
	if (threadIdx.x % group == 0) sums[threadIdx.x / group] = v;
	__syncthreads();
	if (threadIdx.x == 0)
		for (int i = 1; i < sumThreads / group; i++) v = J::join(v, sums[i]);
	return v;
}

__device__ __forceinline__ void report(u64 result, u64 number, Two v) {
	volatile Result* r = as<volatile Result>(result);
	r->a = v.a;
	r->b = v.b;
	if (number == 0) return; // the host does not wait for this sum
	__threadfence_system();
	r->number = number;
}

// joined joins the values of all threads. The addresses are passed in registers.
template <class J> __device__ __noinline__ void joined(u64 partials, u64 ended, u64 result, u64 number, Two v) {
	__shared__ bool last;
	v = ofBlock<J>(v);
	if (gridDim.x == 1) {
		if (threadIdx.x == 0) report(result, number, v);
		return;
	}
	volatile Two* partial = as<volatile Two>(partials);
	if (threadIdx.x == 0) {
		partial[blockIdx.x].a = v.a;
		partial[blockIdx.x].b = v.b;
		__threadfence();
		last = atomicAdd(as<unsigned>(ended), 1u) == gridDim.x - 1;
	}
	__syncthreads();
	if (!last) return;
	__threadfence();
	v = J::none();
	for (unsigned i = threadIdx.x; i < gridDim.x; i += sumThreads) v = J::join(v, Two{partial[i].a, partial[i].b});
	v = ofBlock<J>(v);
	if (threadIdx.x == 0) {
		*as<volatile unsigned>(ended) = 0;
		report(result, number, v);
	}
}
template <class J> __device__ __forceinline__ void finish(const SumArgs& p, Two v) {
	joined<J>(p.partial, p.ended, p.result, p.number, v);
}

// packsOf adds the packs of one vector x, or of x and y. f.add(x, y) adds an element.
// A thread loads `unrolled` packs before it adds them.
template <bool two, int unrolled, bool fits, class F> __device__ __forceinline__ void packsOf(const SumArgs& p, F& f) {
	const T *x = as<T>(p.x), *y = two ? as<T>(p.y) : x;
	i64 packs = p.n / packed, i = threadIndex(), all = threadCount();
	for (; unrolled > 1 && i + (unrolled - 1) * all < packs; i += unrolled * all) {
		Pack a[unrolled], b[unrolled];
#pragma unroll
		for (int u = 0; u < unrolled; u++) {
			a[u] = load(x + (i + u * all) * packed, fits);
			if (two) b[u] = load(y + (i + u * all) * packed, fits);
		}
#pragma unroll
		for (int u = 0; u < unrolled; u++)
#pragma unroll
			for (int j = 0; j < packed; j++) f.add(a[u].v[j], two ? b[u].v[j] : a[u].v[j]);
	}
#pragma unroll 1
	for (; i < packs; i += all) {
		Pack a = load(x + i * packed, fits), b = two ? load(y + i * packed, fits) : a;
#pragma unroll
		for (int j = 0; j < packed; j++) f.add(a.v[j], b.v[j]);
	}
}
template <bool two, int unrolled, class F> __device__ __forceinline__ void over(const SumArgs& p, F& f) {
	if (aligned(p.x) && (!two || aligned(p.y))) packsOf<two, unrolled, true>(p, f);
	else packsOf<two, 1, false>(p, f);
	i64 rest = p.n / packed * packed + threadIndex();
	if (rest < p.n) f.add(as<T>(p.x)[rest], as<T>(two ? p.y : p.x)[rest]);
}

struct Dot {
	Acc s;
	bool conjugate;
	__device__ __forceinline__ void add(T x, T y) { s = mac(conjugate ? conj(wide(x)) : wide(x), wide(y), s); }
};
KERNEL_SYNC(dot, SumArgs) {
	Dot f{to<Acc>(0.), p.conjugate != 0};
	if (p.x == p.y) over<false, 4>(p, f);
	else over<true, 4>(p, f);
	finish<Add>(p, {re(f.s), im(f.s)});
}

struct Sum {
	Acc s;
	__device__ __forceinline__ void add(T x, T) { s = s + wide(x); }
};
KERNEL_SYNC(sum, SumArgs) {
	Sum f{to<Acc>(0.)};
	over<false, 4>(p, f);
	finish<Add>(p, {re(f.s), im(f.s)});
}

// The kinds of norms have the numbers of device.NormKind.
enum { sumPowers, sumSquares, sumSizes, sumRoots, countNonzero, largest, smallest };

template <int kind> struct Norm {
	Two s;
	double p, c;
	__device__ __forceinline__ void add(T x, T) {
		if (kind == sumSquares) {
			double u = c * re(x), v = c * im(x);
			s.a = isComplex ? fma(u, u, fma(v, v, s.a)) : fma(u, u, s.a);
			return;
		}
		double r = modulus(x);
		if (kind == sumSizes) s.a = fma(c, r, s.a);
		if (kind == sumRoots) s.a += sqrt(c * r);
		if (kind == countNonzero) s.a += r == 0 || r != r ? r : 1;
		if (kind == sumPowers) s.a += power(c * r, p);
		if (kind == largest) s.b = larger(s.b, r);
		if (kind == smallest) s.a = smaller(s.a, r);
	}
};
template <int kind> __device__ __forceinline__ void normOf(const SumArgs& p) {
	constexpr bool extreme = kind == largest || kind == smallest;
	Norm<kind> f{extreme ? Extremes::none() : Add::none(), p.p, p.scale};
	over<false, kind == sumSquares ? 4 : 1>(p, f);
	if (extreme) finish<Extremes>(p, f.s);
	else finish<Add>(p, f.s);
}
KERNEL_SYNC(normSum, SumArgs) {
	switch (p.kind) {
	case sumSquares: return normOf<sumSquares>(p);
	case sumSizes: return normOf<sumSizes>(p);
	case sumRoots: return normOf<sumRoots>(p);
	case countNonzero: return normOf<countNonzero>(p);
	case largest: return normOf<largest>(p);
	case smallest: return normOf<smallest>(p);
	}
	normOf<sumPowers>(p);
}

struct MinMax {
	Two s;
	__device__ __forceinline__ void add(T x, T) { s = Extremes::join(s, {double(re(x)), double(re(x))}); }
};
KERNEL_SYNC(minMax, SumArgs) {
	MinMax f{Extremes::none()};
	over<false, 1>(p, f);
	finish<Extremes>(p, f.s);
}

// axpyNorm sets y += a·x and sums |y|².
struct AxpyNorm {
	double s;
	T a;
	__device__ __forceinline__ T add(T x, T y) {
		T v = im(a) == 0 ? mac(re(a), x, y) : mac(a, x, y);
		double u = re(v), w = im(v);
		s = isComplex ? fma(u, u, fma(w, w, s)) : fma(u, u, s);
		return v;
	}
};
template <bool fits> __device__ __forceinline__ void axpyPacks(const SumArgs& p, AxpyNorm& f) {
	const T* x = as<T>(p.x);
	T* y = as<T>(p.y);
	i64 packs = p.n / packed;
	for (i64 i = threadIndex(); i < packs; i += threadCount()) {
		Pack a = load(x + i * packed, fits), b = load(y + i * packed, fits);
#pragma unroll
		for (int j = 0; j < packed; j++) {
			b.v[j] = f.add(a.v[j], b.v[j]);
			if (!fits) y[i * packed + j] = b.v[j];
		}
		if (fits) *reinterpret_cast<Pack*>(y + i * packed) = b;
	}
}
KERNEL_SYNC(axpyNorm, SumArgs) {
	AxpyNorm f{0, scalar(p.a)};
	if (aligned(p.x) && aligned(p.y)) axpyPacks<true>(p, f);
	else axpyPacks<false>(p, f);
	i64 rest = p.n / packed * packed + threadIndex();
	T* y = as<T>(p.y);
	if (rest < p.n) y[rest] = f.add(as<T>(p.x)[rest], y[rest]);
	finish<Add>(p, {f.s, 0});
}
