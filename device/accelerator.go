package device

import (
	"errors"

	"github.com/golops/golops/scalar"
)

// ErrMemory reports that a device, or the host, has too little memory left.
var ErrMemory = errors.New("out of memory")

// Accelerator is a device with memory of its own, such as a GPU. Beside kernels
// it has what communicators need to move that memory. Like all of a Device, it
// is for the goroutine of its rank, which stays on one thread.
type Accelerator interface {
	Device
	// Platform names the libraries that understand its addresses and queues:
	// "cuda" or "hip".
	Platform() string
	// Index is the number of the device among those this process sees.
	Index() int
	// Bind makes the device current on the calling thread, for libraries that
	// ask the thread.
	Bind() error
	// NewQueue returns a line of work that runs beside the kernels.
	NewQueue() (Queue, error)
	// AllocBytes returns the address of n bytes on the device; FreeBytes gives
	// them back after all work queued so far.
	AllocBytes(n int) (uintptr, error)
	FreeBytes(addr uintptr)
	// Pin returns n bytes of host memory that copies reach at full speed and in
	// the background; Unpin gives them back.
	Pin(n int) ([]byte, error)
	Unpin(b []byte)
}

// Queue is a line of work on an accelerator, done in order: a stream. Work on
// two queues, or on a queue and kernels, may run at the same time.
type Queue interface {
	// Handle is the cudaStream_t or hipStream_t.
	Handle() uintptr
	// Follow lets work that is queued from now on start after all kernels
	// launched so far; Lead lets kernels launched from now on start after all
	// work queued so far. Neither waits on the host.
	Follow() error
	Lead() error
	// CopyOut, CopyIn and Copy queue copies to the host, from it, and inside the
	// device. Host memory must be of Pin and stay as it is until they are done.
	CopyOut(dst []byte, src uintptr) error
	CopyIn(dst uintptr, src []byte) error
	Copy(dst, src uintptr, n int) error
	// Mark notes the work queued so far; Reached reports whether it is done, or
	// the error that ended it. Marks are reached in order.
	Mark() (uint64, error)
	Reached(mark uint64) (bool, error)
	// Close waits for the work and gives the queue back.
	Close() error
}

// Reclaimer is for devices whose memory the collector does not see. Kernels may
// implement it: package array tells them of memory that nobody can reach.
type Reclaimer[T scalar.Scalar] interface {
	// Reclaim gives memory of Alloc back, as Free does, at the next Alloc. Unlike
	// all else of a Device it may be called from any goroutine, also when the
	// Device is closed.
	Reclaim(m Mem[T])
}

// DeviceCache is where a device keeps its own form of what a caller describes in host
// memory, such as tables copied to a GPU. Whoever changes the description
// afterwards calls Forget. A Kept must not be copied once used.
type DeviceCache struct {
	owner Device
	value  any
	free  func()
}

// Get returns what owner keeps here, or nil.
func (k *DeviceCache) Get(owner Device) any {
	if k.owner != owner {
		return nil
	}
	return k.value
}

// Set stores what owner made, in place of what was here. drop, which may be
// nil, gives it back.
func (k *DeviceCache) Set(owner Device, what any, drop func()) {
	k.Clear()
	k.owner, k.value, k.free = owner, what, drop
}

// Clear gives back what is kept.
func (k *DeviceCache) Clear() {
	if k.free != nil {
		k.free()
	}
	*k = DeviceCache{}
}
