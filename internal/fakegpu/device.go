// Package fakegpu is a device for tests on machines without a GPU. It hides host memory
// as GPU memory. Code that reads it without the device fails.
package fakegpu

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Device hides the memory of another device, which must be the host.
type Device struct {
	device.Device
	Live   int // allocations that have not been given back
	Bytes  int // of them
	Peak   int // the most that Bytes has been
	Waits  int // how often the host waited for a result
	Spare  int // allocations until memory is short, if positive
	f32    *kernels[float32, float32]
	f64    *kernels[float64, float64]
	c64    *kernels[complex64, float32]
	c128   *kernels[complex128, float64]
	blocks map[uintptr]any // what keeps memory from the collector, by address
	mu     sync.Mutex
	drops  []func() // of memory that was abandoned
}

// New returns d with its memory hidden.
func New(d device.Device) (*Device, error) {
	h := &Device{Device: d, blocks: map[uintptr]any{}}
	var err error
	if h.f32, err = newKernels[float32, float32](h); err != nil {
		return nil, err
	}
	if h.f64, err = newKernels[float64, float64](h); err != nil {
		return nil, err
	}
	if h.c64, err = newKernels[complex64, float32](h); err != nil {
		return nil, err
	}
	h.c128, err = newKernels[complex128, float64](h)
	return h, err
}

// Kernels implements device.Device.
func (d *Device) Kernels(dt scalar.DType) any {
	switch dt {
	case scalar.Float32:
		return d.f32
	case scalar.Float64:
		return d.f64
	case scalar.Complex64:
		return d.c64
	case scalar.Complex128:
		return d.c128
	}
	return nil
}

// Info implements device.Device. The device has what GPUs have.
func (d *Device) Info() device.Info {
	i := d.Device.Info()
	i.AsyncSums = true
	return i
}

// Sync implements device.Device.
func (d *Device) Sync(ctx context.Context) error {
	d.Waits++
	return d.Device.Sync(ctx)
}

func (d *Device) String() string { return fmt.Sprintf("hidden %v", d.Device) }

type kernels[T scalar.Scalar, F float32 | float64] struct {
	device.Kernels[T]
	d *Device
}

func newKernels[T scalar.Scalar, F float32 | float64](d *Device) (*kernels[T, F], error) {
	k, err := device.KernelsFor[T](d.Device)
	return &kernels[T, F]{k, d}, err
}

// must panics if the host's kernel fails, which it never does.
func (d *Device) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("fakegpu: %v: %v", d, err))
	}
}

// Reclaim implements device.Reclaimer.
func (k *kernels[T, F]) Reclaim(m device.Mem[T]) {
	k.d.mu.Lock()
	defer k.d.mu.Unlock()
	k.d.drops = append(k.d.drops, func() { k.Free(m) })
}

// drop gives back what was abandoned.
func (d *Device) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.drops {
		f()
	}
	d.drops = nil
}

func (k *kernels[T, F]) Alloc(n int) (device.Mem[T], error) {
	k.d.drop()
	if k.d.Spare > 0 {
		if k.d.Spare--; k.d.Spare == 0 {
			return device.Mem[T]{}, fmt.Errorf("%d %v: %w", n, scalar.Of[T](), device.ErrMemory)
		}
	}
	if n == 0 {
		return device.Mem[T]{}, nil
	}
	m, err := k.Kernels.Alloc(n)
	if err != nil {
		return m, err
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(m.Host)))
	k.d.blocks[at] = m
	k.d.Live++
	k.d.Bytes += n * scalar.Of[T]().Size()
	k.d.Peak = max(k.d.Peak, k.d.Bytes)
	return device.Mem[T]{Addr: at, N: n}, nil
}

// Free spoils the memory, so that whoever still reads it sees.
func (k *kernels[T, F]) Free(m device.Mem[T]) {
	if m.N == 0 {
		return
	}
	if _, ok := k.d.blocks[m.Addr]; !ok {
		panic(fmt.Sprintf("fakegpu: free of %d elements that Alloc did not return, or free again", m.N))
	}
	var zero T
	k.Kernels.Fill(m, zero/zero)
	delete(k.d.blocks, m.Addr)
	k.d.Live--
	k.d.Bytes -= m.N * scalar.Of[T]().Size()
}

func (k *kernels[T, F]) Slice(m device.Mem[T], lo, hi int) device.Mem[T] {
	if lo < 0 || hi < lo || hi > m.N {
		panic("fakegpu: slice bounds out of range")
	}
	if lo == hi {
		return device.Mem[T]{}
	}
	return device.Mem[T]{Addr: m.Addr + uintptr(lo)*unsafe.Sizeof(*new(T)), N: hi - lo}
}
