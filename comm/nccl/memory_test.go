package nccl

import (
	"runtime"
	"unsafe"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// memory is an array in GPU memory and its copy on the host.
type memory[T scalar.Element] struct {
	dev   device.Accelerator
	queue device.Queue
	pin   []byte
	addr  uintptr
	n     int
}

func newMemory[T scalar.Element](dev device.Accelerator, values ...T) (*memory[T], error) {
	m := &memory[T]{dev: dev, n: len(values)}
	var err error
	if m.queue, err = dev.NewQueue(); err != nil {
		return nil, err
	}
	size := len(values) * int(unsafe.Sizeof(values[0]))
	if m.pin, err = dev.Pin(size); err != nil {
		return nil, err
	}
	if m.addr, err = dev.AllocBytes(size); err != nil {
		return nil, err
	}
	copy(m.host(), values)
	if err := m.queue.CopyIn(m.addr, m.pin); err != nil {
		return nil, err
	}
	return m, m.wait()
}

// buf returns the array in GPU memory.
func (m *memory[T]) buf() comm.Buf {
	return comm.Buf{DType: scalar.Of[T](), N: m.n, Ptr: *(*unsafe.Pointer)(unsafe.Pointer(&m.addr)), Place: comm.OnDevice}
}

func (m *memory[T]) host() []T { return unsafe.Slice((*T)(unsafe.Pointer(&m.pin[0])), m.n) }

// values copies the array to the host.
func (m *memory[T]) values() ([]T, error) {
	// Results of a communicator are complete before later kernels, and so before this copy.
	if err := m.queue.Follow(); err != nil {
		return nil, err
	}
	if err := m.queue.CopyOut(m.pin, m.addr); err != nil {
		return nil, err
	}
	return m.host(), m.wait()
}

func (m *memory[T]) wait() error {
	mark, err := m.queue.Mark()
	for done := false; err == nil && !done; runtime.Gosched() {
		done, err = m.queue.Reached(mark)
	}
	return err
}
