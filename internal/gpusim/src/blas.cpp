// The products of blas.h.
#include "core.h"
#include "blas.h"

namespace sim {

template <class T> T conjugate(T x) { return x; }
template <class R> std::complex<R> conjugate(std::complex<R> x) { return std::conj(x); }

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

template <class T> void Gemm<T>::run(const T* a, const T* b, T* c) const {
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

#define INSTANTIATE(T) \
	template int gemmStrided<T>(const BlasCodes&, Blas*, const Gemm<T>&, const T*, int64_t, const T*, int64_t, T*, int64_t, int64_t); \
	template int gemmPointers<T>(const BlasCodes&, Blas*, const Gemm<T>&, const T* const*, const T* const*, T* const*, int64_t); \
	template int gemv<T>(const BlasCodes&, Blas*, Trans, int64_t, int64_t, const T*, const T*, int64_t, const T*, int64_t, const T*, T*, int64_t);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)

} // namespace sim
