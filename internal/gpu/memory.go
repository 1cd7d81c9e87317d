package gpu

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
)

// pool caches freed GPU memory by size, because the driver's calls are slow and wait
// for kernels. Kernels run in order, so freed memory is reused at once, even if
// kernels still use it. Memory that a queue may still use waits for that queue.
type pool struct {
	sizes    map[uintptr]int   // of memory in use
	free     map[int][]uintptr // by size
	deferred []deferredFree    // freed, but a queue may use it
	cached   int               // bytes in free and deferred
	pins     map[uintptr]bool  // pinned host memory
}

// deferredFree is memory that becomes free when queues have reached their marks.
type deferredFree struct {
	addr  uintptr
	size  int
	after []queueMark
}

type queueMark struct {
	q    *Queue
	mark uint64
}

func (p *pool) init() {
	p.sizes, p.free, p.pins = map[uintptr]int{}, map[int][]uintptr{}, map[uintptr]bool{}
}

const alignment = 256

// blockSize rounds n bytes up to the size of a block. Small blocks come in steps of a
// quarter of a power of two, large ones in pages of the device.
func blockSize(n int) int {
	const large, page = 64 << 20, 2 << 20
	switch {
	case n <= alignment:
		return alignment
	case n >= large:
		return (n + page - 1) &^ (page - 1)
	}
	step := max(alignment, 1<<(bits.Len(uint(n-1))-3))
	return (n + step - 1) &^ (step - 1)
}

// alloc returns n bytes that are not zeroed. used says that kernels under way may
// still use them.
func (d *Device) alloc(n int) (addr uintptr, used bool, err error) {
	if err := d.takeErr(); err != nil {
		return 0, false, err
	}
	p, size := &d.pool, blockSize(n)
	d.freeReclaimed()
	if len(p.free[size]) == 0 && len(p.deferred) > 0 {
		d.sweep()
	}
	if l := p.free[size]; len(l) > 0 {
		addr = l[len(l)-1]
		p.free[size] = l[:len(l)-1]
		p.cached -= size
		p.sizes[addr] = size
		return addr, true, nil
	}
	d.enter()
	defer d.leave()
	at := new(uintptr)
	r := d.drv.MemAlloc.Call(dl.Pointer(at), uintptr(size))
	if r == codeOutOfMemory && (d.collectGarbage() || p.cached > 0) {
		if err := d.Trim(); err != nil {
			return 0, false, err
		}
		r = d.drv.MemAlloc.Call(dl.Pointer(at), uintptr(size))
	}
	if r == codeOutOfMemory {
		return 0, false, d.outOfMemory(n)
	}
	if r != ok {
		return 0, false, fmt.Errorf("alloc %s on %v: %w", device.BytesText(n), d, d.drv.fault(r))
	}
	p.sizes[*at] = size
	return *at, false, nil
}

// outOfMemory is the error of an allocation of n bytes.
func (d *Device) outOfMemory(n int) error {
	inUse := 0
	for _, size := range d.pool.sizes {
		inUse += size
	}
	free, total := d.memory()
	return fmt.Errorf("alloc %s on %v: %s of %s are free and %s are this rank's: use smaller blocks (more ranks, each with a GPU) or end other programs on that GPU: %w",
		device.BytesText(n), d, device.BytesText(free), device.BytesText(total), device.BytesText(inUse), device.ErrMemory)
}

// Memory returns the free and the total bytes of GPU memory. Memory that the pool
// caches counts as free.
func (d *Device) Memory() (free, total int) {
	d.enter()
	defer d.leave()
	free, total = d.memory()
	return free + d.pool.cached, total
}

func (d *Device) memory() (free, total int) {
	v := new([2]uintptr)
	if d.drv.MemInfo.Call(dl.Pointer(&v[0]), dl.Pointer(&v[1])) != ok {
		return 0, d.info.Memory
	}
	return int(v[0]), int(v[1])
}

// release returns memory of alloc to the pool.
func (d *Device) release(addr uintptr) {
	p := &d.pool
	size := p.sizes[addr]
	if size == 0 || d.context == 0 {
		return
	}
	delete(p.sizes, addr)
	p.cached += size
	var wait []queueMark
	for _, q := range d.queues {
		if !q.idle() {
			if mark, err := q.Mark(); err == nil {
				wait = append(wait, queueMark{q, mark})
			}
		}
	}
	if wait != nil {
		p.deferred = append(p.deferred, deferredFree{addr, size, wait})
		return
	}
	p.free[size] = append(p.free[size], addr)
}

// sweep frees deferred memory that no queue uses any more.
func (d *Device) sweep() {
	p := &d.pool
	left := p.deferred[:0]
next:
	for _, l := range p.deferred {
		for _, a := range l.after {
			if done, err := a.q.Reached(a.mark); !done && err == nil {
				left = append(left, l)
				continue next
			}
		}
		p.free[l.size] = append(p.free[l.size], l.addr)
	}
	clear(p.deferred[len(left):])
	p.deferred = left
}

// Trim waits for kernels and returns cached memory to the driver, for other
// libraries and other processes.
func (d *Device) Trim() error {
	if err := d.wait(context.Background(), target{}); err != nil {
		return err
	}
	for _, l := range d.pool.deferred {
		for _, a := range l.after {
			if err := a.q.await(a.mark); err != nil {
				return err
			}
		}
	}
	d.sweep()
	d.enter()
	defer d.leave()
	d.freeCached()
	return nil
}

func (d *Device) freeCached() {
	for size, l := range d.pool.free {
		for _, addr := range l {
			d.drv.MemFree.Call(addr)
			d.pool.cached -= size
		}
		delete(d.pool.free, size)
	}
}

// freeAll returns all memory to the driver, also memory in use.
func (d *Device) freeAll() {
	d.freeCached()
	for _, l := range d.pool.deferred {
		d.drv.MemFree.Call(l.addr)
	}
	for addr := range d.pool.sizes {
		d.drv.MemFree.Call(addr)
	}
	for addr := range d.pool.pins {
		d.drv.HostFree.Call(addr)
	}
	d.pool = pool{}
}

// AllocBytes implements device.Accelerator. It waits for kernels that may still use
// the memory, so the caller may pass it to a queue at once.
func (d *Device) AllocBytes(n int) (uintptr, error) {
	addr, used, err := d.alloc(n)
	if err == nil && used {
		if err = d.wait(context.Background(), target{}); err != nil {
			d.release(addr)
			return 0, err
		}
	}
	return addr, err
}

// FreeBytes implements device.Accelerator.
func (d *Device) FreeBytes(addr uintptr) { d.release(addr) }

// Pin implements device.Accelerator.
func (d *Device) Pin(n int) ([]byte, error) {
	if err := d.takeErr(); err != nil {
		return nil, err
	}
	d.enter()
	defer d.leave()
	at := new(uintptr)
	if r := d.drv.HostAlloc.Call(dl.Pointer(at), uintptr(max(n, 1)), mappedToAll); r != ok {
		return nil, fmt.Errorf("%s: pin %s of host memory: %w; the limit of locked memory may be too low (ulimit -l)",
			d.p.Name, device.BytesText(n), d.drv.fault(r))
	}
	d.pool.pins[*at] = true
	return hostBytes(*at, n), nil
}

// Unpin implements device.Accelerator.
func (d *Device) Unpin(b []byte) {
	addr := addrOf(b)
	if !d.pool.pins[addr] {
		return
	}
	delete(d.pool.pins, addr)
	d.enter()
	defer d.leave()
	d.drv.HostFree.Call(addr)
}
