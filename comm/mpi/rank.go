package mpi

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm/driver"
)

// rank is this process's handle on an MPI communicator.
type rank struct {
	w        *world
	l        *lib
	comm     uintptr // for messages of the caller and collectives of the library
	algoComm uintptr // for messages of the algorithms of this package
	me       int
	n        int
	oneHost  bool // all ranks are on one machine

	blocking  operation   // of the call under way
	second    operation   // of a call that sends and receives
	counts    countArrays // C arrays of counts and displacements
	counts2   countArrays
	scratch   []uint64
	gathered  []int64
	messageNo [2][]uint8 // number of messages on algoComm, sent and received, by peer: see countguard.go
	countPair [2]int64

	args         [16]uintptr // of a collective of the library
	messages     request     // of the collective under way; not of the pool
	recvCount    int32
	pending      driver.RequestPool[request]
	tests        int
	selfMessages [2]int     // messages to this rank itself: sends and receives started
	started      [2][]int64 // in checked mode, on the group of all ranks: sends and receives by peer
}

var (
	_ driver.Conn        = (*rank)(nil)
	_ driver.NonBlocking = (*rank)(nil)
	_ driver.OneSided    = (*rank)(nil)
)

// newRank makes the handle on an MPI communicator, which it owns.
func (w *world) newRank(h uintptr) (*rank, error) {
	l := w.l
	out := new([2]int32)
	for _, c := range []struct {
		name string
		code int32
	}{
		{"MPI_Comm_set_errhandler", l.call(l.setErrhandler, h, l.errorsReturn)},
		{"MPI_Comm_rank", l.call(l.commRank, h, addr(&out[0]))},
		{"MPI_Comm_size", l.call(l.commSize, h, addr(&out[1]))},
	} {
		if err := l.errorOf(c.name, c.code); err != nil {
			return nil, err
		}
	}
	return &rank{w: w, l: l, comm: h, me: int(out[0]), n: int(out[1])}, nil
}

// connect prepares a new handle for calls. It is collective.
func (r *rank) connect(ctx context.Context) error {
	w, l := r.w, r.l
	var err error
	if r.oneHost = w.oneHost; !r.oneHost {
		if r.oneHost, err = r.oneMachine(); err != nil {
			return err
		}
	}
	if w.guardCounts {
		for i := range r.messageNo {
			r.messageNo[i] = make([]uint8, r.n)
		}
	}
	call := driver.Signature{Kind: driver.KindSplit, Peer: -1, N: -1}
	own := new(uintptr)
	code := l.call(l.commIdup, r.comm, addr(own), addr(&r.blocking.req))
	err = r.await(ctx, &call, code)
	r.algoComm = l.handle(own)
	if r.comm != l.world {
		w.setOpen(r, true)
	}
	return err
}

// oneMachine reports whether all ranks of the group are on one machine.
func (r *rank) oneMachine() (bool, error) {
	l := r.l
	node, size := new(uintptr), new(int32)
	if err := l.errorOf("MPI_Comm_split_type", l.call(l.commSplitType, r.comm, uintptr(l.typeShared), 0, l.infoNull, addr(node))); err != nil {
		return false, err
	}
	if err := l.errorOf("MPI_Comm_size", l.call(l.commSize, l.handle(node), addr(size))); err != nil {
		return false, err
	}
	return int(*size) == r.n && !r.w.cfg.severalHosts, l.errorOf("MPI_Comm_free", l.call(l.commFree, addr(node)))
}

// Info implements driver.Conn.
func (r *rank) Info() driver.Info {
	return driver.Info{
		Rank: r.me, Size: r.n, Name: r.l.Version, Algos: []driver.Algo{driver.Ring, driver.Tree, driver.Native},
		GPUAware:    r.gpuAware,
		SetProgress: func(f func() bool) { r.w.progress = f },
	}
}

// Abort implements driver.Conn.
func (r *rank) Abort(cause error) { r.w.abort(r.w.rank, cause) }

// Aborted implements driver.Conn.
func (r *rank) Aborted() error {
	r.w.pollNotices()
	if ae := r.w.aborted.Load(); ae != nil {
		return ae
	}
	return nil
}

// Close frees the communicator. The communicator of all ranks stays until MPI ends.
func (r *rank) Close() error {
	if r.comm == r.l.world || r.w.aborted.Load() != nil {
		return nil
	}
	r.w.setOpen(r, false)
	for _, h := range []uintptr{r.algoComm, r.comm} {
		p := new(uintptr)
		*p = h
		if err := r.l.errorOf("MPI_Comm_free", r.l.call(r.l.commFree, addr(p))); err != nil {
			return err
		}
	}
	return nil
}

// Split first waits in a barrier that can be interrupted, because MPI_Comm_split
// cannot.
func (r *rank) Split(ctx context.Context, c *driver.Call) (driver.Conn, error) {
	if err := r.enter(ctx, c); err != nil {
		return nil, err
	}
	if err := r.barrier(ctx, &c.Signature); err != nil {
		return nil, err
	}
	color := int32(c.Color)
	if c.Color == driver.NoColor {
		color = r.l.undefined
	}
	h := new(uintptr)
	err := r.w.blockingCall("MPI_Comm_split", r.l.commSplit, r.comm, uintptr(color), uintptr(int32(c.Key)), addr(h))
	if err != nil || c.Color == driver.NoColor {
		return nil, err
	}
	sub, err := r.w.newRank(r.l.handle(h))
	if err != nil {
		return nil, err
	}
	return sub, sub.connect(ctx)
}

// scratchBytes returns n bytes of scratch memory, valid until the next call.
func (r *rank) scratchBytes(n int) unsafe.Pointer {
	if words := (n + 7) / 8; len(r.scratch) < words {
		r.scratch = make([]uint64, words)
	}
	return unsafe.Pointer(unsafe.SliceData(r.scratch))
}

// address returns the address of b. Even without elements, libraries refuse a null pointer
// and the same address for source and destination. So empty stands for an empty buffer.
func (r *rank) address(b *driver.Buf, empty *operation) uintptr {
	if b.N == 0 {
		return addr(empty)
	}
	return uintptr(b.Ptr)
}
