package device

import "errors"

// ErrMemory reports that a device, or the host, has too little memory left.
var ErrMemory = errors.New("out of memory")

// Accelerator is a GPU. Beside kernels it has what communicators need to move
// GPU memory. Like every Device it is used by the goroutine of its rank. That
// goroutine stays on one thread.
type Accelerator interface {
	Device
	// Platform is "cuda" or "hip". Libraries of that platform understand the
	// addresses and queues of the device.
	Platform() string
	// Index is the number of the device among those that this process sees.
	Index() int
	// Bind makes the device current on the calling thread. Some libraries use
	// the current device.
	Bind() error
	// NewQueue returns a stream that runs beside the kernels.
	NewQueue() (Queue, error)
	// AllocBytes returns the address of n bytes of GPU memory. FreeBytes frees
	// them after all work queued so far.
	AllocBytes(n int) (uintptr, error)
	FreeBytes(addr uintptr)
	// Pin returns n bytes of pinned host memory: copies run at full speed and in
	// the background. Unpin frees it.
	Pin(n int) ([]byte, error)
	Unpin(b []byte)
}

// Queue is a stream of an accelerator. Its work runs in order. Work on two
// queues, or on a queue and kernels, may run at the same time.
type Queue interface {
	// Handle is the cudaStream_t or hipStream_t.
	Handle() uintptr
	// Follow orders work queued from now on after all kernels launched so far.
	// Lead orders kernels launched from now on after all work queued so far.
	// Neither blocks the host.
	Follow() error
	Lead() error
	// CopyOut, CopyIn and Copy queue copies to the host, from the host, and inside
	// the device. Host memory must come from Pin and stay unchanged until the copy
	// is done.
	CopyOut(dst []byte, src uintptr) error
	CopyIn(dst uintptr, src []byte) error
	Copy(dst, src uintptr, n int) error
	// Mark records the end of the work queued so far. Reached reports whether that
	// work is done, or the error that ended it. Marks are reached in order.
	Mark() (uint64, error)
	Reached(mark uint64) (bool, error)
	// Close waits for the work and frees the queue.
	Close() error
}

// DeviceCache holds what a device has made of a description in host memory, such
// as tables copied to a GPU, and that the description was checked. Whoever changes
// the description afterwards calls Clear. A DeviceCache must not be copied once used.
type DeviceCache struct {
	owner   Device
	value   any
	free    func()
	checked bool
}

// Get returns what owner stored here, or nil.
func (k *DeviceCache) Get(owner Device) any {
	if k.owner != owner {
		return nil
	}
	return k.value
}

// Set clears the cache and stores value. free, which may be nil, frees what value
// refers to.
func (k *DeviceCache) Set(owner Device, value any, free func()) {
	checked := k.checked
	k.Clear()
	*k = DeviceCache{owner, value, free, checked}
}

// Clear frees the stored value. The description is checked again at its next use.
func (k *DeviceCache) Clear() {
	if k.free != nil {
		k.free()
	}
	*k = DeviceCache{}
}
