// Kirchhoff modelling and migration. Tables have a row of points for each source and
// receiver. Rows are padded to a multiple of pointMultiple points, with times at which
// no trace has a sample. A run is pointMultiple points.

struct KirchhoffArgs {
	T *traces, *image, *part;
	const R *src, *rec;                 // times, in samples
	const R *src0, *src1, *rec0, *rec1; // factors of weights, or null
	const R* aperture;                  // or null
	i64 sources, receivers, points, samples, depths;
	i64 pitch;                          // elements of a row of a table
	int segment, segments;              // samples of a trace that a block holds, and segments of a trace
	int each;                           // receivers of a block of spread
	int splits;                         // blocks that share one result
};

const int pointMultiple = 8, perLoad = 16 / sizeof(R);

struct alignas(16) Load { R v[perLoad]; };

// loadRun reads the values of a run of points. Runs are aligned because rows are.
__device__ __forceinline__ void loadRun(R* v, const R* from) {
#pragma unroll
	for (int k = 0; k < pointMultiple; k += perLoad) {
		Load l = *reinterpret_cast<const Load*>(from + k);
#pragma unroll
		for (int i = 0; i < perLoad; i++) v[k + i] = l.v[i];
	}
}

// weighRun returns the weights of a run of points.
__device__ __forceinline__ void weighRun(const KirchhoffArgs& p, R* w, i64 s, i64 r, i64 point) {
#pragma unroll
	for (int k = 0; k < pointMultiple; k++) w[k] = 1;
	if (p.src0) {
		R a[pointMultiple], b[pointMultiple];
		loadRun(a, p.src0 + s * p.pitch + point);
		loadRun(b, p.rec0 + r * p.pitch + point);
#pragma unroll
		for (int k = 0; k < pointMultiple; k++) w[k] = a[k] * b[k];
		loadRun(a, p.src1 + s * p.pitch + point);
		loadRun(b, p.rec1 + r * p.pitch + point);
#pragma unroll
		for (int k = 0; k < pointMultiple; k++) w[k] += a[k] * b[k];
	}
	if (p.aperture) {
		const R* a = p.aperture + (s * p.receivers + r) * p.depths;
#pragma unroll
		for (int k = 0; k < pointMultiple; k++) w[k] *= a[(point + k) % p.depths];
	}
}

__device__ __forceinline__ void addShared(R* at, R v) { atomicAdd(at, v); }
__device__ __forceinline__ void addShared(Complex<R>* at, Complex<R> v) {
	atomicAdd(&at->re, v.re);
	atomicAdd(&at->im, v.im);
}

// spreadRun adds a run of points to the n samples of a trace from lo on.
template <bool weighted>
__device__ __forceinline__ void spreadRun(const KirchhoffArgs& p, T* trace, int n, int lo, const T* x, const R* ts, i64 s, i64 r, i64 point) {
	R tr[pointMultiple], w[pointMultiple];
	loadRun(tr, p.rec + r * p.pitch + point);
	if (weighted) weighRun(p, w, s, r, point);
	const R end = R(p.samples - 1);
#pragma unroll
	for (int k = 0; k < pointMultiple; k++) {
		R at = ts[k] + tr[k];
		T v = weighted ? w[k] * x[k] : x[k];
		if (!(at >= 0 && at < end) || (re(v) == 0 && im(v) == 0)) continue;
		int i = int(at);
		T far = (at - R(i)) * v;
		i -= lo;
		if (unsigned(i) < unsigned(n)) addShared(trace + i, v - far);
		if (unsigned(i + 1) < unsigned(n)) addShared(trace + i + 1, far);
	}
}

// spreadTraces computes the traces of some receivers of one source, in shared memory.
// Neighbouring threads take distant runs of points, so they seldom add to the same
// sample. The order of additions is not reproducible.
template <bool weighted> __device__ __forceinline__ void spreadTraces(const KirchhoffArgs& p, T* traces) {
	i64 groups = (p.receivers + p.each - 1) / p.each;
	i64 s = blockIdx.x / groups, r0 = (blockIdx.x - s * groups) * p.each;
	int rs = int(min(i64(p.each), p.receivers - r0));
	int segment = blockIdx.y % p.segments, split = blockIdx.y / p.segments, lo = segment * p.segment;
	int n = min(p.segment, int(p.samples) - lo), t = threadIdx.x;
	for (int i = t; i < rs * n; i += blockDim.x) traces[i] = zero();
	__syncthreads();
	i64 runs = p.pitch / pointMultiple, apart = (runs + group - 1) / group;
	int warps = blockDim.x / group;
	for (i64 k = split * warps + t / group; k < apart; k += i64(warps) * p.splits) {
		i64 point = (t % group * apart + k) * pointMultiple;
		if (point >= p.points) continue;
		T x[pointMultiple];
		R ts[pointMultiple];
#pragma unroll
		for (int i = 0; i < pointMultiple; i++) x[i] = point + i < p.points ? p.image[point + i] : zero();
		loadRun(ts, p.src + s * p.pitch + point);
		for (int r = 0; r < rs; r++) spreadRun<weighted>(p, traces + r * n, n, lo, x, ts, s, r0 + r, point);
	}
	__syncthreads();
	T* to = p.splits == 1 ? p.traces : p.part + split * p.sources * p.receivers * p.samples;
	for (int r = 0; r < rs; r++)
		for (int i = t; i < n; i += blockDim.x) to[(s * p.receivers + r0 + r) * p.samples + lo + i] = traces[r * n + i];
}

