// The prefix of every .cu file. GOLOPS_T, 0 to 3, selects the element type T: float,
// double, or complex of these. R is the real type of T. Sums of T accumulate in Acc.
//
// A kernel takes one struct of arguments, called p:
//
//	struct ScaleArgs { u64 x; i64 n; Scalar a; };
//	KERNEL(scale, ScaleArgs) { T* x = as<T>(p.x); ... }
//
// KERNEL_SYNC is for kernels whose threads cooperate: __syncthreads, shuffles. The
// simulator redefines these macros. Addresses are u64. Scalars of any T are two
// doubles. An address may be aligned to no more than T.

typedef long long i64;
typedef unsigned long long u64;

#ifdef GPUSIM
#define KERNEL_SYNC_OF(threads, name, A) KERNEL_SYNC(name, A)
#endif
#ifndef GPUSIM
#define KERNEL(name, A) extern "C" __global__ void name(const A p)
#define KERNEL_SYNC(name, A) extern "C" __global__ void name(const A p)
// KERNEL_SYNC_OF is for large blocks, for which the compiler must save registers.
#define KERNEL_SYNC_OF(threads, name, A) extern "C" __global__ void __launch_bounds__(threads) name(const A p)
// DYNAMIC_SHARED names the shared memory whose size the launch sets.
#define DYNAMIC_SHARED(type, name)                                     \
	extern __shared__ __attribute__((aligned(16))) unsigned char golops_shared[]; \
	type* const name = reinterpret_cast<type*>(golops_shared)
#endif

#if GOLOPS_T == 0 || GOLOPS_T == 2
typedef float R;
#else
typedef double R;
#endif

// Complex has the layout of Go's complex numbers.
template <class F> struct alignas(2 * sizeof(F)) Complex {
	F re, im;
};

#if GOLOPS_T < 2
typedef R T;
typedef double Acc;
constexpr bool isComplex = false;
#else
typedef Complex<R> T;
typedef Complex<double> Acc;
constexpr bool isComplex = true;
#endif

// Scalar is a scalar argument of any element type.
struct Scalar {
	double re, im;
};

template <class V> __device__ __forceinline__ V* as(u64 address) { return reinterpret_cast<V*>(address); }

// The same names serve real and complex numbers.
__device__ __forceinline__ float conj(float a) { return a; }
__device__ __forceinline__ double conj(double a) { return a; }
template <class F> __device__ __forceinline__ Complex<F> conj(Complex<F> a) { return {a.re, -a.im}; }
__device__ __forceinline__ float re(float a) { return a; }
__device__ __forceinline__ double re(double a) { return a; }
template <class F> __device__ __forceinline__ F re(Complex<F> a) { return a.re; }
__device__ __forceinline__ float im(float) { return 0; }
__device__ __forceinline__ double im(double) { return 0; }
template <class F> __device__ __forceinline__ F im(Complex<F> a) { return a.im; }
template <class F> __device__ __forceinline__ Complex<F> operator+(Complex<F> a, Complex<F> b) { return {a.re + b.re, a.im + b.im}; }
template <class F> __device__ __forceinline__ Complex<F> operator-(Complex<F> a, Complex<F> b) { return {a.re - b.re, a.im - b.im}; }
template <class F> __device__ __forceinline__ Complex<F> operator*(Complex<F> a, Complex<F> b) {
	return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class F> __device__ __forceinline__ Complex<F> operator*(F a, Complex<F> b) { return {a * b.re, a * b.im}; }
template <class F> __device__ __forceinline__ Complex<F>& operator+=(Complex<F>& a, Complex<F> b) { return a = a + b; }

// to converts a number to another type.
template <class V> struct Convert {
	template <class U> __device__ __forceinline__ static V of(U u) { return V(re(u)); }
};
template <class F> struct Convert<Complex<F>> {
	template <class U> __device__ __forceinline__ static Complex<F> of(U u) { return {F(re(u)), F(im(u))}; }
};
template <class V, class U> __device__ __forceinline__ V to(U u) { return Convert<V>::of(u); }
__device__ __forceinline__ T scalar(Scalar s) { return to<T>(Complex<double>{s.re, s.im}); }

// wide converts an element to Acc.
__device__ __forceinline__ Acc wide(T a) { return to<Acc>(a); }
__device__ __forceinline__ T zero() { return to<T>(R(0)); }

// mac is s + a·b in the type of its arguments.
__device__ __forceinline__ float mac(float a, float b, float s) { return fmaf(a, b, s); }
__device__ __forceinline__ double mac(double a, double b, double s) { return fma(a, b, s); }
template <class F> __device__ __forceinline__ Complex<F> mac(Complex<F> a, Complex<F> b, Complex<F> s) {
	return {mac(a.re, b.re, mac(-a.im, b.im, s.re)), mac(a.re, b.im, mac(a.im, b.re, s.im))};
}
template <class F> __device__ __forceinline__ Complex<F> mac(F a, Complex<F> b, Complex<F> s) { return {mac(a, b.re, s.re), mac(a, b.im, s.im)}; }

// Long functions are not inlined: that compiles faster.
__device__ __noinline__ double hypotenuse(double a, double b) { return hypot(a, b); }
__device__ __noinline__ double power(double a, double b) { return pow(a, b); }

// modulus is |a|. It calls hypot only if a square overflows or underflows.
__device__ __forceinline__ double modulus(float a) { return fabs(double(a)); }
__device__ __forceinline__ double modulus(double a) { return fabs(a); }
template <class F> __device__ __forceinline__ double modulus(Complex<F> a) {
	double x = a.re, y = a.im, s = x * x + y * y;
	return s > 1e-270 && s < 1e300 ? sqrt(s) : hypotenuse(x, y);
}

// Pack is 16 bytes of elements, which memory moves at once.
constexpr int packed = 16 / sizeof(T);
struct alignas(16) Pack {
	T v[packed];
};
// load reads a pack at any address.
__device__ __forceinline__ Pack load(const T* x, bool aligned) {
	if (aligned) return *reinterpret_cast<const Pack*>(x);
	Pack a;
#pragma unroll
	for (int j = 0; j < packed; j++) a.v[j] = x[j];
	return a;
}
__device__ __forceinline__ bool aligned(u64 address) { return (address & 15) == 0; }

// threadIndex is the index of a thread in the launch, along x; threadCount the number
// of threads.
__device__ __forceinline__ i64 threadIndex() { return i64(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ __forceinline__ i64 threadCount() { return i64(gridDim.x) * blockDim.x; }

// down returns the value of the thread `by` positions later among 32 neighbours. All
// 32 must call it. AMD's waves have 64 threads, which are two such groups.
constexpr int group = 32;
#ifdef __HIP_PLATFORM_AMD__
#define golops_down(v, by) __shfl_down(v, by, group)
#else
#define golops_down(v, by) __shfl_down_sync(0xffffffffu, v, by, group)
#endif
