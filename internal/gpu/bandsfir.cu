// Convolution along the last axis. Every row of dst applies the same filter to the
// rows of src around it. Rows beyond the ends of src are zero.

const int firThreads = 128, firEach = 4, firTile = firThreads * firEach, firMost = 512;

struct FirArgs {
	T* dst;
	const T *src, *coef;
	i64 outer, dstRows, srcRows;
	i64 first; // row of src that coefficient 0 meets in row 0 of dst
	i64 tiles; // of one outer index
	int span, add;
};

KERNEL_SYNC(bandsFir, FirArgs) {
	__shared__ T s[firTile + firMost];
	__shared__ T c[firMost];
	i64 o = blockIdx.x / p.tiles, lo = (blockIdx.x - o * p.tiles) * firTile;
	int t = threadIdx.x, n = int(min(i64(firTile), p.dstRows - lo));
	const T* src = p.src + o * p.srcRows;
	for (int k = t; k < p.span; k += firThreads) c[k] = p.coef[k];
	for (int k = t; k < n + p.span - 1; k += firThreads) {
		i64 at = lo + p.first + k;
		s[k] = at >= 0 && at < p.srcRows ? src[at] : zero();
	}
	__syncthreads();
	T sum[firEach];
#pragma unroll
	for (int u = 0; u < firEach; u++) sum[u] = zero();
	if (n > firTile - firThreads) { // at most the last element of a thread is missing
#pragma unroll 4
		for (int k = 0; k < p.span; k++) {
			T v = c[k];
#pragma unroll
			for (int u = 0; u < firEach; u++) sum[u] = mac(v, s[t + u * firThreads + k], sum[u]);
		}
	} else {
#pragma unroll
		for (int u = 0; u < firEach - 1; u++) {
			if (u * firThreads >= n) break;
#pragma unroll 4
			for (int k = 0; k < p.span; k++) sum[u] = mac(c[k], s[t + u * firThreads + k], sum[u]);
		}
	}
	T* dst = p.dst + o * p.dstRows + lo;
#pragma unroll
	for (int u = 0; u < firEach; u++) {
		int i = t + u * firThreads;
		if (i < n) dst[i] = p.add ? dst[i] + sum[u] : sum[u];
	}
}
