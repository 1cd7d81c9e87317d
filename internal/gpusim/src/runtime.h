// What a compiled kernel and the simulator know of each other. The prelude
// includes it in front of every kernel.
#pragma once

struct uint3 {
	unsigned x, y, z;
};

struct dim3 {
	unsigned x, y, z;
	constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

// One block of a launch: what the built-in variables say.
struct gpusim_block {
	uint3 index;
	dim3 size, grid;
	void* shared; // dynamic shared memory
};

// Which operation lanes of a warp meet in.
enum gpusim_meeting { gpusim_shuffle, gpusim_ballot, gpusim_warp };

struct gpusim_runtime {
	// fibers runs body(args) for each thread of a block, writing which one it is to *index.
	void (*fibers)(const gpusim_block* b, uint3* index, void (*body)(const void*), const void* args);
	// sync is __syncthreads at a line of the source.
	void (*sync)(int line);
	// meet waits for the lanes of mask, and returns the value of lane source, or the ballot.
	unsigned long long (*meet)(int line, gpusim_meeting kind, unsigned long long mask, unsigned long long value, int source);
	unsigned (*lane)();
	void (*trap)(int line);
};
