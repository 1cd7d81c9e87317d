package gpu

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/golops/golops/internal/dl"
)

// driver is the driver library and its functions.
type driver struct {
	p       *Platform
	folder  string
	lib     *dl.Lib
	version int32

	Init       dl.Func `cuda:"cuInit" hip:"hipInit"`
	GetVersion dl.Func `cuda:"cuDriverGetVersion" hip:"hipDriverGetVersion"`
	Count      dl.Func `cuda:"cuDeviceGetCount" hip:"hipGetDeviceCount"`
	Device     dl.Func `cuda:"cuDeviceGet" hip:"hipDeviceGet"`
	DeviceName dl.Func `cuda:"cuDeviceGetName" hip:"hipDeviceGetName"`
	TotalMem   dl.Func `cuda:"cuDeviceTotalMem_v2" hip:"hipDeviceTotalMem"`
	Attribute  dl.Func `cuda:"cuDeviceGetAttribute" hip:"hipDeviceGetAttribute"`
	UUID       dl.Func `cuda:"cuDeviceGetUuid_v2,cuDeviceGetUuid,optional" hip:"hipDeviceGetUuid,optional"`
	Properties dl.Func `hip:"hipGetDevicePropertiesR0600,hipGetDeviceProperties,optional"`
	ErrorName  dl.Func `cuda:"cuGetErrorName,optional" hip:"hipDrvGetErrorName,optional"`
	ErrorText  dl.Func `cuda:"cuGetErrorString,optional" hip:"hipDrvGetErrorString,optional"`

	Retain     dl.Func `cuda:"cuDevicePrimaryCtxRetain" hip:"hipDevicePrimaryCtxRetain"`
	Release    dl.Func `cuda:"cuDevicePrimaryCtxRelease_v2,cuDevicePrimaryCtxRelease" hip:"hipDevicePrimaryCtxRelease"`
	SetCurrent dl.Func `cuda:"cuCtxSetCurrent" hip:"hipSetDevice"`

	StreamCreate  dl.Func `cuda:"cuStreamCreate" hip:"hipStreamCreateWithFlags"`
	StreamDestroy dl.Func `cuda:"cuStreamDestroy_v2" hip:"hipStreamDestroy"`
	StreamQuery   dl.Func `cuda:"cuStreamQuery" hip:"hipStreamQuery"`
	StreamWait    dl.Func `cuda:"cuStreamWaitEvent" hip:"hipStreamWaitEvent"`
	EventCreate   dl.Func `cuda:"cuEventCreate" hip:"hipEventCreateWithFlags"`
	EventDestroy  dl.Func `cuda:"cuEventDestroy_v2" hip:"hipEventDestroy"`
	EventRecord   dl.Func `cuda:"cuEventRecord" hip:"hipEventRecord"`
	EventQuery    dl.Func `cuda:"cuEventQuery" hip:"hipEventQuery"`
	EventElapsed  dl.Func `cuda:"cuEventElapsedTime,cuEventElapsedTime_v2" hip:"hipEventElapsedTime"`

	MemInfo     dl.Func `cuda:"cuMemGetInfo_v2" hip:"hipMemGetInfo"`
	MemAlloc    dl.Func `cuda:"cuMemAlloc_v2" hip:"hipMalloc"`
	MemFree     dl.Func `cuda:"cuMemFree_v2" hip:"hipFree"`
	HostAlloc   dl.Func `cuda:"cuMemHostAlloc" hip:"hipHostMalloc"`
	HostFree    dl.Func `cuda:"cuMemFreeHost" hip:"hipHostFree"`
	HostAddress dl.Func `cuda:"cuMemHostGetDevicePointer_v2" hip:"hipHostGetDevicePointer"`
	CopyIn      dl.Func `cuda:"cuMemcpyHtoDAsync_v2" hip:"hipMemcpyHtoDAsync"`
	CopyOut     dl.Func `cuda:"cuMemcpyDtoHAsync_v2" hip:"hipMemcpyDtoHAsync"`
	Copy        dl.Func `cuda:"cuMemcpyDtoDAsync_v2" hip:"hipMemcpyDtoDAsync"`
	Set8        dl.Func `cuda:"cuMemsetD8Async" hip:"hipMemsetD8Async"`

	ModuleLoad   dl.Func `cuda:"cuModuleLoadData" hip:"hipModuleLoadData"`
	ModuleUnload dl.Func `cuda:"cuModuleUnload" hip:"hipModuleUnload"`
	Function     dl.Func `cuda:"cuModuleGetFunction" hip:"hipModuleGetFunction"`
	Launch       dl.Func `cuda:"cuLaunchKernel" hip:"hipModuleLaunchKernel"`
	// AMD's kernels may use all shared memory without it.
	FunctionSet dl.Func `cuda:"cuFuncSetAttribute,optional"`
}

