// libcuda.so.1: the CUDA driver by name.
#include "core.h"
#include "names.h"

#include <cstdio>
#include <cstring>

using namespace sim;

static const int warpWidth = 32;

// WITH_CONTEXT is how every call begins that needs a context; WITH_STREAM has
// one of its streams too. WITH_DEVICE is for those about a device.
#define WITH_CONTEXT \
	Context* c = nullptr; \
	if (Status st = enter(&c)) return st
#define WITH_DEVICE(dev) \
	if (!ready()) return notInitialized; \
	if (!primary(dev)) return invalidDevice
#define WITH_STREAM(handle) \
	WITH_CONTEXT; \
	StreamRef s; \
	if (Status st = findStream(c, handle, &s)) return st

static void* ptr(uint64_t p) { return reinterpret_cast<void*>(p); }
static uint64_t addr(void* p) { return reinterpret_cast<uint64_t>(p); }

extern "C" {

int cuInit(unsigned flags) { return flags ? invalidValue : init(); }

int cuDriverGetVersion(int* v) {
	*v = 12040;
	return ok;
}

int cuGetErrorName(int error, const char** name) {
	*name = errorName(error);
	return *name ? ok : invalidValue;
}

int cuGetErrorString(int error, const char** text) {
	*text = errorText(error);
	return *text ? ok : invalidValue;
}

int cuDeviceGetCount(int* n) {
	if (!ready()) return notInitialized;
	*n = deviceCount();
	return ok;
}

int cuDeviceGet(int* dev, int ordinal) {
	WITH_DEVICE(ordinal);
	*dev = ordinal;
	return ok;
}

int cuDeviceGetName(char* name, int len, int dev) {
	WITH_DEVICE(dev);
	snprintf(name, size_t(len), "Simulated GPU");
	return ok;
}

int cuDeviceGetAttribute(int* v, int attribute, int dev) {
	WITH_DEVICE(dev);
	static const std::map<int, int> values = {
	    {1, 1024},         // threads per block
	    {2, 1024},         // block x
	    {3, 1024},         // block y
	    {4, 64},           // block z
	    {5, 0x7fffffff},   // grid x
	    {6, 65535},        // grid y
	    {7, 65535},        // grid z
	    {8, 48 << 10},     // shared memory per block
	    {9, 64 << 10},     // constant memory
	    {10, warpWidth},   // warp
	    {12, 65536},       // registers per block
	    {13, 1000000},     // clock, kHz
	    {15, 1},           // overlap
	    {16, 4},           // multiprocessors
	    {17, 0},           // time limit of kernels
	    {18, 0},           // integrated
	    {19, 1},           // maps host memory
	    {20, 0},           // compute mode
	    {31, 1},           // concurrent kernels
	    {32, 0},           // ECC
	    {34, 0},           // PCI device
	    {36, 1000000},     // memory clock, kHz
	    {37, 512},         // memory bus, bits
	    {38, 4 << 20},     // L2
	    {39, 2048},        // threads per multiprocessor
	    {40, 3},           // copy engines
	    {41, 1},           // unified addressing
	    {50, 0},           // PCI domain
	    {75, 9},           // compute capability 9.0
	    {76, 0},           //
	    {78, 1},           // stream priorities
	    {81, 228 << 10},   // shared memory per multiprocessor
	    {82, 65536},       // registers per multiprocessor
	    {83, 1},           // managed memory
	    {88, 0},           // pageable memory access
	    {95, 1},           // cooperative launch
	    {97, 227 << 10},   // shared memory per block, if asked for
	    {99, 1},           // host memory can be registered
	    {106, 32},         // blocks per multiprocessor
	    {115, 1},          // memory pools
	};
	if (attribute == 33) { // PCI bus
		*v = dev + 1;
		return ok;
	}
	auto it = values.find(attribute);
	if (it == values.end()) return invalidValue;
	*v = it->second;
	return ok;
}

int cuDeviceTotalMem_v2(size_t* n, int dev) {
	WITH_DEVICE(dev);
	*n = deviceMemory();
	return ok;
}

int cuDeviceGetPCIBusId(char* id, int len, int dev) {
	WITH_DEVICE(dev);
	snprintf(id, size_t(len), "0000:%02x:00.0", dev + 1);
	return ok;
}

int cuDeviceGetUuid(char* uuid, int dev) {
	WITH_DEVICE(dev);
	memcpy(uuid, "gpusim-device-", 14);
	uuid[14] = 0;
	uuid[15] = char(dev);
	return ok;
}
int cuDeviceGetUuid_v2(char* uuid, int dev) { return cuDeviceGetUuid(uuid, dev); }

int cuDeviceCanAccessPeer(int* can, int dev, int peer) {
	WITH_DEVICE(dev);
	WITH_DEVICE(peer);
	*can = dev != peer;
	return ok;
}

int cuDevicePrimaryCtxRetain(Context** c, int dev) { return retain(dev, c); }
int cuDevicePrimaryCtxRelease_v2(int dev) { return release(dev); }
int cuDevicePrimaryCtxRelease(int dev) { return release(dev); }

int cuCtxSetCurrent(Context* c) {
	setCurrent(c);
	return ok;
}

int cuCtxGetCurrent(Context** c) {
	*c = current();
	return ok;
}

int cuCtxGetDevice(int* dev) {
	WITH_CONTEXT;
	*dev = c->device;
	return ok;
}

int cuCtxSynchronize() {
	WITH_CONTEXT;
	c->wait();
	return c->sticky;
}

int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
	WITH_CONTEXT;
	*least = 0;
	*greatest = -5;
	return ok;
}

