// Device functions of CUDA C++ and HIP that need no cooperation: vector types,
// atomics, arithmetic, bits. The prelude includes it.
#pragma once

#define GPUSIM_VECTOR(T, name, align2, align4) \
	struct __align__(align2) name##2 { T x, y; }; \
	struct name##3 { T x, y, z; }; \
	struct __align__(align4) name##4 { T x, y, z, w; }; \
	inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
	inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
	inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
GPUSIM_VECTOR(float, float, 8, 16)
GPUSIM_VECTOR(double, double, 16, 16)
GPUSIM_VECTOR(int, int, 8, 16)
GPUSIM_VECTOR(long long, longlong, 16, 16)
struct __align__(8) uint2 { unsigned x, y; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

// Streams run at the same time, so atomics are real ones.
template <class V, class F> inline V gpusim_update(V* at, F f) {
	V old, next;
	__atomic_load(at, &old, __ATOMIC_RELAXED);
	do next = f(old);
	while (!__atomic_compare_exchange(at, &old, &next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return old;
}
#define GPUSIM_ATOMICS(V) \
	inline V atomicAdd(V* p, V v) { return gpusim_update(p, [=](V o) { return static_cast<V>(o + v); }); } \
	inline V atomicAdd_system(V* p, V v) { return atomicAdd(p, v); } \
	inline V atomicAdd_block(V* p, V v) { return atomicAdd(p, v); } \
	inline V atomicExch(V* p, V v) { return gpusim_update(p, [=](V) { return v; }); }
#define GPUSIM_ATOMIC_INTEGERS(V) \
	inline V atomicSub(V* p, V v) { return gpusim_update(p, [=](V o) { return static_cast<V>(o - v); }); } \
	inline V atomicMax(V* p, V v) { return gpusim_update(p, [=](V o) { return o > v ? o : v; }); } \
	inline V atomicMin(V* p, V v) { return gpusim_update(p, [=](V o) { return o < v ? o : v; }); } \
	inline V atomicAnd(V* p, V v) { return gpusim_update(p, [=](V o) { return static_cast<V>(o & v); }); } \
	inline V atomicOr(V* p, V v) { return gpusim_update(p, [=](V o) { return static_cast<V>(o | v); }); } \
	inline V atomicXor(V* p, V v) { return gpusim_update(p, [=](V o) { return static_cast<V>(o ^ v); }); } \
	inline V atomicCAS(V* p, V expect, V v) { \
		__atomic_compare_exchange(p, &expect, &v, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED); \
		return expect; \
	}
GPUSIM_ATOMICS(float)
GPUSIM_ATOMICS(double)
GPUSIM_ATOMICS(int)
GPUSIM_ATOMICS(unsigned)
GPUSIM_ATOMICS(unsigned long long)
GPUSIM_ATOMIC_INTEGERS(int)
GPUSIM_ATOMIC_INTEGERS(unsigned)
GPUSIM_ATOMIC_INTEGERS(unsigned long long)
inline unsigned atomicInc(unsigned* p, unsigned limit) {
	return gpusim_update(p, [=](unsigned o) { return o >= limit ? 0u : o + 1; });
}
inline unsigned atomicDec(unsigned* p, unsigned limit) {
	return gpusim_update(p, [=](unsigned o) { return o == 0 || o > limit ? limit : o - 1; });
}

// min and max return NaN's other argument, as on the device.
#define GPUSIM_MINMAX(V) \
	inline V min(V a, V b) { return b < a ? b : a; } \
	inline V max(V a, V b) { return a < b ? b : a; }
GPUSIM_MINMAX(int)
GPUSIM_MINMAX(unsigned)
GPUSIM_MINMAX(long)
GPUSIM_MINMAX(unsigned long)
GPUSIM_MINMAX(long long)
GPUSIM_MINMAX(unsigned long long)
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

// Macros, for newer C libraries declare some of these names themselves.
inline float gpusim_rsqrt(float x) { return 1 / sqrtf(x); }
inline double gpusim_rsqrt(double x) { return 1 / sqrt(x); }
inline float gpusim_sinpi(float x) { return float(sin(M_PI * double(x))); }
inline double gpusim_sinpi(double x) { return sin(M_PI * x); }
inline float gpusim_cospi(float x) { return float(cos(M_PI * double(x))); }
inline double gpusim_cospi(double x) { return cos(M_PI * x); }
#define rsqrt gpusim_rsqrt
#define rsqrtf gpusim_rsqrt
#define sinpi gpusim_sinpi
#define sinpif gpusim_sinpi
#define cospi gpusim_cospi
#define cospif gpusim_cospi
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }

inline int __float2int_rn(float x) { return int(rintf(x)); }
inline int __float2int_rd(float x) { return int(floorf(x)); }
inline int __float2int_rz(float x) { return int(x); }
inline int __double2int_rn(double x) { return int(rint(x)); }
inline int __double2int_rd(double x) { return int(floor(x)); }
template <class To, class From> inline To gpusim_bits(From f) {
	static_assert(sizeof(To) == sizeof(From), "same size");
	To t;
	memcpy(&t, &f, sizeof t);
	return t;
}
inline int __float_as_int(float x) { return gpusim_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return gpusim_bits<unsigned>(x); }
inline float __int_as_float(int x) { return gpusim_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return gpusim_bits<float>(x); }
inline long long __double_as_longlong(double x) { return gpusim_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return gpusim_bits<double>(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
	return (unsigned long long)((unsigned __int128)a * b >> 64);
}

template <class V> inline V __ldg(const V* p) { return *p; }
template <class V> inline V __ldcg(const V* p) { return *p; }
template <class V> inline V __ldcs(const V* p) { return *p; }
template <class V> inline void __stcg(V* p, V v) { *p = v; }
template <class V> inline void __stcs(V* p, V v) { *p = v; }