// Result codes of the driver, the same for CUDA and HIP.
const (
	ok              = 0
	codeOutOfMemory = 2
	codeNoDevice    = 100
	codeNotReady    = 600
	attrSharedSize  = 8 // cuFuncSetAttribute's number for dynamic shared memory
)

// Flags, the same for CUDA and HIP.
const (
	nonBlocking   = 1 // streams: do not wait for the default stream
	noTiming      = 2 // events: record no time
	mappedToAll   = 3 // host memory: portable and mapped into the device
	versionFactor = 1000
)

// openDriver opens the driver and starts it.
func openDriver(p *Platform, folder string) (*driver, error) {
	drv := &driver{p: p, folder: folder}
	var err error
	if drv.lib, err = p.open(p.driver, 0, folder); err != nil {
		return nil, fmt.Errorf("%s: no driver: %w", p.Name, err)
	}
	if err := p.bind(drv.lib, drv); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	runtime.LockOSThread() // HIP keeps errors per thread
	defer runtime.UnlockOSThread()
	switch r := drv.Init.Call(0); r {
	case ok:
	case codeNoDevice:
		return nil, fmt.Errorf("%s: the driver %s sees no device (CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES and a container may hide it)",
			p.Name, drv.lib.Path)
	default:
		return nil, fmt.Errorf("start the driver %s: %w", drv.lib.Path, drv.fault(r))
	}
	v := new(int32)
	if r := drv.GetVersion.Call(dl.Pointer(v)); r != ok {
		return nil, fmt.Errorf("version of the driver %s: %w", drv.lib.Path, drv.fault(r))
	}
	drv.version = *v
	return drv, nil
}

// contexts are the contexts that this process keeps, by driver and device.
var contexts struct {
	sync.Mutex
	kept map[string]bool
}

// keepContext holds the context of a device until the process ends. Otherwise it would go
// with the last rank that closes the device. Libraries such as cuFFT keep what belongs to a
// context for the whole process, and a new context takes a tenth of a second.
func (drv *driver) keepContext(device int32) error {
	contexts.Lock()
	defer contexts.Unlock()
	key := fmt.Sprintf("%s:%d", drv.lib.Path, device)
	if contexts.kept[key] {
		return nil
	}
	if r := drv.Retain.Call(dl.Pointer(new(uintptr)), uintptr(device)); r != ok {
		return fmt.Errorf("its context: %w", drv.fault(r))
	}
	if contexts.kept == nil {
		contexts.kept = map[string]bool{}
	}
	contexts.kept[key] = true
	return nil
}

// major is the major version of the driver's toolkit. HIP's version number has it in
// units of ten million.
func (drv *driver) major() int {
	if drv.version >= 10_000_000 {
		return int(drv.version / 10_000_000)
	}
	return int(drv.version / versionFactor)
}

// versionText formats the version, such as "12.4".
func (drv *driver) versionText() string {
	if v := drv.version; v >= 10_000_000 {
		return fmt.Sprintf("%d.%d.%d", v/10_000_000, v/100_000%100, v%100_000)
	}
	return fmt.Sprintf("%d.%d", drv.version/versionFactor, drv.version%versionFactor/10)
}

// count returns the number of devices.
func (drv *driver) count() (int, error) {
	n := new(int32)
	if r := drv.Count.Call(dl.Pointer(n)); r != ok && r != codeNoDevice {
		return 0, fmt.Errorf("count devices: %w", drv.fault(r))
	}
	return int(*n), nil
}

// attribute returns an attribute of a device, 0 if it is unknown.
func (drv *driver) attribute(number uintptr, dev int32) int {
	v := new(int32)
	if drv.Attribute.Call(dl.Pointer(v), number, uintptr(dev)) != ok {
		return 0
	}
	return int(*v)
}

// fault is an error code of the driver with its name and text.
type fault struct {
	platform   string
	code       int32
	name, text string
}

func (e *fault) Error() string {
	s := fmt.Sprintf("%s: error %d", e.platform, e.code)
	if e.name != "" {
		s += " (" + e.name + ")"
	}
	if e.text != "" {
		s += ": " + e.text
	}
	if e.code == 803 || e.code == 804 || e.code == 35 {
		s += ": the kernel module is older than the driver library; reboot or install the matching driver"
	}
	return s
}

func (drv *driver) fault(code int32) error {
	e := &fault{platform: drv.p.Name, code: code}
	for _, q := range []struct {
		f  dl.Func
		to *string
	}{{drv.ErrorName, &e.name}, {drv.ErrorText, &e.text}} {
		if at := new(uintptr); q.f != 0 && q.f.Call(uintptr(code), dl.Pointer(at)) == ok {
			*q.to = strings.TrimSpace(dl.CString(*at))
		}
	}
	return e
}