int cuCtxEnablePeerAccess(Context* peer, unsigned flags) {
	WITH_CONTEXT;
	if (flags) return invalidValue;
	if (!peer || peer == c || !peer->retained) return invalidContext;
	std::lock_guard<std::mutex> l(c->mu);
	for (int p : c->peers)
		if (p == peer->device) return peerAlreadyEnabled;
	c->peers.push_back(peer->device);
	return ok;
}

int cuMemGetInfo_v2(size_t* free, size_t* total) {
	WITH_CONTEXT;
	*total = deviceMemory();
	*free = *total - std::min(*total, c->used.load());
	return ok;
}

int cuMemAlloc_v2(uint64_t* p, size_t size) {
	WITH_CONTEXT;
	return allocate(c, size, reinterpret_cast<void**>(p));
}

int cuMemFree_v2(uint64_t p) {
	WITH_CONTEXT;
	return release(c, ptr(p), nullptr);
}

int cuMemAllocAsync(uint64_t* p, size_t size, void* stream) {
	WITH_STREAM(stream);
	return allocate(c, size, reinterpret_cast<void**>(p));
}

int cuMemFreeAsync(uint64_t p, void* stream) {
	WITH_STREAM(stream);
	return p ? release(c, ptr(p), s) : invalidValue;
}

// A pool is the context itself: it keeps nothing, so there is nothing to tune.
int cuDeviceGetDefaultMemPool(Context** pool, int dev) {
	*pool = primary(dev);
	return *pool ? ok : invalidDevice;
}
int cuDeviceGetMemPool(Context** pool, int dev) { return cuDeviceGetDefaultMemPool(pool, dev); }
int cuMemPoolSetAttribute(Context* pool, int attribute, void* value) {
	return pool && attribute >= 1 && attribute <= 8 && value ? ok : invalidValue;
}
int cuMemPoolTrimTo(Context* pool, size_t) { return pool ? ok : invalidValue; }
int cuMemAllocFromPoolAsync(uint64_t* p, size_t size, Context* pool, void* stream) {
	WITH_STREAM(stream);
	return pool ? allocate(pool, size, reinterpret_cast<void**>(p)) : invalidValue;
}

int cuMemHostAlloc(void** p, size_t size, unsigned) {
	WITH_CONTEXT;
	return allocateHost(c, size, p);
}

int cuMemFreeHost(void* p) {
	WITH_CONTEXT;
	return freeHost(p);
}

int cuMemHostGetDevicePointer_v2(uint64_t* d, void* p, unsigned) {
	WITH_CONTEXT;
	if (!isPinned(p, 1)) return invalidValue;
	*d = addr(p);
	return ok;
}

int cuMemHostRegister_v2(void* p, size_t size, unsigned) {
	WITH_CONTEXT;
	return registerHost(c, p, size);
}

int cuMemHostUnregister(void* p) {
	WITH_CONTEXT;
	return unregisterHost(p);
}

int cuMemcpyHtoDAsync_v2(uint64_t dst, const void* src, size_t n, void* stream) {
	WITH_STREAM(stream);
	return copyIn(ptr(dst), src, n, s);
}

int cuMemcpyDtoHAsync_v2(void* dst, uint64_t src, size_t n, void* stream) {
	WITH_STREAM(stream);
	return copyOut(dst, ptr(src), n, s);
}

int cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t n, void* stream) {
	WITH_STREAM(stream);
	return copy(ptr(dst), ptr(src), n, s);
}

int cuMemcpyHtoD_v2(uint64_t dst, const void* src, size_t n) {
	WITH_STREAM(nullptr);
	if (Status st = copyIn(ptr(dst), src, n, s)) return st;
	s->wait();
	return c->sticky;
}

int cuMemcpyDtoH_v2(void* dst, uint64_t src, size_t n) {
	WITH_STREAM(nullptr);
	if (Status st = copyOut(dst, ptr(src), n, s)) return st;
	s->wait();
	return c->sticky;
}

