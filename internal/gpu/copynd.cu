// Copies of boxes between strided blocks. The host has sorted the axes: the last has
// the smallest stride in dst. In a transpose the one before has the smallest in src.

const int axisMost = 8, copyTile = 32, copyRows = 8;

struct CopyArgs {
	T* dst;
	const T* src;
	i64 n[axisMost], d[axisMost], s[axisMost]; // extents and strides
	i64 lines;                                 // the product of all extents except those that a block of threads walks
	int rank, add;
	int width, each;                           // threads along the last axis, a power of 2, and elements of a thread
};

__device__ __forceinline__ void put(T* d, T v, int sum) { *d = sum ? *d + v : v; }

// outside adds the offsets of line i of the first axes in dst and src.
__device__ __forceinline__ void outside(const CopyArgs& p, i64 i, int axes, i64* d, i64* s) {
	for (int a = axes - 1; a >= 0; a--) {
		i64 rest = a > 0 ? i / p.n[a] : 0, at = i - rest * p.n[a];
		*d += at * p.d[a];
		*s += at * p.s[a];
		i = rest;
	}
}

// copyLines has threads along the last axis. A block takes several lines.
KERNEL(copyLines, CopyArgs) {
	int last = p.rank - 1, high = blockDim.x / p.width;
	i64 j = i64(blockIdx.x) * p.width * p.each + threadIdx.x % p.width;
	for (i64 i = i64(blockIdx.y) * high + threadIdx.x / p.width; i < p.lines; i += i64(gridDim.y) * high) {
		i64 d = 0, s = 0;
		outside(p, i, last, &d, &s);
#pragma unroll 4
		for (int u = 0; u < p.each; u++) {
			i64 at = j + i64(u) * p.width;
			if (at < p.n[last]) put(p.dst + d + at * p.d[last], p.src[s + at * p.s[last]], p.add);
		}
	}
}

// copyTiles transposes tiles in shared memory, so that neighbouring threads read and
// write neighbouring elements.
KERNEL_SYNC(copyTiles, CopyArgs) {
	__shared__ T tile[copyTile][copyTile + 1];
	int row = p.rank - 2, col = p.rank - 1, x = threadIdx.x % copyTile, y = threadIdx.x / copyTile;
	i64 across = (p.n[col] + copyTile - 1) / copyTile;
	i64 c0 = blockIdx.x % across * copyTile, r0 = blockIdx.x / across * copyTile;
	for (i64 i = blockIdx.y; i < p.lines; i += gridDim.y) {
		i64 d = 0, s = 0;
		outside(p, i, row, &d, &s);
		for (int k = y; k < copyTile; k += copyRows) {
			if (r0 + x < p.n[row] && c0 + k < p.n[col]) tile[k][x] = p.src[s + (r0 + x) * p.s[row] + (c0 + k) * p.s[col]];
		}
		__syncthreads();
		for (int k = y; k < copyTile; k += copyRows) {
			if (r0 + k < p.n[row] && c0 + x < p.n[col]) put(p.dst + d + (r0 + k) * p.d[row] + (c0 + x) * p.d[col], tile[x][k], p.add);
		}
		__syncthreads();
	}
}
