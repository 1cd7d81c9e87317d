// A sum of banded matrices along several axes of one block, in one pass.
//
// The first part has the largest rows. A block of threads covers some lines of such a
// row and goes down the axis of the first part, so most of what its taps read is in
// the L1 cache. The position of a thread along the other axes does not change.

struct Band { i64 lo, hi, first, last; };

struct Tap {
	i64 at;
	int step, ghost;
	T coef;
};

struct Ghost { i64 at, rows; };

struct Part {
	const T* ghost;
	const Band* bands; // in order, for all rows
	const Tap* taps;
	const Ghost* ghosts;
	i64 count, rows, inner; // of bands, of the block and of a row
	i64 lo, hi;             // the main band
	int first, last;        // taps of the main band in the arguments
};

const int partMost = 4, mainMost = 64, sumRun = 4;

struct BandsSumArgs {
	T* dst;
	const T* src;
	i64 outer;       // of the first part
	i64 line;        // elements of a line; a row of the first part has several lines
	int parts;
	int width, high; // threads of a block along a line, and lines of a block; powers of 2
	int chunk;       // rows of the first part that a thread takes
	Part part[partMost];
	i64 at[mainMost]; // distance from an element to what a tap reads
	T coef[mainMost];
};

__device__ __forceinline__ Band findBand(const Part& a, i64 row) {
	i64 lo = 0, count = a.count;
	while (count > 1) {
		i64 half = count / 2;
		if (a.bands[lo + half].lo <= row) {
			lo += half;
			count -= half;
		} else {
			count = half;
		}
	}
	return a.bands[lo];
}

// sumMain adds the main taps of a part to sumRun elements, step apart.
__device__ __forceinline__ void sumMain(const BandsSumArgs& p, const Part& a, T* sum, const T* s, i64 step) {
#pragma unroll 3
	for (int k = a.first; k < a.last; k++) {
		const T* from = s + p.at[k];
		const T c = p.coef[k];
#pragma unroll
		for (int u = 0; u < sumRun; u++) sum[u] = mac(c, from[u * step], sum[u]);
	}
}

// sumTable adds the taps of a band to n elements, step apart in the block. The first
// is row i at (o, j). o grows by more from one element to the next.
__device__ __forceinline__ void sumTable(const BandsSumArgs& p, const Part& a, i64 i, i64 o, i64 j, i64 more, int n, T* sum, i64 step) {
	const Band b = findBand(a, i);
	for (i64 k = b.first; k < b.last; k++) {
		const Tap t = a.taps[k];
		i64 row = t.at + t.step * (i - b.lo), by = step;
		const T* from = p.src + (o * a.rows + row) * a.inner + j;
		if (t.ghost) {
			Ghost g = a.ghosts[t.ghost - 1];
			from = a.ghost + g.at + (o * g.rows + row) * a.inner + j;
			by = more * g.rows * a.inner;
		}
#pragma unroll
		for (int u = 0; u < sumRun; u++)
			if (u < n) sum[u] = mac(t.coef, from[u * by], sum[u]);
	}
}

// sumRow adds the taps of one row of the first part to one element.
__device__ T sumRow(const BandsSumArgs& p, i64 i, i64 o, i64 j) {
	const Part& a = p.part[0];
	const Band b = findBand(a, i);
	T sum = zero();
	for (i64 k = b.first; k < b.last; k++) {
		const Tap t = a.taps[k];
		i64 row = t.at + t.step * (i - b.lo);
		const T* from = p.src + (o * a.rows + row) * a.inner;
		if (t.ghost) {
			Ghost g = a.ghosts[t.ghost - 1];
			from = a.ghost + g.at + (o * g.rows + row) * a.inner;
		}
		sum = mac(t.coef, from[j], sum);
	}
	return sum;
}

// sumSome computes n ≤ sumRun elements from a row of the first part on.
__device__ __forceinline__ void sumSome(const BandsSumArgs& p, const bool* inMain, i64 o, i64 row, i64 q, int n) {
	const Part& a = p.part[0];
	i64 e = (o * a.rows + row) * a.inner + q;
	T sum[sumRun];
#pragma unroll
	for (int u = 0; u < sumRun; u++) sum[u] = zero();
	if (n == sumRun && row >= a.lo && row + sumRun <= a.hi) {
		sumMain(p, a, sum, p.src + e, a.inner);
	} else {
#pragma unroll
		for (int u = 0; u < sumRun; u++)
			if (u < n) sum[u] = sumRow(p, row + u, o, q);
	}
#pragma unroll
	for (int k = 1; k < partMost; k++) {
		if (k >= p.parts) break;
		const Part& c = p.part[k];
		if (inMain[k] && n == sumRun) {
			sumMain(p, c, sum, p.src + e, a.inner);
			continue;
		}
		i64 line = q / c.inner, across = a.inner / (c.rows * c.inner); // outer indices of c in a row of a
		sumTable(p, c, line % c.rows, (o * a.rows + row) * across + line / c.rows, q % c.inner, across, n, sum, a.inner);
	}
	T* d = p.dst + e;
#pragma unroll
	for (int u = 0; u < sumRun; u++)
		if (u < n) d[u * a.inner] = sum[u];
}

