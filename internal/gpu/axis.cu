// Sums and norms along the middle axis of a block of outer × n × inner elements. The
// block has outer × inner columns of n elements.

struct AxisArgs {
	T* dst;
	const T *x, *start;
	Acc* part;           // chunks × columns
	double* norms;       // chunks × columns; the results are the first columns
	i64 outer, n, inner; // of the block
	i64 chunk, chunks;   // rows of a chunk, and number of chunks
	int wide, tall;      // columns and rows that a block of threads reads at once, powers of 2
	int kind, reverse;
	double p;
};

// Spot is the position of a thread in a tile of wide columns and tall rows. If
// columns are contiguous, threads lie along them.
struct Spot { i64 column; int row, col; };

__device__ __forceinline__ Spot spot(const AxisArgs& p) {
	int t = threadIdx.x;
	int col = p.inner == 1 ? t / p.tall : t % p.wide, row = p.inner == 1 ? t % p.tall : t / p.wide;
	return {i64(blockIdx.x) * p.wide + col, row, col};
}

__device__ __forceinline__ const T* columnOf(const AxisArgs& p, i64 column) {
	i64 o = column / p.inner;
	return p.x + o * p.n * p.inner + (column - o * p.inner);
}

const int axisThreads = 256;

KERNEL_SYNC(sumAxis, AxisArgs) {
	__shared__ Acc sums[axisThreads];
	Spot at = spot(p);
	Acc sum{};
	if (at.column < p.outer * p.inner) {
		const T* x = columnOf(p, at.column);
		i64 i = blockIdx.y * p.chunk + at.row, end = min((blockIdx.y + 1) * p.chunk, p.n);
		for (; i + 3 * p.tall < end; i += 4 * p.tall) {
			T a = x[i * p.inner], b = x[(i + p.tall) * p.inner], c = x[(i + 2 * p.tall) * p.inner], d = x[(i + 3 * p.tall) * p.inner];
			sum += wide(a) + wide(b) + (wide(c) + wide(d));
		}
		for (; i < end; i += p.tall) sum += wide(x[i * p.inner]);
	}
	int mine = at.row * p.wide + at.col;
	sums[mine] = sum;
	for (int half = p.tall / 2; half > 0; half /= 2) {
		__syncthreads();
		if (at.row < half) sums[mine] += sums[mine + half * p.wide];
	}
	if (at.row > 0 || at.column >= p.outer * p.inner) return;
	if (p.chunks == 1)
		p.dst[at.column] = to<T>(sums[mine]);
	else
		p.part[blockIdx.y * p.outer * p.inner + at.column] = sums[mine];
}

// sumAxisEnd adds up the sums of chunks.
KERNEL(sumAxisEnd, AxisArgs) {
	i64 columns = p.outer * p.inner, c = i64(blockIdx.x) * blockDim.x + threadIdx.x;
	if (c >= columns) return;
	Acc sum{};
	for (i64 k = 0; k < p.chunks; k++) sum += p.part[k * columns + c];
	p.dst[c] = to<T>(sum);
}

// The kinds of norm have the numbers of device.NormKind.
enum { sumPowers, sumSquares, sumSizes, sumRoots, countSome, largest, smallest };

// join is the norm of the union of two sets. NaN wins.
__device__ __forceinline__ double join(int kind, double a, double b) {
	if (kind == largest) return a != a || a > b ? a : b;
	if (kind == smallest) return a != a || a < b ? a : b;
	return a + b;
}

__device__ __forceinline__ double normOf(int kind, T v, double p) {
	if (kind == sumSquares) return double(re(v)) * double(re(v)) + double(im(v)) * double(im(v));
	double r = modulus(v);
	switch (kind) {
	case sumRoots: return sqrt(r);
	case countSome: return r == 0 || r != r ? r : 1;
	case sumPowers: return pow(r, p);
	}
	return r;
}

__device__ __forceinline__ double emptyNorm(int kind) { return kind == smallest ? __longlong_as_double(0x7ff0000000000000ll) : 0; }

KERNEL_SYNC(normAxis, AxisArgs) {
	__shared__ double sums[axisThreads];
	Spot at = spot(p);
	double sum = emptyNorm(p.kind);
	if (at.column < p.outer * p.inner) {
		const T* x = columnOf(p, at.column);
		i64 end = min((blockIdx.y + 1) * p.chunk, p.n);
		for (i64 i = blockIdx.y * p.chunk + at.row; i < end; i += p.tall) sum = join(p.kind, sum, normOf(p.kind, x[i * p.inner], p.p));
	}
	int mine = at.row * p.wide + at.col;
	sums[mine] = sum;
	for (int half = p.tall / 2; half > 0; half /= 2) {
		__syncthreads();
		if (at.row < half) sums[mine] = join(p.kind, sums[mine], sums[mine + half * p.wide]);
	}
	if (at.row > 0 || at.column >= p.outer * p.inner) return;
	p.norms[blockIdx.y * p.outer * p.inner + at.column] = sums[mine];
}

// normAxisEnd joins the norms of chunks into those of the first chunk.
KERNEL(normAxisEnd, AxisArgs) {
	i64 columns = p.outer * p.inner, c = i64(blockIdx.x) * blockDim.x + threadIdx.x;
	if (c >= columns) return;
	double sum = p.norms[c];
	for (i64 k = 1; k < p.chunks; k++) sum = join(p.kind, sum, p.norms[k * columns + c]);
	p.norms[c] = sum;
}
