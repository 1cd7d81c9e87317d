// The transforms of fft.h.
#include "core.h"
#include "fft.h"

#include <cmath>
#include <cstring>

namespace sim {

using Z = std::complex<double>;

// transform is a DFT of n numbers, by halves while n is even.
static void transform(Z* x, int64_t n, int sign) {
	if (n <= 1) return;
	std::vector<Z> y(static_cast<size_t>(n));
	const double unit = sign * 2 * M_PI / double(n);
	if (n % 2 == 0) {
		int64_t half = n / 2;
		for (int64_t i = 0; i < half; i++) y[i] = x[2 * i], y[half + i] = x[2 * i + 1];
		transform(y.data(), half, sign);
		transform(y.data() + half, half, sign);
		for (int64_t i = 0; i < half; i++) {
			Z t = std::polar(1.0, unit * double(i)) * y[half + i];
			x[i] = y[i] + t;
			x[half + i] = y[i] - t;
		}
		return;
	}
	std::vector<Z> root(static_cast<size_t>(n));
	for (int64_t i = 0; i < n; i++) root[i] = std::polar(1.0, unit * double(i));
	for (int64_t k = 0; k < n; k++)
		for (int64_t i = 0; i < n; i++) y[k] += x[i] * root[i * k % n];
	std::copy(y.begin(), y.end(), x);
}

static Layout contiguous(const int64_t* size, int64_t last) {
	Layout l;
	l.embed[0] = size[0], l.embed[1] = size[1], l.embed[2] = last;
	l.dist = size[0] * size[1] * last;
	return l;
}

static bool knownType(int t) { return t == r2c || t == c2r || t == c2c || t == d2z || t == z2d || t == z2z; }

int makePlan(FftPlan* p, int rank, const int* n, const int* inembed, int istride, int idist, const int* onembed, int ostride, int odist,
             int type, int batch) {
	Context* c = nullptr;
	if (enter(&c) != ok) return fftSetupFailed;
	if (!knownType(type)) return fftInvalidType;
	if (rank < 1 || rank > 3 || !n || batch < 1) return fftInvalidValue;
	p->on = Handle{c, nullptr};
	p->type = type;
	p->batch = batch;
	p->basic = !inembed || !onembed;
	int first = 3 - rank;
	for (int i = 0; i < rank; i++) {
		if (n[i] < 1) return fftInvalidSize;
		p->n[first + i] = n[i];
	}
	if (p->basic) return fftOK;
	for (int i = 1; i < rank; i++) { // the first extent of an embedding is never used
		p->in.embed[first + i] = inembed[i];
		p->out.embed[first + i] = onembed[i];
	}
	p->in.stride = istride, p->in.dist = idist;
	p->out.stride = ostride, p->out.dist = odist;
	return fftOK;
}

static Z widen(float x) { return Z(x); }
static Z widen(double x) { return Z(x); }
template <class R> Z widen(std::complex<R> x) { return Z(x.real(), x.imag()); }
static void narrow(Z z, float* x) { *x = float(z.real()); }
static void narrow(Z z, double* x) { *x = z.real(); }
template <class R> void narrow(Z z, std::complex<R>* x) { *x = {R(z.real()), R(z.imag())}; }

// transformBlock transforms the three axes of a block of complex numbers.
static void transformBlock(std::vector<Z>& x, const int64_t* n, int sign) {
	std::vector<Z> line;
	int64_t stride = 1;
	for (int axis = 2; axis >= 0; axis--) {
		line.resize(size_t(n[axis]));
		for (int64_t start = 0; n[axis] > 1 && start < int64_t(x.size()); start++) {
			if (start / stride % n[axis]) continue;
			for (int64_t i = 0; i < n[axis]; i++) line[i] = x[start + i * stride];
			transform(line.data(), n[axis], sign);
			for (int64_t i = 0; i < n[axis]; i++) x[start + i * stride] = line[i];
		}
		stride *= n[axis];
	}
}

template <class In, class Out> int FftPlan::run(In* from, Out* to, int sign) {
	bool fromReal = type == r2c || type == d2z, toReal = type == c2r || type == z2d;
	int64_t sizeIn[3], sizeOut[3];
	side(sizeIn, toReal);
	side(sizeOut, fromReal);
	Layout l = in, m = out;
	bool inPlace = static_cast<void*>(from) == static_cast<void*>(to);
	if (basic) { // the real side of a transform in place is padded
		int64_t padded = 2 * (n[2] / 2 + 1);
		l = contiguous(sizeIn, fromReal && inPlace ? padded : sizeIn[2]);
		m = contiguous(sizeOut, toReal && inPlace ? padded : sizeOut[2]);
	}
	StreamRef s;
	if (!on.stream(&s)) return fftFailed;
	size_t bytesIn = size_t(l.extent(batch, sizeIn)) * sizeof(In), bytesOut = size_t(m.extent(batch, sizeOut)) * sizeof(Out);
	if (!present(s, "fft", {{from, bytesIn}, {to, bytesOut}})) return fftOK;
	FftPlan plan = *this;
	std::vector<int64_t> a(sizeIn, sizeIn + 3), b(sizeOut, sizeOut + 3);
	s->submit([=] {
		const int64_t* n = plan.n;
		std::vector<Z> x(size_t(n[0] * n[1] * n[2]));
		for (int64_t t = 0; t < plan.batch; t++) {
			for (int64_t i = 0; i < n[0]; i++)
				for (int64_t j = 0; j < n[1]; j++)
					for (int64_t k = 0; k < n[2]; k++) {
						Z& z = x[(i * n[1] + j) * n[2] + k];
						if (k < a[2])
							z = widen(from[l.at(t, i, j, k)]);
						else // the half that symmetry gives
							z = std::conj(widen(from[l.at(t, (n[0] - i) % n[0], (n[1] - j) % n[1], n[2] - k)]));
					}
			transformBlock(x, n, sign);
			for (int64_t i = 0; i < b[0]; i++)
				for (int64_t j = 0; j < b[1]; j++)
					for (int64_t k = 0; k < b[2]; k++) narrow(x[(i * n[1] + j) * n[2] + k], &to[m.at(t, i, j, k)]);
		}
		// The real library may use the input of a transform to real numbers as work space.
		if (toReal && !inPlace) memset(static_cast<void*>(from), 0xff, bytesIn);
	});
	return fftOK;
}

template int FftPlan::run(std::complex<float>*, std::complex<float>*, int);
template int FftPlan::run(Z*, Z*, int);
template int FftPlan::run(float*, std::complex<float>*, int);
template int FftPlan::run(double*, Z*, int);
template int FftPlan::run(std::complex<float>*, float*, int);
template int FftPlan::run(Z*, double*, int);

} // namespace sim
