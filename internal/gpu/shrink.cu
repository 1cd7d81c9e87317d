// Maps of vectors by their length, and sums over them. The kinds have the numbers of
// device.ShrinkKind.

constexpr int maxTuple = 8;

struct ShrinkArgs {
	u64 dst[maxTuple], x[maxTuple];
	i64 n;
	double t, u;
	int parts, kind;
};
enum { softly, keep, clip, huber, logarithm, box, above, inverse, powered, least };

// lengthOf is the length of vector i, or its real part for above.
__device__ __forceinline__ double lengthOf(const u64* x, int parts, int kind, i64 i) {
	if (kind == above) return re(as<T>(x[0])[i]);
	if (parts == 1) return modulus(as<T>(x[0])[i]);
	double s = 0;
	for (int k = 0; k < parts; k++) {
		double a = re(as<T>(x[k])[i]), b = im(as<T>(x[k])[i]);
		s += a * a + b * b;
	}
	if (s > 1e-270 && s < 1e300) return sqrt(s);
	s = 0; // a square may have left the range
	for (int k = 0; k < parts; k++) s = hypotenuse(s, modulus(as<T>(x[k])[i]));
	return s;
}

__device__ __noinline__ double logFactor(double r, double t, double u) {
	if (r != r) return r;
	double b = u * r - 1, d = b * b - 4 * u * (t * u - r);
	if (r == 0 || !(d >= 0)) return 0;
	double z = (b + sqrt(d)) / (2 * u);
	if (!(z > 0) || t * log1p(u * z) + (z - r) * (z - r) / 2 >= r * r / 2) return 0;
	return z / r;
}

__device__ __forceinline__ double larger(double a, double b) { return a >= b || a != a ? a : b; }

__device__ __forceinline__ double factorOf(double r, double t, double u, int kind) {
	switch (kind) {
	case softly: return r <= t ? 0 : 1 - t / r;
	case keep: return r <= t ? 0 : r > t ? 1 : r;
	case clip: return r <= t ? 1 : t / r;
	case huber: return 1 - t / larger(r, u);
	}
	return logFactor(r, t, u);
}

// termOf is what a vector of length r adds to a sum.
__device__ __noinline__ double termOf(double r, double t, double u, int kind) {
	switch (kind) {
	case softly:
	case above: return larger(r - t, 0);
	case keep: return r <= t ? 0 : r;
	case clip: return r <= t || r != r ? r : t;
	case huber: return r <= t ? r * r / (2 * t) : r - t / 2;
	case logarithm: return log1p(u * r);
	case powered: return power(r + t, u);
	case least: return power(larger(r, t), u);
	}
	return 1 / (1 + t * r * r);
}

__device__ __forceinline__ R toBox(R v, R lo, R hi) { return v < lo ? lo : v > hi ? hi : v; }

KERNEL(shrink, ShrinkArgs) {
	for (i64 i = threadIndex(); i < p.n; i += threadCount()) {
		if (p.kind == box) {
			for (int k = 0; k < p.parts; k++) {
				T v = as<T>(p.x[k])[i];
				R lo = R(p.t), hi = R(p.u);
				as<T>(p.dst[k])[i] = to<T>(Complex<R>{toBox(re(v), lo, hi), toBox(im(v), lo, hi)});
			}
			continue;
		}
		double r = lengthOf(p.x, p.parts, p.kind, i);
		if (p.kind >= above) {
			double v = termOf(r, p.t, p.u, p.kind);
			for (int k = 0; k < p.parts; k++) as<T>(p.dst[k])[i] = to<T>(Complex<double>{v, 0});
			continue;
		}
		double f = factorOf(r, p.t, p.u, p.kind);
		for (int k = 0; k < p.parts; k++) {
			T v = as<T>(p.x[k])[i];
			as<T>(p.dst[k])[i] = to<T>(Complex<double>{f * re(v), f * im(v)});
		}
	}
}

// ShrinkSumArgs: sums has room for one pair of sums per block.
struct ShrinkSumArgs {
	u64 x[maxTuple];
	i64 n;
	double t, u;
	u64 sums;
	int parts, kind;
};
struct Two {
	double a, b;
};
constexpr int sumThreads = 256;

// shrinkSum leaves one pair of sums per block. The order of additions depends only on n.
KERNEL_SYNC(shrinkSum, ShrinkSumArgs) {
	__shared__ Two sums[sumThreads];
	double s = 0, c = 0;
	for (i64 i = threadIndex(); i < p.n; i += threadCount()) {
		if (p.kind == box) {
			for (int k = 0; k < p.parts; k++) {
				T v = as<T>(p.x[k])[i];
				double a = larger(larger(p.t - re(v), re(v) - p.u), 0);
				double b = isComplex ? larger(larger(p.t - im(v), im(v) - p.u), 0) : 0;
				s += a + b;
				c += (a > 0) + (b > 0);
			}
			continue;
		}
		double r = lengthOf(p.x, p.parts, p.kind, i);
		if (r > p.t) c += 1;
		s += termOf(r, p.t, p.u, p.kind);
	}
	sums[threadIdx.x] = {s, c};
	__syncthreads();
	for (int by = sumThreads / 2; by > 0; by /= 2) {
		if (threadIdx.x < by) {
			sums[threadIdx.x].a += sums[threadIdx.x + by].a;
			sums[threadIdx.x].b += sums[threadIdx.x + by].b;
		}
		__syncthreads();
	}
	if (threadIdx.x == 0) as<Two>(p.sums)[blockIdx.x] = sums[0];
}
