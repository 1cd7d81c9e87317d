// cuFFT and hipFFT: transforms of one to three dimensions in batches, as work
// of a stream.
#pragma once

#include <cstdint>
#include "library.h"

#include <complex>

namespace sim {

enum FftResult : int { fftOK = 0, fftInvalidPlan = 1, fftInvalidType = 3, fftInvalidValue = 4, fftFailed = 6, fftSetupFailed = 7, fftInvalidSize = 8 };

// FftType has the numbers of cufftType: bit 6 says double, the low ones which.
enum FftType : int { r2c = 0x2a, c2r = 0x2c, c2c = 0x29, d2z = 0x6a, z2d = 0x6c, z2z = 0x69 };

// A Layout says where the numbers of a side are.
struct Layout {
	int64_t embed[3] = {1, 1, 1}, stride = 1, dist = 0;
	int64_t at(int64_t b, int64_t i, int64_t j, int64_t k) const { return b * dist + ((i * embed[1] + j) * embed[2] + k) * stride; }
	int64_t extent(int64_t batch, const int64_t* n) const { return at(batch - 1, n[0] - 1, n[1] - 1, n[2] - 1) + 1; }
};

struct FftPlan {
	Handle on;
	int type;
	int64_t n[3] = {1, 1, 1}, batch; // the last axis varies fastest; unused axes come first
	bool basic;                      // contiguous data
	Layout in, out;

	// size of a side, whose last axis is halved if it is the complex one of a real transform
	void side(int64_t* size, bool halved) const {
		std::copy(n, n + 3, size);
		if (halved) size[2] = n[2] / 2 + 1;
	}
	// run, in fft.cpp, is there for the six pairs of types.
	template <class In, class Out> int run(In* from, Out* to, int sign);
};

int makePlan(FftPlan* p, int rank, const int* n, const int* inembed, int istride, int idist, const int* onembed, int ostride, int odist,
             int type, int batch);

// misaligned reports real samples that do not begin where a complex number could: the
// libraries refuse them.
template <class F>
bool misaligned(const F* p) {
	return reinterpret_cast<uintptr_t>(p) % (2 * sizeof(F)) != 0;
}

} // namespace sim

// FFT_EXECUTIONS defines the calls that transform: find turns a handle into a plan.
#define FFT_EXECUTIONS(prefix, H, find) \
	int prefix##ExecC2C(H h, std::complex<float>* from, std::complex<float>* to, int sign) { \
		auto* p = find(h); \
		return !p ? fftInvalidPlan : p->type != c2c ? fftInvalidType : sign != 1 && sign != -1 ? fftInvalidValue : p->run(from, to, sign); \
	} \
	int prefix##ExecZ2Z(H h, std::complex<double>* from, std::complex<double>* to, int sign) { \
		auto* p = find(h); \
		return !p ? fftInvalidPlan : p->type != z2z ? fftInvalidType : sign != 1 && sign != -1 ? fftInvalidValue : p->run(from, to, sign); \
	} \
	int prefix##ExecR2C(H h, float* from, std::complex<float>* to) { \
		auto* p = find(h); \
		return !p ? fftInvalidPlan : p->type != r2c ? fftInvalidType : misaligned(from) ? fftInvalidValue : p->run(from, to, -1); \
	} \
	int prefix##ExecD2Z(H h, double* from, std::complex<double>* to) { \
		auto* p = find(h); \
		return !p ? fftInvalidPlan : p->type != d2z ? fftInvalidType : misaligned(from) ? fftInvalidValue : p->run(from, to, -1); \
	} \
	int prefix##ExecC2R(H h, std::complex<float>* from, float* to) { \
		auto* p = find(h); \
		return !p ? fftInvalidPlan : p->type != c2r ? fftInvalidType : misaligned(to) ? fftInvalidValue : p->run(from, to, 1); \
	} \
	int prefix##ExecZ2D(H h, std::complex<double>* from, double* to) { \
		auto* p = find(h); \
		return !p ? fftInvalidPlan : p->type != z2d ? fftInvalidType : misaligned(to) ? fftInvalidValue : p->run(from, to, 1); \
	}
