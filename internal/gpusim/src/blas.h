// cuBLAS and hipBLAS: the same products by plain loops, as work of a stream.
// Matrices are stored by columns.
#pragma once

#include "library.h"

#include <complex>

namespace sim {

// Trans says how a matrix enters a product.
enum Trans { asIs = 0, transposed = 1, adjoint = 2, badTrans = 3 };

// A Factor is alpha or beta, kept from the host or read on the device.
template <class T> struct Factor {
	T value{};
	const T* device = nullptr;
	Factor(const T* p, bool host) {
		if (host)
			value = *p;
		else
			device = p;
	}
	T get() const { return device ? *device : value; }
};

template <class T> struct Gemm {
	Trans opA, opB;
	int64_t m, n, k, lda, ldb, ldc;
	Factor<T> alpha, beta;

	bool valid() const {
		return opA != badTrans && opB != badTrans && m >= 0 && n >= 0 && k >= 0 && lda >= std::max<int64_t>(1, opA == asIs ? m : k) &&
		       ldb >= std::max<int64_t>(1, opB == asIs ? k : n) && ldc >= std::max<int64_t>(1, m);
	}
	// extents in elements
	int64_t sizeA() const { return extent(opA == asIs ? m : k, opA == asIs ? k : m, lda); }
	int64_t sizeB() const { return extent(opB == asIs ? k : n, opB == asIs ? n : k, ldb); }
	int64_t sizeC() const { return extent(m, n, ldc); }
	static int64_t extent(int64_t rows, int64_t cols, int64_t ld) { return rows && cols ? (cols - 1) * ld + rows : 0; }

	// With beta = 0 what C held does not count, not even a NaN.
	void run(const T* a, const T* b, T* c) const;
};

struct Blas {
	Handle on;
	bool hostFactors = true;
};

// BlasCodes are the results that differ between the libraries.
struct BlasCodes {
	int notInitialized, invalidValue, executionFailed;
};

// blas.cpp has these for the four element types. gemmPointers takes arrays of
// addresses that lie on the device.
template <class T>
int gemmStrided(const BlasCodes& codes, Blas* h, const Gemm<T>& g, const T* a, int64_t strideA, const T* b, int64_t strideB, T* c,
                int64_t strideC, int64_t batch);
template <class T>
int gemmPointers(const BlasCodes& codes, Blas* h, const Gemm<T>& g, const T* const* a, const T* const* b, T* const* c, int64_t batch);
template <class T>
int gemv(const BlasCodes& codes, Blas* h, Trans op, int64_t m, int64_t n, const T* alpha, const T* a, int64_t lda, const T* x, int64_t incx,
         const T* beta, T* y, int64_t incy);

} // namespace sim

// BLAS_PRODUCTS defines the products of one element type: cublasSgemm_v2 is
// prefix cublasS, suffix _v2.
#define BLAS_PRODUCTS(prefix, suffix, T) \
	int prefix##gemm##suffix(Blas* h, int opA, int opB, int m, int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb, \
	                         const T* beta, T* c, int ldc) { \
		if (!h) return codes.notInitialized; \
		Gemm<T> g{trans(opA), trans(opB), m, n, k, lda, ldb, ldc, {alpha, h->hostFactors}, {beta, h->hostFactors}}; \
		return gemmStrided(codes, h, g, a, 0, b, 0, c, 0, 1); \
	} \
	int prefix##gemmStridedBatched(Blas* h, int opA, int opB, int m, int n, int k, const T* alpha, const T* a, int lda, long long strideA, \
	                               const T* b, int ldb, long long strideB, const T* beta, T* c, int ldc, long long strideC, int batch) { \
		if (!h) return codes.notInitialized; \
		Gemm<T> g{trans(opA), trans(opB), m, n, k, lda, ldb, ldc, {alpha, h->hostFactors}, {beta, h->hostFactors}}; \
		return gemmStrided(codes, h, g, a, strideA, b, strideB, c, strideC, batch); \
	} \
	int prefix##gemmBatched(Blas* h, int opA, int opB, int m, int n, int k, const T* alpha, const T* const* a, int lda, const T* const* b, \
	                        int ldb, const T* beta, T* const* c, int ldc, int batch) { \
		if (!h) return codes.notInitialized; \
		Gemm<T> g{trans(opA), trans(opB), m, n, k, lda, ldb, ldc, {alpha, h->hostFactors}, {beta, h->hostFactors}}; \
		return gemmPointers(codes, h, g, a, b, c, batch); \
	} \
	int prefix##gemv##suffix(Blas* h, int op, int m, int n, const T* alpha, const T* a, int lda, const T* x, int incx, const T* beta, T* y, \
	                         int incy) { \
		if (!h) return codes.notInitialized; \
		return gemv(codes, h, trans(op), m, n, alpha, a, lda, x, incx, beta, y, incy); \
	}
