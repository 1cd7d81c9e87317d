// Integrals of an image along rays, and their adjoint. See device.Bundle for the
// formula of a bundle.

struct Bundle {
	double at, step, pivot, length;
	double num0, num1, den0, den1;
	double slope0, slope1; // of the first and the last ray
	double inverse, weight; // 1/step; what a ray takes of a pixel, of parallel rays
	i64 view;
	int lo, hi, columns, fan;
};

struct RayArgs {
	T *image, *data;
	const T* turned; // the image with rows and columns exchanged
	const Bundle* bundles;
	i64 count, blocks; // bundles, and blocks of threads for the rays of a bundle
	i64 rows, cols, detectors;
};

__device__ __forceinline__ double slopeOf(const Bundle& b, double d) { return b.fan ? (b.num0 + d * b.num1) / (b.den0 + d * b.den1) : b.slope0; }

// sample is the value of a line of n pixels between pixels i and i+1.
__device__ __forceinline__ T sample(const T* line, i64 n, i64 i, R f) {
	T near = u64(i) < u64(n) ? line[i] : zero();
	T far = u64(i + 1) < u64(n) ? line[i + 1] : zero();
	return mac(f, far - near, near);
}

// A ray is followed in 64 bits from one chunk of lines to the next, and in R inside of
// a chunk, where places are small numbers.
const int chunk = 16;

// project has one thread for each ray. Neighbouring threads read neighbouring pixels
// of a line, because columns are read from the turned image.
KERNEL(project, RayArgs) {
	i64 which = blockIdx.x / p.blocks;
	const Bundle& b = p.bundles[which];
	i64 d = b.lo + (blockIdx.x - which * p.blocks) * blockDim.x + threadIdx.x;
	if (d >= b.hi) return;
	const T* lines = b.columns ? p.turned : p.image;
	i64 count = b.columns ? p.cols : p.rows, n = b.columns ? p.rows : p.cols;
	double k = slopeOf(b, double(d)), at = b.at + double(d) * b.step - b.pivot * k;
	// The ray is over pixels between these lines.
	double lo = 0, hi = double(count);
	if (fabs(k) * double(count) > 1e-3) {
		double a = (-1 - at) / k, z = (double(n) - at) / k;
		lo = fmax(lo, floor(fmin(a, z)));
		hi = fmin(hi, ceil(fmax(a, z)) + 1);
	}
	T sum = zero();
	R kr = R(k);
	for (i64 l = i64(lo); l < i64(hi); l += chunk) {
		double place = at + double(l) * k, base = floor(place);
		R from = R(place - base);
		i64 first = i64(fmax(fmin(base, 1e15), -1e15));
		int steps = int(min(i64(chunk), i64(hi) - l));
		for (int j = 0; j < steps; j++) {
			R v = mac(R(j), kr, from), whole = floor(v);
			sum += sample(lines + (l + j) * n, n, first + i64(whole), v - whole);
		}
	}
	p.data[b.view * p.detectors + d] = R(b.length * sqrt(1 + k * k)) * sum;
}

// pixelOfBundle returns what the rays of a bundle add to pixel c of line l: those that
// cross the line less than a pixel away.
__device__ __forceinline__ T pixelOfBundle(const RayArgs& p, const Bundle& b, i64 l, i64 c) {
	const T* data = p.data + b.view * p.detectors;
	double off = double(l) - b.pivot;
	T sum = zero();
	if (!b.fan) { // divisions and roots were done beforehand
		double first = b.at + off * b.slope0 - double(c), middle = -first * b.inverse, width = fabs(b.inverse);
		double lo = fmax(ceil(middle - width), double(b.lo)), hi = fmin(floor(middle + width), double(b.hi - 1));
		if (!(lo <= hi)) return sum;
		R away = R(first + lo * b.step), step = R(b.step);
		for (int d = int(lo); d <= int(hi); d++) {
			R w = 1 - fabs(away);
			if (w > 0) sum = mac(w, data[d], sum);
			away += step;
		}
		return R(b.weight) * sum;
	}
	// The slopes of rays that end at pixels c-1 and c+1, as far as the bundle has such.
	double k0 = (double(c) - 1 - b.at) / off, k1 = (double(c) + 1 - b.at) / off;
	double least = fmin(b.slope0, b.slope1), most = fmax(b.slope0, b.slope1);
	if (!(fmax(k0, k1) >= least && fmin(k0, k1) <= most)) return sum;
	k0 = fmin(fmax(k0, least), most);
	k1 = fmin(fmax(k1, least), most);
	double d0 = (k0 * b.den0 - b.num0) / (b.num1 - k0 * b.den1), d1 = (k1 * b.den0 - b.num0) / (b.num1 - k1 * b.den1);
	double lo = fmax(floor(fmin(d0, d1)), double(b.lo)), hi = fmin(ceil(fmax(d0, d1)), double(b.hi - 1));
	for (i64 d = i64(lo); d <= i64(hi); d++) {
		double k = slopeOf(b, double(d));
		R w = R(1 - fabs(b.at + off * k - double(c)));
		if (w > 0) sum = mac(w * R(b.length * sqrt(1 + k * k)), data[d], sum);
	}
	return sum;
}

// A block of backProject does a tile of pixels, and each thread some rows of a column of
// it, for which it reads a bundle once.
const int tileCols = 32, tileRows = 64, threadRows = 8;

// backProject sums in the order of bundles, so results repeat.
KERNEL(backProject, RayArgs) {
	i64 across = (p.cols + tileCols - 1) / tileCols, tile = blockIdx.x / across;
	i64 col = (blockIdx.x - tile * across) * tileCols + threadIdx.x % tileCols;
	i64 row = tile * tileRows + threadIdx.x / tileCols * threadRows;
	if (row >= p.rows || col >= p.cols) return;
	T sum[threadRows];
	for (int j = 0; j < threadRows; j++) sum[j] = zero();
	for (i64 i = 0; i < p.count; i++) {
		const Bundle& b = p.bundles[i];
		if (b.fan || fabs(b.inverse) > 1) {
			for (int j = 0; j < threadRows; j++) sum[j] += b.columns ? pixelOfBundle(p, b, col, row + j) : pixelOfBundle(p, b, row + j, col);
			continue;
		}
		// Rays are a pixel apart or more, so that a pixel lies between two.
		double l = b.columns ? double(col) : double(row), c = b.columns ? double(row) : double(col);
		double place = (c - b.at - (l - b.pivot) * b.slope0) * b.inverse, next = b.columns ? b.inverse : -b.slope0 * b.inverse;
		const T* data = p.data + b.view * p.detectors;
		R apart = R(fabs(b.step)), weight = R(b.weight);
		for (int j = 0; j < threadRows; j++) {
			double at = place + double(j) * next, ray = floor(at);
			R f = R(at - ray), near = fmax(1 - apart * f, R(0)), far = fmax(1 - apart * (1 - f), R(0));
			int d = int(fmin(fmax(ray, double(b.lo) - 2), double(b.hi)));
			T v = zero();
			if (d >= b.lo && d < b.hi) v = mac(near, data[d], v);
			if (d + 1 >= b.lo && d + 1 < b.hi) v = mac(far, data[d + 1], v);
			sum[j] = mac(weight, v, sum[j]);
		}
	}
	for (int j = 0; j < threadRows && row + j < p.rows; j++) p.image[(row + j) * p.cols + col] = sum[j];
}
