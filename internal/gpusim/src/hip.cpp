// libamdhip64.so.6: the HIP runtime by name, over the CUDA driver of this
// simulator. HIP starts by itself, and a thread that has chosen no device is on
// device 0.
#include "core.h"
#include "names.h"

#pragma GCC visibility push(hidden)
#include "cuda.cpp"
#pragma GCC visibility pop

static const int waveWidth = 64;
static const int localMemory = 64 << 10; // shared memory of a block

static Status onDevice(int device) {
	if (!ready())
		if (Status st = init()) return st;
	Context* c = primary(device);
	if (!c) return invalidDevice;
	if (!c->retained)
		if (Status st = retain(device, &c)) return st;
	setCurrent(c);
	return ok;
}

// HERE is how every call begins that works on the thread's device.
#define HERE \
	if (!current() || !current()->retained) \
		if (Status st = onDevice(current() ? current()->device : 0)) return st

static uint64_t at(const void* p) { return reinterpret_cast<uint64_t>(p); }

extern "C" {

int hipInit(unsigned flags) { return cuInit(flags); }

int hipDriverGetVersion(int* v) {
	*v = 60342134; // 6.3
	return ok;
}
int hipRuntimeGetVersion(int* v) { return hipDriverGetVersion(v); }

int hipDrvGetErrorName(int error, const char** name) {
	*name = hipErrorName(error);
	return *name ? ok : invalidValue;
}
int hipDrvGetErrorString(int error, const char** text) { return cuGetErrorString(error, text); }
const char* hipGetErrorName(int error) {
	auto* name = hipErrorName(error);
	return name ? name : "hipErrorUnknown";
}
const char* hipGetErrorString(int error) {
	auto* text = errorText(error);
	return text ? text : "unknown error";
}

int hipGetDeviceCount(int* n) {
	*n = deviceCount();
	return *n ? ok : noDevice;
}
int hipDeviceGet(int* dev, int ordinal) {
	if (!primary(ordinal)) return invalidDevice;
	*dev = ordinal;
	return ok;
}
int hipDeviceGetName(char* name, int len, int dev) {
	HERE;
	return cuDeviceGetName(name, len, dev);
}
// Of the properties, only the names: of the device and of its architecture, where
// the layout of ROCm 6 has them.
int hipGetDevicePropertiesR0600(char* props, int dev) {
	HERE;
	memset(props, 0, 1472);
	strcpy(props + 1160, "gfx90a:sramecc+:xnack-");
	return cuDeviceGetName(props, 256, dev);
}
int hipDeviceTotalMem(size_t* n, int dev) {
	HERE;
	return cuDeviceTotalMem_v2(n, dev);
}
int hipDeviceGetPCIBusId(char* id, int len, int dev) {
	HERE;
	return cuDeviceGetPCIBusId(id, len, dev);
}
int hipDeviceGetUuid(char* uuid, int dev) {
	HERE;
	return cuDeviceGetUuid(uuid, dev);
}
int hipDeviceCanAccessPeer(int* can, int dev, int peer) {
	HERE;
	return cuDeviceCanAccessPeer(can, dev, peer);
}

int hipDeviceGetAttribute(int* v, int attribute, int dev) {
	if (!primary(dev)) return invalidDevice;
	static const std::map<int, int> values = {
	    {2, 2},            // copy engines
	    {3, 1},            // maps host memory
	    {5, 1700000},      // clock, kHz
	    {8, 1},            // concurrent kernels
	    {10, 1},           // cooperative launch
	    {16, 0},           // integrated
	    {19, 8 << 20},     // L2
	    {23, 9},           // gfx9...
	    {26, 1024},        // block x
	    {27, 1024},        // block y
	    {28, 1024},        // block z
	    {29, 0x7fffffff},  // grid x
	    {30, 65536},       // grid y
	    {31, 65536},       // grid z
	    {56, 1024},        // threads per block
	    {57, 2048},        // threads per multiprocessor
	    {59, 4096},        // memory bus, bits
	    {60, 1600000},     // memory clock, kHz
	    {61, 0},           // minor version
	    {63, 4},           // multiprocessors
	    {68, 0},           // PCI device
	    {69, 0},           // PCI domain
	    {71, 65536},       // registers per block
	    {74, localMemory}, // shared memory per block
	    {76, localMemory}, // shared memory per multiprocessor
	    {85, 1},           // unified addressing
	    {87, waveWidth},   // warp
	    {88, 1},           // memory pools
	};
	if (attribute == 67) { // PCI bus
		*v = dev + 1;
		return ok;
	}
	auto it = values.find(attribute);
	if (it == values.end()) return invalidValue;
	*v = it->second;
	return ok;
}

int hipSetDevice(int dev) { return onDevice(dev); }
int hipGetDevice(int* dev) {
	HERE;
	*dev = current()->device;
	return ok;
}
int hipDevicePrimaryCtxRetain(Context** c, int dev) {
	if (!ready())
		if (Status st = init()) return st;
	return retain(dev, c);
}
int hipDevicePrimaryCtxRelease(int dev) { return release(dev); }
int hipCtxSetCurrent(Context* c) { return cuCtxSetCurrent(c); }
int hipCtxGetCurrent(Context** c) { return cuCtxGetCurrent(c); }
int hipDeviceSynchronize() {
	HERE;
	return cuCtxSynchronize();
}

int hipMemGetInfo(size_t* free, size_t* total) {
	HERE;
	return cuMemGetInfo_v2(free, total);
}
int hipMalloc(void** p, size_t size) {
	HERE;
	*p = nullptr;
	return size ? cuMemAlloc_v2(reinterpret_cast<uint64_t*>(p), size) : int(ok);
}
int hipFree(void* p) {
	HERE;
	return p ? cuMemFree_v2(at(p)) : int(ok);
}
int hipMallocAsync(void** p, size_t size, void* stream) {
	HERE;
	return cuMemAllocAsync(reinterpret_cast<uint64_t*>(p), size, stream);
}
int hipFreeAsync(void* p, void* stream) {
	HERE;
	return cuMemFreeAsync(at(p), stream);
}
int hipHostMalloc(void** p, size_t size, unsigned flags) {
	HERE;
	return cuMemHostAlloc(p, size, flags);
}
int hipHostFree(void* p) {
	HERE;
	return p ? cuMemFreeHost(p) : int(ok);
}
int hipHostGetDevicePointer(void** d, void* p, unsigned flags) {
	HERE;
	return cuMemHostGetDevicePointer_v2(reinterpret_cast<uint64_t*>(d), p, flags);
}
int hipHostRegister(void* p, size_t size, unsigned flags) {
	HERE;
	return cuMemHostRegister_v2(p, size, flags);
}
int hipHostUnregister(void* p) {
	HERE;
	return cuMemHostUnregister(p);
}

int hipMemcpyHtoDAsync(void* dst, void* src, size_t n, void* stream) {
	HERE;
	return cuMemcpyHtoDAsync_v2(at(dst), src, n, stream);
}
int hipMemcpyDtoHAsync(void* dst, void* src, size_t n, void* stream) {
	HERE;
	return cuMemcpyDtoHAsync_v2(dst, at(src), n, stream);
}
int hipMemcpyDtoDAsync(void* dst, void* src, size_t n, void* stream) {
	HERE;
	return cuMemcpyDtoDAsync_v2(at(dst), at(src), n, stream);
}
int hipMemcpyPeerAsync(void* dst, int to, const void* src, int from, size_t n, void* stream) {
	HERE;
	if (!primary(to) || !primary(from)) return invalidDevice;
	return cuMemcpyDtoDAsync_v2(at(dst), at(src), n, stream);
}
int hipMemsetD8Async(void* dst, unsigned char v, size_t n, void* stream) {
	HERE;
	return cuMemsetD8Async(at(dst), v, n, stream);
}
int hipMemsetD32Async(void* dst, int v, size_t n, void* stream) {
	HERE;
	return cuMemsetD32Async(at(dst), unsigned(v), n, stream);
}

int hipStreamCreateWithFlags(void** stream, unsigned flags) {
	HERE;
	return cuStreamCreate(stream, flags);
}
int hipStreamCreateWithPriority(void** stream, unsigned flags, int) { return hipStreamCreateWithFlags(stream, flags); }
int hipStreamDestroy(void* stream) {
	HERE;
	return cuStreamDestroy_v2(stream);
}
int hipStreamSynchronize(void* stream) {
	HERE;
	return cuStreamSynchronize(stream);
}
int hipStreamQuery(void* stream) {
	HERE;
	return cuStreamQuery(stream);
}
int hipStreamWaitEvent(void* stream, void* event, unsigned flags) {
	HERE;
	return cuStreamWaitEvent(stream, event, flags);
}
int hipEventCreateWithFlags(void** event, unsigned flags) {
	HERE;
	return cuEventCreate(event, flags & 7); // HIP has more of them
}
int hipEventDestroy(void* event) {
	HERE;
	return cuEventDestroy_v2(event);
}
int hipEventRecord(void* event, void* stream) {
	HERE;
	return cuEventRecord(event, stream);
}
int hipEventQuery(void* event) {
	HERE;
	return cuEventQuery(event);
}
int hipEventSynchronize(void* event) {
	HERE;
	return cuEventSynchronize(event);
}
int hipEventElapsedTime(float* ms, void* a, void* b) {
	HERE;
	return cuEventElapsedTime(ms, a, b);
}

int hipModuleLoadData(void** module, const void* image) {
	HERE;
	WITH_CONTEXT;
	return loadModule(c, image, waveWidth, module);
}
int hipModuleUnload(void* module) {
	HERE;
	return cuModuleUnload(module);
}
int hipModuleGetFunction(void** function, void* module, const char* name) {
	HERE;
	if (int st = cuModuleGetFunction(function, module, name)) return st;
	static_cast<Function*>(*function)->maxDynamic = localMemory;
	return ok;
}
int hipFuncSetAttribute(const void*, int, int) { return ok; } // a hint, which AMD ignores

// A grid counts threads in 32 bits on AMD.
int hipModuleLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned dynamic,
                          void* stream, void** params, void** extra) {
	HERE;
	if (uint64_t(gx) * bx > 0xffffffffu || uint64_t(gy) * by > 0xffffffffu || uint64_t(gz) * bz > 0xffffffffu) return invalidValue;
	return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, dynamic, stream, params, extra);
}

} // extern "C"
