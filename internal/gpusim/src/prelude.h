// What stands in front of every kernel that the simulator compiles: the part of
// CUDA C++ and HIP that golops uses, for one thread of the host at a time.
#pragma once

#include "runtime.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define GPUSIM 1
#ifdef GPUSIM_HIP
#define __HIPCC__ 1
#define __HIPCC_RTC__ 1
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __gfx90a__ 1
constexpr int warpSize = 64;
#else
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 900
constexpr int warpSize = 32;
#endif

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

// The thread that runs, for the built-in variables.
extern "C" const gpusim_runtime* gpusim_rt;
const gpusim_runtime* gpusim_rt;
static thread_local uint3 gpusim_thread;
static thread_local gpusim_block gpusim_now;
#define threadIdx gpusim_thread
#define blockIdx (gpusim_now.index)
#define blockDim (gpusim_now.size)
#define gridDim (gpusim_now.grid)
#define DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(gpusim_now.shared)

// KERNEL is a loop over the threads of a block, KERNEL_SYNC a fiber for each.
#define KERNEL(name, A) \
	static __forceinline__ void gpusim_body_##name(const A& p); \
	extern "C" const unsigned gpusim_size_##name; \
	const unsigned gpusim_size_##name = sizeof(A); \
	extern "C" void name(const void* args, const gpusim_block* b) { \
		const A p = *static_cast<const A*>(args); \
		gpusim_now = *b; \
		for (unsigned z = 0; z < b->size.z; z++) \
			for (unsigned y = 0; y < b->size.y; y++) \
				for (unsigned x = 0; x < b->size.x; x++) { \
					gpusim_thread = uint3{x, y, z}; \
					gpusim_body_##name(p); \
				} \
	} \
	static __forceinline__ void gpusim_body_##name(const A& p)
#define KERNEL_SYNC(name, A) \
	static void gpusim_body_##name(const A& p); \
	static void gpusim_fiber_##name(const void* p) { gpusim_body_##name(*static_cast<const A*>(p)); } \
	extern "C" const unsigned gpusim_size_##name; \
	const unsigned gpusim_size_##name = sizeof(A); \
	extern "C" void name(const void* args, const gpusim_block* b) { \
		const A p = *static_cast<const A*>(args); \
		gpusim_now = *b; \
		gpusim_rt->fibers(b, &gpusim_thread, gpusim_fiber_##name, &p); \
	} \
	static void gpusim_body_##name(const A& p)

// Cooperation. A warp operation knows its line, so that lanes that meet at
// different ones are found out.
#define __syncthreads() gpusim_rt->sync(__LINE__)
#define __trap() gpusim_rt->trap(__LINE__)
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __threadfence(); }
inline void __threadfence_system() { __threadfence(); }

constexpr unsigned long long gpusim_all = warpSize == 64 ? ~0ull : 0xffffffffull;
// A meeting in a function that two warps' worth of code share counts as one line.
#define __syncwarp(...) gpusim_syncwarp(__LINE__, ##__VA_ARGS__)
inline void gpusim_syncwarp(int line, unsigned long long mask = gpusim_all) { gpusim_rt->meet(line, gpusim_warp, mask, 0, 0); }

template <class V> inline V gpusim_exchange(int line, unsigned long long mask, V v, int source) {
	static_assert(sizeof(V) <= 8, "a shuffle moves at most 8 bytes");
	unsigned long long bits = 0;
	memcpy(&bits, &v, sizeof v);
	bits = gpusim_rt->meet(line, gpusim_shuffle, mask, bits, source);
	memcpy(&v, &bits, sizeof v);
	return v;
}
enum gpusim_direction { gpusim_index, gpusim_up, gpusim_down, gpusim_xor };
template <class V>
inline V gpusim_shfl(int line, gpusim_direction d, unsigned long long mask, V v, int by, int width = warpSize) {
	int lane = int(gpusim_rt->lane()), first = lane / width * width, to = lane;
	if (d == gpusim_index) to = first + (by & (width - 1));
	if (d == gpusim_up && lane - by >= first) to = lane - by;
	if (d == gpusim_down && lane + by < first + width) to = lane + by;
	if (d == gpusim_xor && (lane ^ by) < first + width) to = lane ^ by;
	return gpusim_exchange(line, mask, v, to);
}
#define __shfl_sync(...) gpusim_shfl(__LINE__, gpusim_index, __VA_ARGS__)
#define __shfl_up_sync(...) gpusim_shfl(__LINE__, gpusim_up, __VA_ARGS__)
#define __shfl_down_sync(...) gpusim_shfl(__LINE__, gpusim_down, __VA_ARGS__)
#define __shfl_xor_sync(...) gpusim_shfl(__LINE__, gpusim_xor, __VA_ARGS__)
#define gpusim_votes(mask, p) gpusim_rt->meet(__LINE__, gpusim_ballot, mask, (p) ? 1 : 0, 0)
#ifdef GPUSIM_HIP
// Without a mask the lanes of one width meet: they are those that exchange.
template <class V> inline V gpusim_shfl_wave(int line, gpusim_direction d, V v, int by, int width = warpSize) {
	unsigned long long lanes = width >= 64 ? ~0ull : (1ull << width) - 1;
	return gpusim_shfl(line, d, lanes << gpusim_rt->lane() / width * width, v, by, width);
}
#define __shfl(...) gpusim_shfl_wave(__LINE__, gpusim_index, __VA_ARGS__)
#define __shfl_up(...) gpusim_shfl_wave(__LINE__, gpusim_up, __VA_ARGS__)
#define __shfl_down(...) gpusim_shfl_wave(__LINE__, gpusim_down, __VA_ARGS__)
#define __shfl_xor(...) gpusim_shfl_wave(__LINE__, gpusim_xor, __VA_ARGS__)
#define __ballot(p) gpusim_votes(gpusim_all, p)
#define __any(p) (gpusim_votes(gpusim_all, p) != 0)
#define __ballot_sync(mask, p) gpusim_votes(mask, p)
#else
#define __ballot_sync(mask, p) unsigned(gpusim_votes(mask, p))
#endif
#define __any_sync(mask, p) (gpusim_votes(mask, p) != 0)
#define __all_sync(mask, p) (gpusim_votes(mask, !(p)) == 0)

#include "device.h"