KERNEL_SYNC_OF(512, spread, KirchhoffArgs) {
	DYNAMIC_SHARED(T, traces);
	spreadTraces<false>(p, traces);
}

KERNEL_SYNC_OF(512, spreadWeighted, KirchhoffArgs) {
	DYNAMIC_SHARED(T, traces);
	spreadTraces<true>(p, traces);
}

// stackOne adds one sample to a point.
template <bool weighted> __device__ __forceinline__ T stackOne(const KirchhoffArgs& p, T sum, R at, i64 s, i64 r, i64 point) {
	if (!(at >= 0 && at < R(p.samples - 1))) return sum;
	int i = int(at);
	const T* trace = p.traces + (s * p.receivers + r) * p.samples + i;
	T near = trace[0], far = trace[1];
	T v = near + (at - R(i)) * (far - near);
	if (weighted && p.src0) {
		i64 a = s * p.pitch + point, b = r * p.pitch + point;
		v = (p.src0[a] * p.rec0[b] + p.src1[a] * p.rec1[b]) * v;
	}
	if (weighted && p.aperture) v = p.aperture[(s * p.receivers + r) * p.depths + point % p.depths] * v;
	return sum + v;
}

const int stackPoints = 32, stackGroups = 8, stackEach = 4;

// stackPart sums traces lo to hi at a point.
template <bool weighted> __device__ __forceinline__ T stackPart(const KirchhoffArgs& p, i64 point, i64 lo, i64 hi) {
	T sum = zero();
	while (lo < hi) { // one source at a time
		i64 s = lo / p.receivers, r = lo - s * p.receivers, last = min(p.receivers, r + (hi - lo));
		R ts = p.src[s * p.pitch + point];
		lo += last - r;
		for (; r + stackEach <= last; r += stackEach) {
			R tr[stackEach];
#pragma unroll
			for (int k = 0; k < stackEach; k++) tr[k] = p.rec[(r + k) * p.pitch + point];
#pragma unroll
			for (int k = 0; k < stackEach; k++) sum = stackOne<weighted>(p, sum, ts + tr[k], s, r + k, point);
		}
		for (; r < last; r++) sum = stackOne<weighted>(p, sum, ts + p.rec[r * p.pitch + point], s, r, point);
	}
	return sum;
}

// stackBlock uses one thread for each of stackPoints points and each of stackGroups
// groups of traces.
template <bool weighted> __device__ __forceinline__ void stackBlock(const KirchhoffArgs& p) {
	__shared__ T sums[stackGroups][stackPoints];
	int lane = threadIdx.x % stackPoints, mine = threadIdx.x / stackPoints;
	i64 point = i64(blockIdx.x) * stackPoints + lane, all = p.sources * p.receivers;
	i64 part = i64(blockIdx.y) * stackGroups + mine, parts = i64(p.splits) * stackGroups;
	T sum = zero();
	if (point < p.points) sum = stackPart<weighted>(p, point, all * part / parts, all * (part + 1) / parts);
	sums[mine][lane] = sum;
	__syncthreads();
	if (mine > 0 || point >= p.points) return;
	for (int g = 1; g < stackGroups; g++) sum += sums[g][lane];
	(p.splits == 1 ? p.image : p.part + blockIdx.y * p.points)[point] = sum;
}

KERNEL_SYNC(stack, KirchhoffArgs) { stackBlock<false>(p); }

KERNEL_SYNC(stackWeighted, KirchhoffArgs) { stackBlock<true>(p); }

struct JoinArgs {
	T* dst;
	const T* part; // splits × n
	i64 n, splits;
};

// joinParts adds up the partial sums of blocks that share a result.
KERNEL(joinParts, JoinArgs) {
	i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
	if (i >= p.n) return;
	T sum = p.part[i];
	for (i64 k = 1; k < p.splits; k++) sum += p.part[k * p.n + i];
	p.dst[i] = sum;
}

const int filterThreads = 256, filterEach = 4, filterSpan = filterThreads * filterEach, filterTaps = 256;

struct FilterArgs {
	T* dst;
	const T* src;
	const R* wavelet;
	i64 samples, taps, off;
};

// filterTraces sets each sample i of a trace to Σ wavelet[k]·src[i + off + k]. A block
// computes filterSpan samples, with filterTaps of the wavelet at a time.
KERNEL_SYNC(filterTraces, FilterArgs) {
	__shared__ T window[filterSpan + filterTaps];
	__shared__ R w[filterTaps];
	const T* src = p.src + i64(blockIdx.x) * p.samples;
	i64 first = i64(blockIdx.y) * filterSpan;
	int t = threadIdx.x;
	T sum[filterEach];
#pragma unroll
	for (int e = 0; e < filterEach; e++) sum[e] = zero();
	for (i64 k = 0; k < p.taps; k += filterTaps) {
		int n = int(min(i64(filterTaps), p.taps - k));
		i64 lo = first + p.off + k;
		__syncthreads();
		for (int i = t; i < filterSpan + n - 1; i += filterThreads) window[i] = lo + i >= 0 && lo + i < p.samples ? src[lo + i] : zero();
		for (int i = t; i < n; i += filterThreads) w[i] = p.wavelet[k + i];
		__syncthreads();
		for (int i = 0; i < n; i++)
#pragma unroll
			for (int e = 0; e < filterEach; e++) sum[e] += w[i] * window[t + e * filterThreads + i];
	}
#pragma unroll
	for (int e = 0; e < filterEach; e++) {
		i64 i = first + t + e * filterThreads;
		if (i < p.samples) p.dst[i64(blockIdx.x) * p.samples + i] = sum[e];
	}
}