int cuMemcpyPeerAsync(uint64_t dst, Context* to, uint64_t src, Context* from, size_t n, void* stream) {
	WITH_STREAM(stream);
	if (!to || !from) return invalidContext;
	return copy(ptr(dst), ptr(src), n, s);
}

int cuMemsetD8Async(uint64_t dst, unsigned char v, size_t n, void* stream) {
	WITH_STREAM(stream);
	return fill(ptr(dst), v, 1, n, s);
}

int cuMemsetD32Async(uint64_t dst, unsigned v, size_t n, void* stream) {
	WITH_STREAM(stream);
	return fill(ptr(dst), v, 4, n, s);
}

int cuStreamCreate(void** stream, unsigned flags) {
	WITH_CONTEXT;
	return flags > 1 ? invalidValue : createStream(c, flags == 0, stream);
}

int cuStreamCreateWithPriority(void** stream, unsigned flags, int) { return cuStreamCreate(stream, flags); }

int cuStreamDestroy_v2(void* stream) {
	WITH_CONTEXT;
	return destroyStream(stream);
}

int cuStreamSynchronize(void* stream) {
	WITH_STREAM(stream);
	s->wait();
	return c->sticky;
}

int cuStreamQuery(void* stream) {
	WITH_STREAM(stream);
	if (!s->idle()) return notReady;
	return c->sticky;
}

int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
	WITH_STREAM(stream);
	auto e = findEvent(event);
	if (!e) return invalidHandle;
	return flags ? invalidValue : waitEvent(s, e);
}

int cuEventCreate(void** event, unsigned flags) {
	WITH_CONTEXT;
	return flags > 7 ? invalidValue : createEvent(c, !(flags & 2), event);
}

int cuEventDestroy_v2(void* event) {
	WITH_CONTEXT;
	return destroyEvent(event);
}

int cuEventRecord(void* event, void* stream) {
	WITH_STREAM(stream);
	auto e = findEvent(event);
	return e ? record(e, s) : invalidHandle;
}

int cuEventQuery(void* event) {
	WITH_CONTEXT;
	auto e = findEvent(event);
	if (!e) return invalidHandle;
	auto r = e->recording();
	return r && !r->done() ? notReady : Status(c->sticky.load());
}

int cuEventSynchronize(void* event) {
	WITH_CONTEXT;
	auto e = findEvent(event);
	if (!e) return invalidHandle;
	if (auto r = e->recording()) r->wait();
	return c->sticky;
}

int cuEventElapsedTime(float* ms, void* a, void* b) {
	WITH_CONTEXT;
	auto from = findEvent(a), to = findEvent(b);
	return from && to ? elapsed(from, to, ms) : invalidHandle;
}
int cuEventElapsedTime_v2(float* ms, void* a, void* b) { return cuEventElapsedTime(ms, a, b); }

int cuModuleLoadData(void** module, const void* image) {
	WITH_CONTEXT;
	return loadModule(c, image, warpWidth, module);
}

int cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) { return cuModuleLoadData(module, image); }

int cuModuleUnload(void* module) {
	WITH_CONTEXT;
	return unloadModule(module);
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
	WITH_CONTEXT;
	return getFunction(module, name, function);
}

int cuFuncSetAttribute(void* function, int attribute, int value) {
	WITH_CONTEXT;
	Function* f = findFunction(function);
	if (!f) return invalidHandle;
	if (attribute == 9) return ok; // carve-out: a hint
	if (attribute != 8 || value < 0 || value > 227 << 10) return invalidValue;
	f->maxDynamic = value;
	return ok;
}

int cuFuncGetAttribute(int* value, int attribute, void* function) {
	WITH_CONTEXT;
	Function* f = findFunction(function);
	if (!f) return invalidHandle;
	switch (attribute) {
	case 0: *value = 1024; return ok;
	case 1: case 2: case 3: *value = 0; return ok;
	case 4: *value = 32; return ok;
	case 5: case 6: *value = 90; return ok;
	case 8: *value = f->maxDynamic; return ok;
	}
	return invalidValue;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int size, size_t dynamic) {
	WITH_CONTEXT;
	if (!findFunction(function)) return invalidHandle;
	if (size <= 0) return invalidValue;
	int n = size > 1024 ? 0 : std::min(2048 / size, 32);
	if (dynamic) n = std::min(n, int((228u << 10) / dynamic));
	*blocks = n;
	return ok;
}

int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned dynamic,
                   void* stream, void** params, void** extra) {
	WITH_STREAM(stream);
	Function* f = findFunction(function);
	if (!f) return invalidHandle;
	return launch(c, f, Dim{gx, gy, gz}, Dim{bx, by, bz}, dynamic, s, params, extra);
}

} // extern "C"
