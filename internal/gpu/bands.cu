// Banded matrices along an axis of a block of outer × rows × inner elements.
//
// The rows of a group are counted without the gaps between its bands. The table of
// bands has the start of each band in that count. The longest band is the main one if
// its taps move with the rows. Its taps are part of the arguments, and the distance
// from an element to what a tap reads is constant. Other rows use the tables.

struct Band { i64 start, lo, first, last; };

struct Tap {
	i64 at;
	int step, ghost;
	T coef;
};

struct Ghost { i64 at, rows; };

const int mainMost = 32;

struct BandsArgs {
	T* dst;
	const T *src, *ghost;
	const Band* bands;
	const Tap* taps;
	const Ghost* ghosts;
	i64 count;                     // of bands
	i64 outer, inner;
	i64 rows, dstRows, srcRows;    // of the group, of dst and of src
	i64 mainLo, mainHi, mainRow;   // main band in the count of the group; row of dst at mainLo
	int mainTaps, add;
	int width;                     // threads of a block that lie side by side, a power of 2
	int chunk;                     // rows that a thread of bandsRows takes
	const i64* farAt;              // used instead of at and coef if there are more than mainMost taps
	const T* farCoef;
	i64 spare;
	i64 at[mainMost];              // distance from an element of the main band to what a tap reads
	T coef[mainMost];
};

// findBand returns the band that holds a row of the group.
__device__ __forceinline__ Band findBand(const Band* bands, i64 count, i64 row) {
	i64 lo = 0;
	while (count > 1) {
		i64 half = count / 2;
		if (bands[lo + half].start <= row) {
			lo += half;
			count -= half;
		} else {
			count = half;
		}
	}
	return bands[lo];
}

// sumTaps adds the taps of row i of a band to sum.
__device__ T sumTaps(const BandsArgs& p, const Band& b, i64 i, i64 o, i64 j, T sum) {
	for (i64 k = b.first; k < b.last; k++) {
		const Tap t = p.taps[k];
		i64 row = t.at + t.step * i;
		const T* from = p.src + (o * p.srcRows + row) * p.inner;
		if (t.ghost) {
			Ghost g = p.ghosts[t.ghost - 1];
			from = p.ghost + g.at + (o * g.rows + row) * p.inner;
		}
		sum = mac(t.coef, from[j], sum);
	}
	return sum;
}

// bandElement computes one element from the tables.
__device__ void bandElement(const BandsArgs& p, i64 o, i64 row, i64 j) {
	Band b = findBand(p.bands, p.count, row);
	i64 i = row - b.start;
	T* d = p.dst + (o * p.dstRows + b.lo + i) * p.inner + j;
	*d = sumTaps(p, b, i, o, j, p.add ? *d : zero());
}

const int bandElements = 4;

// mainRun computes bandElements elements of the main band, step apart. N is the number
// of taps, or 0 if it is not known at compile time.
template <int N> __device__ __forceinline__ void mainRun(const BandsArgs& p, T* d, const T* s, i64 step) {
	T sum[bandElements];
#pragma unroll
	for (int u = 0; u < bandElements; u++) sum[u] = p.add ? d[u * step] : zero();
	const int n = N ? N : p.mainTaps;
#pragma unroll (N ? N : 2)
	for (int k = 0; k < n; k++) {
		const T* from = s + p.at[k];
		const T c = p.coef[k];
#pragma unroll
		for (int u = 0; u < bandElements; u++) sum[u] = mac(c, from[u * step], sum[u]);
	}
#pragma unroll
	for (int u = 0; u < bandElements; u++) d[u * step] = sum[u];
}

// mainFar is mainRun with more taps than fit into the arguments.
__device__ void mainFar(const BandsArgs& p, T* d, const T* s, i64 step) {
	T sum[bandElements];
#pragma unroll
	for (int u = 0; u < bandElements; u++) sum[u] = p.add ? d[u * step] : zero();
	for (int k = 0; k < p.mainTaps; k++) {
		const T* from = s + p.farAt[k];
		const T c = p.farCoef[k];
#pragma unroll
		for (int u = 0; u < bandElements; u++) sum[u] = mac(c, from[u * step], sum[u]);
	}
#pragma unroll
	for (int u = 0; u < bandElements; u++) d[u * step] = sum[u];
}