KERNEL(bandsSum, BandsSumArgs) {
	const Part& a = p.part[0];
	i64 across = (p.line + p.width - 1) / p.width, up = blockIdx.x / across;
	int t = threadIdx.x / p.width;
	i64 x = (blockIdx.x - up * across) * p.width + threadIdx.x % p.width, q = (up * p.high + t % p.high) * p.line + x;
	if (x >= p.line || q >= a.inner) return;
	bool inMain[partMost]; // inMain[0]: the element is in the main band of all other parts
	inMain[0] = true;
#pragma unroll
	for (int k = 1; k < partMost; k++) {
		inMain[k] = false;
		if (k < p.parts) {
			i64 i = q / p.part[k].inner % p.part[k].rows;
			inMain[k] = i >= p.part[k].lo && i < p.part[k].hi;
			inMain[0] = inMain[0] && inMain[k];
		}
	}
	int deep = blockDim.x / (p.width * p.high);
	i64 tiles = (a.rows + deep * p.chunk - 1) / (deep * p.chunk);
	for (i64 tile = blockIdx.y; tile < p.outer * tiles; tile += gridDim.y) {
		i64 o = tile / tiles, first = ((tile - o * tiles) * deep + t / p.high) * p.chunk;
		i64 last = min(first + p.chunk, a.rows);
		for (i64 row = first; row < last; row += sumRun) sumSome(p, inMain, o, row, q, int(min(i64(sumRun), last - row)));
	}
}

// sumOne computes element q of a row of the first part. It is in the main band of
// most parts, whose taps need no table.
__device__ __forceinline__ T sumOne(const BandsSumArgs& p, i64 o, i64 row, i64 q) {
	const Part& a = p.part[0];
	const T* s = p.src + (o * a.rows + row) * a.inner + q;
	T sum[sumRun];
	sum[0] = zero();
#pragma unroll
	for (int k = 0; k < partMost; k++) {
		if (k >= p.parts) break;
		const Part& c = p.part[k];
		i64 line = q / c.inner, i = k == 0 ? row : line % c.rows;
		if (i >= c.lo && i < c.hi) {
			for (int t = c.first; t < c.last; t++) sum[0] = mac(p.coef[t], s[p.at[t]], sum[0]);
		} else if (k == 0) {
			sum[0] = sumRow(p, row, o, q);
		} else {
			i64 across = a.inner / (c.rows * c.inner);
			sumTable(p, c, i, (o * a.rows + row) * across + line / c.rows, q % c.inner, across, 1, sum, a.inner);
		}
	}
	return sum[0];
}

struct BandsRestArgs {
	BandsSumArgs sum;
	i64 lo, hi, xLo, xHi, yLo, yHi; // the box that bandsPlane computes
	i64 wide;                       // elements of a plane along x
};

// skip returns the i-th index outside lo to hi.
__device__ __forceinline__ i64 skip(i64 i, i64 lo, i64 hi) { return i < lo ? i : i + hi - lo; }

// bandsRest computes the elements outside the box of bandsPlane.
KERNEL(bandsRest, BandsRestArgs) {
	const BandsSumArgs& s = p.sum;
	const Part& a = s.part[0];
	i64 tall = a.inner / p.wide, deep = p.hi - p.lo, high = p.yHi - p.yLo;
	i64 planes = (a.rows - deep) * a.inner, lines = deep * (tall - high) * p.wide, ends = deep * high * (p.wide - (p.xHi - p.xLo));
	i64 each = planes + lines + ends, all = s.outer * each;
	for (i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x; i < all; i += i64(gridDim.x) * blockDim.x) {
		i64 o = i / each, j = i - o * each, row, q;
		if (j < planes) {
			row = skip(j / a.inner, p.lo, p.hi);
			q = j % a.inner;
		} else if (j -= planes; j < lines) {
			row = p.lo + j / ((tall - high) * p.wide);
			q = skip(j / p.wide % (tall - high), p.yLo, p.yHi) * p.wide + j % p.wide;
		} else {
			j -= lines;
			i64 few = p.wide - (p.xHi - p.xLo);
			row = p.lo + j / (high * few);
			q = (p.yLo + j / few % high) * p.wide + skip(j % few, p.xLo, p.xHi);
		}
		s.dst[(o * a.rows + row) * a.inner + q] = sumOne(s, o, row, q);
	}
}
