package commtest

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// deviceMemory copies the vecs of one rank to and from a device. It panics if the device
// fails, because the suite does not test devices.
type deviceMemory struct {
	dev   device.Accelerator
	queue device.Queue
	pin   []byte
	all   map[uintptr]bool // addresses of all allocations
}

const pinned = 1 << 20 // bytes copied at a time

func newDeviceMemory(dev device.Accelerator) *deviceMemory {
	p := &deviceMemory{dev: dev, all: map[uintptr]bool{}}
	var err error
	p.queue, err = dev.NewQueue()
	p.must("queue", err)
	p.pin, err = dev.Pin(pinned)
	p.must("pinned memory", err)
	return p
}

func (p *deviceMemory) must(what string, err error) {
	if err != nil {
		panic(fmt.Sprintf("commtest: %s of %v: %v", what, p.dev, err))
	}
}

func (p *deviceMemory) close() {
	for a := range p.all {
		p.dev.FreeBytes(a)
	}
	p.must("end of the copies", p.queue.Close())
	p.dev.Unpin(p.pin)
}

func (p *deviceMemory) alloc(n int) uintptr {
	a, err := p.dev.AllocBytes(n)
	p.must(fmt.Sprintf("%d bytes", n), err)
	p.all[a] = true
	return a
}

func (p *deviceMemory) free(a uintptr) {
	if a != 0 {
		delete(p.all, a)
		p.dev.FreeBytes(a)
	}
}

func (p *deviceMemory) upload(dst uintptr, src []byte) {
	p.must("order of copies", p.queue.Follow())
	for len(src) > 0 {
		n := copy(p.pin, src)
		p.must("upload", p.queue.CopyIn(dst, p.pin[:n]))
		p.wait()
		src, dst = src[n:], dst+uintptr(n)
	}
	p.must("order of copies", p.queue.Lead())
}

// download waits for the kernels launched so far.
func (p *deviceMemory) download(dst []byte, src uintptr) {
	p.must("order of copies", p.queue.Follow())
	for len(dst) > 0 {
		n := min(len(p.pin), len(dst))
		p.must("download", p.queue.CopyOut(p.pin[:n], src))
		p.wait()
		copy(dst, p.pin[:n])
		dst, src = dst[n:], src+uintptr(n)
	}
}

func (p *deviceMemory) wait() {
	mark, err := p.queue.Mark()
	p.must("mark", err)
	for {
		done, err := p.queue.Reached(mark)
		p.must("copy", err)
		if done {
			return
		}
		runtime.Gosched()
	}
}

// deviceCopy is the device's copy of a vec. Call download before the host uses the vec, and
// upload before a communicator does. Both copy only if necessary.
type deviceCopy struct {
	p     *deviceMemory // nil for a vec in host memory
	addr  uintptr
	size  int  // bytes at addr
	newer bool // the device's copy may be newer than the host's
}

// download updates mem, the host's memory of the vec.
func (t *deviceCopy) download(mem []byte) {
	if t.newer {
		t.p.download(mem, t.addr)
	}
	t.newer = false
}

// upload updates the device's copy from mem and returns its address.
func (t *deviceCopy) upload(mem []byte) uintptr {
	if len(mem) > t.size {
		t.p.free(t.addr)
		t.addr, t.size = t.p.alloc(len(mem)+len(mem)/4), len(mem)+len(mem)/4
	}
	if !t.newer {
		t.p.upload(t.addr, mem)
	}
	t.newer = true
	return t.addr
}

// onDevice returns elements lo to hi of a vec of T.
func onDevice[T scalar.Element](t *deviceCopy, mem []T, lo, hi int) comm.Buf {
	b := comm.Of(mem[lo:hi])
	a := t.upload(bytesOf(mem)) + uintptr(lo)*unsafe.Sizeof(mem[0])
	b.Ptr, b.Place = *(*unsafe.Pointer)(unsafe.Pointer(&a)), comm.OnDevice
	return b
}

func bytesOf[T scalar.Element](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// elements returns a buffer of zeros, for calls that must fail.
func (r *rank) elements(dt scalar.DType, n int) comm.Buf {
	v := r.vec(dt, n)
	v.set(num{})
	return whole(v)
}

func (r *rank) reals(n int) comm.Buf  { return r.elements(scalar.Float64, n) }
func (r *rank) floats(n int) comm.Buf { return r.elements(scalar.Float32, n) }