__device__ __forceinline__ void mainAny(const BandsArgs& p, T* d, const T* s, i64 step) {
	switch (p.mainTaps) {
	case 1: return mainRun<1>(p, d, s, step);
	case 2: return mainRun<2>(p, d, s, step);
	case 3: return mainRun<3>(p, d, s, step);
	case 4: return mainRun<4>(p, d, s, step);
	case 5: return mainRun<5>(p, d, s, step);
	}
	if (p.mainTaps > mainMost) return mainFar(p, d, s, step);
	mainRun<0>(p, d, s, step);
}

// bandsRows is for large inner. width threads of a block lie along inner. Each goes
// down some rows, so most of what its taps read is in the L1 cache.
KERNEL(bandsRows, BandsArgs) {
	i64 j = i64(blockIdx.x) * p.width + threadIdx.x % p.width;
	if (j >= p.inner) return;
	i64 high = i64(blockDim.x / p.width) * p.chunk, tiles = (p.rows + high - 1) / high;
	for (i64 tile = blockIdx.y; tile < p.outer * tiles; tile += gridDim.y) {
		i64 o = tile / tiles, first = (tile - o * tiles) * high + threadIdx.x / p.width * p.chunk;
		i64 last = min(first + p.chunk, p.rows);
		for (i64 row = first; row < last; row += bandElements) {
			if (row >= p.mainLo && row + bandElements <= p.mainHi && row + bandElements <= last) {
				i64 i = row - p.mainLo;
				mainAny(p, p.dst + (o * p.dstRows + p.mainRow + i) * p.inner + j, p.src + (o * p.srcRows + i) * p.inner + j, p.inner);
				continue;
			}
			for (int u = 0; u < bandElements && row + u < last; u++) bandElement(p, o, row + u, j);
		}
	}
}

// bandsFlat goes through the elements of an outer index in the order of memory. A
// block takes width · bandElements elements, of several outer indices if they are few.
KERNEL(bandsFlat, BandsArgs) {
	i64 n = p.rows * p.inner, lo = p.mainLo * p.inner, hi = p.mainHi * p.inner;
	i64 at = i64(blockIdx.x) * p.width * bandElements + threadIdx.x % p.width, step = p.width;
	i64 more = i64(gridDim.y) * (blockDim.x / p.width);
	for (i64 o = i64(blockIdx.y) * (blockDim.x / p.width) + threadIdx.x / p.width; o < p.outer; o += more) {
		if (at >= lo && at + (bandElements - 1) * step < hi) {
			i64 e = at - lo;
			mainAny(p, p.dst + (o * p.dstRows + p.mainRow) * p.inner + e, p.src + o * p.srcRows * p.inner + e, step);
			continue;
		}
		for (int u = 0; u < bandElements; u++) {
			i64 e = at + u * step;
			if (e < n) bandElement(p, o, e / p.inner, e % p.inner);
		}
	}
}

// bandsPerElement uses one block per element, for rows of many taps. It adds in 64
// bits.
KERNEL_SYNC(bandsPerElement, BandsArgs) {
	__shared__ Acc part[128];
	i64 n = p.rows * p.inner, e = blockIdx.x, o = e / n;
	e -= o * n;
	i64 row = e / p.inner, j = e % p.inner;
	Band b = findBand(p.bands, p.count, row);
	i64 i = row - b.start;
	Acc sum{};
	for (i64 k = b.first + threadIdx.x; k < b.last; k += blockDim.x) {
		Band one = {0, 0, k, k + 1};
		sum += wide(sumTaps(p, one, i, o, j, zero()));
	}
	part[threadIdx.x] = sum;
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
	}
	if (threadIdx.x > 0) return;
	T* d = p.dst + (o * p.dstRows + b.lo + i) * p.inner + j;
	*d = to<T>(p.add ? part[0] + wide(*d) : part[0]);
}
