// Running sums along an axis. Long columns are cut into chunks: sumAxis computes the
// sum of each chunk, scanParts the sum of all chunks before each, and then each chunk
// is scanned from that start. Sums have 64 bits and are rounded once.

struct ScanArgs {
	T* dst;
	const T *x, *start;  // start may be null
	Acc* part;           // chunks × columns
	i64 outer, n, inner; // of the block
	i64 chunk, chunks;   // rows of a chunk, and number of chunks
	int reverse, pad;
};

const int scanThreads = 256, scanEach = 4, scanTile = scanThreads * scanEach, scanChunks = 1024;

// scanParts replaces the sum of each chunk of a column by the start plus the sum of
// all chunks before it. A block has at least as many threads as chunks.
KERNEL_SYNC(scanParts, ScanArgs) {
	__shared__ Acc s[2][scanChunks];
	i64 columns = p.outer * p.inner, column = blockIdx.x;
	int t = threadIdx.x, now = 0;
	i64 k = p.reverse ? p.chunks - 1 - t : t;
	s[0][t] = t < p.chunks ? p.part[k * columns + column] : Acc{};
	for (int by = 1; by < p.chunks; by *= 2) {
		__syncthreads();
		s[1 - now][t] = t >= by ? s[now][t - by] + s[now][t] : s[now][t];
		now = 1 - now;
	}
	__syncthreads();
	if (t >= p.chunks) return;
	Acc before = t > 0 ? s[now][t - 1] : Acc{};
	p.part[k * columns + column] = p.start ? before + wide(p.start[column]) : before;
}

// before returns the sum that a chunk starts with.
__device__ __forceinline__ Acc before(const ScanArgs& p, i64 chunk, i64 column) {
	if (p.chunks > 1) return p.part[chunk * p.outer * p.inner + column];
	return p.start ? wide(p.start[column]) : Acc{};
}

// scanColumns uses one thread per column and chunk.
KERNEL(scanColumns, ScanArgs) {
	i64 columns = p.outer * p.inner, c = i64(blockIdx.x) * blockDim.x + threadIdx.x, chunk = blockIdx.y;
	if (c >= columns) return;
	Acc sum = before(p, chunk, c);
	i64 lo = chunk * p.chunk, hi = min(lo + p.chunk, p.n), o = c / p.inner;
	i64 first = o * p.n * p.inner + (c - o * p.inner), step = p.reverse ? -p.inner : p.inner;
	i64 at = first + (p.reverse ? hi - 1 : lo) * p.inner, n = hi - lo;
	for (; n >= 4; n -= 4, at += 4 * step) {
		T a = p.x[at], b = p.x[at + step], d = p.x[at + 2 * step], e = p.x[at + 3 * step];
		p.dst[at] = to<T>(sum += wide(a));
		p.dst[at + step] = to<T>(sum += wide(b));
		p.dst[at + 2 * step] = to<T>(sum += wide(d));
		p.dst[at + 3 * step] = to<T>(sum += wide(e));
	}
	for (; n > 0; n--, at += step) p.dst[at] = to<T>(sum += wide(p.x[at]));
}

// scanRows uses one block per column and chunk. The block goes through the chunk in
// tiles. A thread sums up neighbours.
KERNEL_SYNC(scanRows, ScanArgs) {
	__shared__ T tile[scanTile];
	__shared__ Acc s[2][scanThreads];
	i64 c = blockIdx.x, chunk = blockIdx.y, o = c / p.inner;
	i64 lo = chunk * p.chunk, hi = min(lo + p.chunk, p.n), first = o * p.n * p.inner + (c - o * p.inner);
	i64 at = first + (p.reverse ? hi - 1 : lo) * p.inner, step = p.reverse ? -p.inner : p.inner;
	Acc carry = before(p, chunk, c);
	int t = threadIdx.x;
	for (i64 left = hi - lo; left > 0; left -= scanTile, at += scanTile * step) {
		int n = int(min(left, i64(scanTile))), now = 0;
		for (int i = t; i < n; i += scanThreads) tile[i] = p.x[at + i * step];
		__syncthreads();
		Acc mine{};
		for (int i = t * scanEach; i < min(n, (t + 1) * scanEach); i++) mine += wide(tile[i]);
		s[0][t] = mine;
		for (int by = 1; by < scanThreads; by *= 2) {
			__syncthreads();
			s[1 - now][t] = t >= by ? s[now][t - by] + s[now][t] : s[now][t];
			now = 1 - now;
		}
		__syncthreads();
		Acc sum = t > 0 ? carry + s[now][t - 1] : carry;
		for (int i = t * scanEach; i < min(n, (t + 1) * scanEach); i++) tile[i] = to<T>(sum += wide(tile[i]));
		carry += s[now][scanThreads - 1];
		__syncthreads();
		for (int i = t; i < n; i += scanThreads) p.dst[at + i * step] = tile[i];
		__syncthreads();
	}
}
