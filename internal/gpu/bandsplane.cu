// The main bands of a sum across planes and along the axes of a plane, compiled for
// one shape: see bandsplane.go.
//
// A block of threads is a tile of a plane and goes from plane to plane. Each thread
// keeps its elements of neighbouring planes in registers and prefetches the next
// ones. The block keeps the tile and a margin of the present plane in shared memory.
// So each element is loaded about once.

struct PlaneArgs {
	T* dst;
	const T* src;
	i64 outer, rows;          // blocks of planes, and planes of one
	i64 lo, hi;               // the planes to set
	i64 xLo, xHi, yLo, yHi;   // the elements of a plane to set
	i64 chunk;                // planes of a block of threads
	i64 pad;                  // aligns coef to 16 bytes
	T coef[16];               // of taps across planes, along y and along x
};

constexpr i64 wideX = GOLOPS_X, wideY = GOLOPS_Y;
constexpr int tileX = 64, tileY = 4, ahead = 3;

constexpr int rows0[] = {GOLOPS_ROWS0}, taps0 = sizeof(rows0) / sizeof(int);
#ifdef GOLOPS_ROWSY
constexpr int rowsY[] = {GOLOPS_ROWSY}, tapsY = sizeof(rowsY) / sizeof(int);
#else
constexpr int rowsY[] = {0}, tapsY = 0;
#endif
#ifdef GOLOPS_ROWSX
constexpr int rowsX[] = {GOLOPS_ROWSX}, tapsX = sizeof(rowsX) / sizeof(int);
#else
constexpr int rowsX[] = {0}, tapsX = 0;
#endif

__device__ constexpr int reach(const int* rows, int n) {
	int r = 0;
	for (int i = 0; i < n; i++) r = rows[i] > r ? rows[i] : -rows[i] > r ? -rows[i] : r;
	return r;
}
constexpr int r0 = reach(rows0, taps0), ry = reach(rowsY, tapsY), rx = reach(rowsX, tapsX);
constexpr int marginY = 2 * ry * tileX, margin = marginY + 2 * rx * tileY;
static_assert(margin <= tileX * tileY, "a thread loads one element of the margin");

KERNEL_SYNC(bandsPlane, PlaneArgs) {
	__shared__ T tile[2][tileY + 2 * ry][tileX + 2 * rx];
	constexpr i64 plane = wideX * wideY;
	constexpr unsigned tilesX = unsigned((wideX + tileX - 1) / tileX);
	const int tx = threadIdx.x % tileX, ty = threadIdx.x / tileX;
	const i64 x0 = i64(blockIdx.x % tilesX) * tileX, y0 = i64(blockIdx.x / tilesX) * tileY;
	const i64 x = x0 + tx, y = y0 + ty;
	const bool in = x < wideX && y < wideY;
	const bool out = x >= p.xLo && x < p.xHi && y >= p.yLo && y < p.yHi;
	// The element of the margin that this thread loads.
	int t = threadIdx.x, mx = 0, my = 0;
	bool edge = false;
	if (t < margin) {
		if (t < marginY) {
			mx = t % tileX;
			my = t / tileX;
			my = my < ry ? my - ry : tileY + my - ry;
		} else if (rx > 0) {
			t -= marginY;
			my = t / (2 * (rx > 0 ? rx : 1));
			mx = t % (2 * (rx > 0 ? rx : 1));
			mx = mx < rx ? mx - rx : tileX + mx - rx;
		}
		edge = x0 + mx >= 0 && x0 + mx < wideX && y0 + my >= 0 && y0 + my < wideY;
	}
	const i64 own = in ? y * wideX + x : 0, side = edge ? (y0 + my) * wideX + x0 + mx : 0;
	const i64 chunks = (p.hi - p.lo + p.chunk - 1) / p.chunk;
	int turn = 0;
	for (i64 c = blockIdx.y; c < p.outer * chunks; c += gridDim.y) {
		const i64 o = c / chunks, first = p.lo + (c - o * chunks) * p.chunk, last = min(first + p.chunk, p.hi);
		const T* from = p.src + (o * p.rows + first) * plane;
		const i64 below = p.rows - first; // planes from the first to the end
		T v[2 * r0 + 1 + ahead], m[ahead];
		// v[i] belongs to plane first+i-r0, m[i] to plane first+i.
#pragma unroll
		for (int i = 0; i < 2 * r0 + ahead; i++) v[i] = in && first + i - r0 >= 0 && i - r0 < below ? from[(i - r0) * plane + own] : zero();
#pragma unroll
		for (int i = 0; i < ahead - 1; i++) m[i] = edge && i < below ? from[i * plane + side] : zero();
		T* to = p.dst + (o * p.rows + first) * plane + own;
		for (i64 row = first; row < last; row++) {
			const i64 left = p.rows - row;
			v[2 * r0 + ahead] = in && r0 + ahead < left ? from[(r0 + ahead) * plane + own] : zero();
			m[ahead - 1] = edge && ahead - 1 < left ? from[(ahead - 1) * plane + side] : zero();
			tile[turn][ty + ry][tx + rx] = v[r0];
			if (edge) tile[turn][my + ry][mx + rx] = m[0];
			__syncthreads();
			if (out) {
				T sum = zero();
#pragma unroll
				for (int k = 0; k < taps0; k++) sum = mac(p.coef[k], v[r0 + rows0[k]], sum);
#pragma unroll
				for (int k = 0; k < tapsY; k++) sum = mac(p.coef[taps0 + k], tile[turn][ty + ry + rowsY[k]][tx + rx], sum);
#pragma unroll
				for (int k = 0; k < tapsX; k++) sum = mac(p.coef[taps0 + tapsY + k], tile[turn][ty + ry][tx + rx + rowsX[k]], sum);
				*to = sum;
			}
#pragma unroll
			for (int i = 0; i < 2 * r0 + ahead; i++) v[i] = v[i + 1];
#pragma unroll
			for (int i = 0; i < ahead - 1; i++) m[i] = m[i + 1];
			from += plane;
			to += plane;
			turn ^= 1;
		}
	}
}
