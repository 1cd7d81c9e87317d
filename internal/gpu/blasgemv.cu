// Products of a row-major matrix with a vector. A long sum is split over blocks.
// gemvEnd adds up their partial sums in order.

struct GemvArgs {
	const T *a, *x;
	T *y, *part;
	i64 m, n;          // of the matrix
	i64 chunk, chunks; // terms of a partial sum, and number of partial sums
	int lanes;         // threads along a row; a power of 2
	int conj, scaled;  // use conj(A); read y (beta is not 0)
	int vectors;       // rows and x can be read 16 bytes at a time
	T alpha, beta;
};

const int gemvThreads = 256;

__device__ __forceinline__ T entry(const GemvArgs& p, T a) { return p.conj ? conj(a) : a; }

__device__ __forceinline__ void finish(const GemvArgs& p, i64 i, T sum) {
	T v = p.alpha * sum;
	p.y[i] = p.scaled ? mac(p.beta, p.y[i], v) : v;
}

// store saves the partial sum of one chunk of y[i]. y has count elements.
__device__ __forceinline__ void store(const GemvArgs& p, i64 i, i64 count, T sum) {
	if (p.chunks == 1)
		finish(p, i, sum);
	else
		p.part[blockIdx.y * count + i] = sum;
}

// gemvRows sums along rows: op(A) is A or conj(A).
KERNEL_SYNC(gemvRows, GemvArgs) {
	__shared__ T sums[gemvThreads];
	int t = threadIdx.x, lane = t % p.lanes;
	i64 i = i64(blockIdx.x) * (gemvThreads / p.lanes) + t / p.lanes;
	i64 lo = blockIdx.y * p.chunk, hi = min(lo + p.chunk, p.n);
	T sum = zero();
	if (i < p.m) {
		const T* a = p.a + i * p.n;
		if (p.vectors) {
			T part[packed];
#pragma unroll
			for (int u = 0; u < packed; u++) part[u] = zero();
#pragma unroll 4
			for (i64 j = lo + lane * packed; j < hi; j += p.lanes * packed) {
				Pack v = load(a + j, true), w = load(p.x + j, true);
#pragma unroll
				for (int u = 0; u < packed; u++) part[u] = mac(entry(p, v.v[u]), w.v[u], part[u]);
			}
#pragma unroll
			for (int u = 0; u < packed; u++) sum += part[u];
		} else {
#pragma unroll 4
			for (i64 j = lo + lane; j < hi; j += p.lanes) sum = mac(entry(p, a[j]), p.x[j], sum);
		}
	}
	sums[t] = sum;
	for (int half = p.lanes / 2; half > 0; half /= 2) {
		__syncthreads();
		if (lane < half) sums[t] += sums[t + half];
	}
	if (lane == 0 && i < p.m) store(p, i, p.m, sums[t]);
}

// gemvColumns sums along columns: op(A) is Aᵀ or Aᴴ.
KERNEL_SYNC(gemvColumns, GemvArgs) {
	__shared__ T sums[gemvThreads];
	int t = threadIdx.x, high = gemvThreads / p.lanes, row = t / p.lanes;
	i64 j = i64(blockIdx.x) * p.lanes + t % p.lanes;
	i64 lo = blockIdx.y * p.chunk, hi = min(lo + p.chunk, p.m);
	T sum = zero();
	if (j < p.n) {
#pragma unroll 8
		for (i64 i = lo + row; i < hi; i += high) sum = mac(entry(p, p.a[i * p.n + j]), p.x[i], sum);
	}
	sums[t] = sum;
	for (int half = high / 2; half > 0; half /= 2) {
		__syncthreads();
		if (row < half) sums[t] += sums[t + half * p.lanes];
	}
	if (row == 0 && j < p.n) store(p, j, p.n, sums[t]);
}

// gemvEnd adds up the partial sums of y, which has p.m elements.
KERNEL(gemvEnd, GemvArgs) {
	i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
	if (i >= p.m) return;
	T sum = zero();
#pragma unroll 8
	for (i64 k = 0; k < p.chunks; k++) sum += p.part[k * p.m + i];
	finish(p, i, sum);
}
