// The product with a sparse matrix in compressed rows. It multiplies in the
// element type and adds in 64 bits.

struct GatherArgs {
	T* dst;
	const T *src, *w;       // w may be null: all weights are 1
	const void *first, *at; // 32-bit or 64-bit indices
	i64 rows;
	int wide;               // indices have 64 bits
	int lanes;              // threads for each row, a power of 2
};

__device__ __forceinline__ i64 indexOf(const void* list, int wide, i64 k) {
	return wide ? static_cast<const i64*>(list)[k] : i64(static_cast<const unsigned*>(list)[k]);
}

__device__ __forceinline__ Acc term(const GatherArgs& p, i64 k) {
	T v = p.src[indexOf(p.at, p.wide, k)];
	return wide(p.w ? p.w[k] * v : v);
}

// gatherShort uses one thread per row.
KERNEL(gatherShort, GatherArgs) {
	i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
	if (i >= p.rows) return;
	i64 lo = indexOf(p.first, p.wide, i), hi = indexOf(p.first, p.wide, i + 1);
	Acc sum{};
	for (i64 k = lo; k < hi; k++) sum += term(p, k);
	p.dst[i] = to<T>(sum);
}

// gatherLong uses several threads per row.
KERNEL_SYNC(gatherLong, GatherArgs) {
	__shared__ Acc sums[256];
	int t = threadIdx.x, lane = t % p.lanes;
	i64 i = i64(blockIdx.x) * (blockDim.x / p.lanes) + t / p.lanes;
	Acc sum{};
	if (i < p.rows) {
		i64 hi = indexOf(p.first, p.wide, i + 1);
		for (i64 k = indexOf(p.first, p.wide, i) + lane; k < hi; k += p.lanes) sum += term(p, k);
	}
	sums[t] = sum;
	for (int half = p.lanes / 2; half > 0; half /= 2) {
		__syncthreads();
		if (lane < half) sums[t] += sums[t + half];
	}
	if (lane == 0 && i < p.rows) p.dst[i] = to<T>(sums[t]);
}
