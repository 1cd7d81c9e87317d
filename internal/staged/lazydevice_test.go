package staged

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// lazy is an accelerator that copies nothing until somebody waits for it. Unless it is bare, the
// host cannot read its addresses. So tests find a copy that is not waited for, a wait in the
// wrong order, and a read of GPU memory by the host.
type lazy struct {
	rank    int
	bare    bool // addresses are host addresses, for a GPU-aware library
	kernels workQueue
	at      []uintptr // addresses of the allocations, sorted
	mem     map[uintptr][]byte
	next    uintptr
	pinned  int // bytes
	pins    int // calls
	queues  int
	noMore  bool // pinned memory
}

// workQueue is work in order. The first part is done.
type workQueue struct {
	work []func() // not done
	done int
}

func (l *workQueue) add(f func()) error {
	l.work = append(l.work, f)
	return nil
}

// len returns how much work has ever been added.
func (l *workQueue) len() int { return l.done + len(l.work) }

// run does the work up to n. Work may wait for other queues.
func (l *workQueue) run(n int) {
	for l.done < n {
		f := l.work[0]
		l.work = l.work[1:]
		l.done++
		f()
	}
}

func newLazy(rank int, bare bool) *lazy {
	return &lazy{rank: rank, bare: bare, mem: map[uintptr][]byte{}, next: 0x6a0000000000 + uintptr(rank)<<36}
}

func (d *lazy) String() string                  { return fmt.Sprintf("lazy device of rank %d", d.rank) }
func (d *lazy) Kernels(scalar.DType) any        { return nil }
func (d *lazy) Sync(context.Context) error      { d.kernels.run(d.kernels.len()); return nil }
func (d *lazy) Info() device.Info               { return device.Info{} }
func (d *lazy) Platform() string                { return "cuda" }
func (d *lazy) Index() int                      { return 0 }
func (d *lazy) Bind() error                     { return nil }
func (d *lazy) Unpin(b []byte)                  { d.pinned -= len(b) }
func (d *lazy) NewQueue() (device.Queue, error) { d.queues++; return &lazyQueue{d: d}, nil }

// Close returns an error if anything was not freed.
func (d *lazy) Close() error {
	if d.pinned != 0 || d.queues != 0 || len(d.mem) != 0 {
		return fmt.Errorf("%v: %d pinned bytes, %d queues and %d allocations are left", d, d.pinned, d.queues, len(d.mem))
	}
	return nil
}

func (d *lazy) Pin(n int) ([]byte, error) {
	if d.noMore {
		return nil, errors.New("no more pinned memory")
	}
	d.pinned += n
	d.pins++
	return make([]byte, n), nil
}

func (d *lazy) AllocBytes(n int) (uintptr, error) {
	mem := make([]byte, n+16)
	a := d.next
	if d.bare {
		a = uintptr(unsafe.Pointer(&mem[0]))
	}
	d.next += uintptr(n+511) &^ 255
	i, _ := slices.BinarySearch(d.at, a)
	d.at = slices.Insert(d.at, i, a)
	d.mem[a] = mem
	return a, nil
}

func (d *lazy) FreeBytes(a uintptr) {
	d.Sync(context.Background())
	i, _ := slices.BinarySearch(d.at, a)
	d.at = slices.Delete(d.at, i, i+1)
	delete(d.mem, a)
}

// bytes returns n bytes at address a.
func (d *lazy) bytes(a uintptr, n int) []byte {
	i, found := slices.BinarySearch(d.at, a)
	if !found {
		i--
	}
	base := d.at[i]
	return d.mem[base][a-base:][:n]
}

type lazyQueue struct {
	d *lazy
	workQueue
}

func (q *lazyQueue) Handle() uintptr { return 1 }

func (q *lazyQueue) Follow() error {
	n := q.d.kernels.len()
	return q.add(func() { q.d.kernels.run(n) })
}

func (q *lazyQueue) Lead() error {
	n := q.len()
	return q.d.kernels.add(func() { q.run(n) })
}

func (q *lazyQueue) CopyOut(dst []byte, src uintptr) error {
	return q.add(func() { copy(dst, q.d.bytes(src, len(dst))) })
}

func (q *lazyQueue) CopyIn(dst uintptr, src []byte) error {
	return q.add(func() { copy(q.d.bytes(dst, len(src)), src) })
}

func (q *lazyQueue) Copy(dst, src uintptr, n int) error {
	return q.add(func() { copy(q.d.bytes(dst, n), q.d.bytes(src, n)) })
}

func (q *lazyQueue) Mark() (uint64, error) { return uint64(q.len()), nil }

// Reached does the work at the second call.
func (q *lazyQueue) Reached(mark uint64) (bool, error) {
	if q.done >= int(mark) {
		return true, nil
	}
	q.run(int(mark))
	return false, nil
}

func (q *lazyQueue) Close() error {
	q.run(q.len())
	q.d.queues--
	return nil
}
