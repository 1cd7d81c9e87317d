// cuBLAS and hipBLAS: the same products by plain loops, as work of a stream.
// Matrices are stored by columns.
#pragma once

#include "library.h"

#include <complex>

namespace sim {

template <class T> T conjugate(T x) { return x; }
template <class R> std::complex<R> conjugate(std::complex<R> x) { return std::conj(x); }

// Trans says how a matrix enters a product.
enum Trans { asIs = 0, transposed = 1, adjoint = 2, badTrans = 3 };

// A Matrix reads op(A) of a matrix with leading dimension ld.
template <class T> struct Matrix {
	const T* p;
	int64_t ld;
	Trans op;
	T operator()(int64_t i, int64_t j) const {
		if (op == asIs) return p[i + j * ld];
		return op == transposed ? p[j + i * ld] : conjugate(p[j + i * ld]);
	}
};

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
	void run(const T* a, const T* b, T* c) const {
		Matrix<T> A{a, lda, opA}, B{b, ldb, opB};
		T al = alpha.get(), be = beta.get();
		for (int64_t j = 0; j < n; j++)
			for (int64_t i = 0; i < m; i++) {
				T sum{};
				if (al != T{})
					for (int64_t l = 0; l < k; l++) sum += A(i, l) * B(l, j);
				T& out = c[i + j * ldc];
				out = be == T{} ? al * sum : al * sum + be * out;
			}
	}
};

struct Blas {
	Handle on;
	bool hostFactors = true;
};

// BlasCodes are the results that differ between the libraries.
struct BlasCodes {
	int notInitialized, invalidValue, executionFailed;
};

template <class T>
int gemmStrided(const BlasCodes& codes, Blas* h, const Gemm<T>& g, const T* a, int64_t strideA, const T* b, int64_t strideB, T* c,
                int64_t strideC, int64_t batch) {
	StreamRef s;
	if (!g.valid() || batch < 0) return codes.invalidValue;
	if (!h->on.stream(&s)) return codes.executionFailed;
	if (!g.m || !g.n || !batch) return 0;
	auto bytes = [&](int64_t size, int64_t stride) { return size_t(size ? (batch - 1) * stride + size : 0) * sizeof(T); };
	if (!present(s, "gemm", {{a, bytes(g.sizeA(), strideA)}, {b, bytes(g.sizeB(), strideB)}, {c, bytes(g.sizeC(), strideC)}})) return 0;
	s->submit([=] {
		for (int64_t i = 0; i < batch; i++) g.run(a + i * strideA, b + i * strideB, c + i * strideC);
	});
	return 0;
}

// gemmPointers takes arrays of addresses that lie on the device.
template <class T>
int gemmPointers(const BlasCodes& codes, Blas* h, const Gemm<T>& g, const T* const* a, const T* const* b, T* const* c, int64_t batch) {
	StreamRef s;
	if (!g.valid() || batch < 0) return codes.invalidValue;
	if (!h->on.stream(&s)) return codes.executionFailed;
	if (!g.m || !g.n || !batch) return 0;
	size_t bytes = size_t(batch) * sizeof(T*);
	if (!present(s, "gemmBatched", {{a, bytes}, {b, bytes}, {c, bytes}})) return 0;
	s->submit([=] {
		for (int64_t i = 0; i < batch; i++) g.run(a[i], b[i], c[i]);
	});
	return 0;
}

template <class T>
int gemv(const BlasCodes& codes, Blas* h, Trans op, int64_t m, int64_t n, const T* alpha, const T* a, int64_t lda, const T* x, int64_t incx,
         const T* beta, T* y, int64_t incy) {
	StreamRef s;
	if (op == badTrans || m < 0 || n < 0 || lda < std::max<int64_t>(1, m) || !incx || !incy) return codes.invalidValue;
	if (!h->on.stream(&s)) return codes.executionFailed;
	if (!m || !n) return 0;
	int64_t rows = op == asIs ? m : n, cols = op == asIs ? n : m;
	auto bytes = [](int64_t count, int64_t inc) { return size_t((count - 1) * std::abs(inc) + 1) * sizeof(T); };
	if (!present(s, "gemv", {{a, size_t((n - 1) * lda + m) * sizeof(T)}, {x, bytes(cols, incx)}, {y, bytes(rows, incy)}})) return 0;
	Factor<T> al(alpha, h->hostFactors), be(beta, h->hostFactors);
	s->submit([=] {
		Matrix<T> A{a, lda, op};
		const T* px = incx < 0 ? x - (cols - 1) * incx : x; // a negative step starts at the end
		T* py = incy < 0 ? y - (rows - 1) * incy : y;
		for (int64_t i = 0; i < rows; i++) {
			T sum{};
			for (int64_t j = 0; j < cols; j++) sum += A(i, j) * px[j * incx];
			T& out = py[i * incy];
			out = be.get() == T{} ? al.get() * sum : al.get() * sum + be.get() * out;
		}
	});
	return 0;
}

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
