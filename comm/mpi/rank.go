package mpi

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm"
)

// rank is this process's handle on an MPI communicator.
type rank struct {
	comm.Messages
	w        *world
	l        *lib
	comm     uintptr // for messages of the caller and collectives of the library
	algoComm uintptr // for messages of the algorithms of this package
	me       int
	n        int
	algo     comm.Algo
	oneHost  bool // all ranks are on one machine
	closed   bool // this rank has closed it

	blocking  operation // of the call under way
	second    operation // of a call that sends and receives
	flag      [1]int32
	counts    countArrays // C arrays of counts and displacements
	counts2   countArrays
	scratch   []uint64
	gathered  []int64
	messageNo [2][]uint8 // number of messages on algoComm, sent and received, by peer: see countguard.go
	countPair [2]int64

	recvCount    int32
	pending      comm.RequestPool[request]
	tests        int
	selfMessages [2]int     // messages to this rank itself: sends and receives started
	started      [2][]int64 // in checked mode, on the group of all ranks: sends and receives by peer
}

var (
	_ comm.Host     = (*rank)(nil)
	_ comm.Windower = (*rank)(nil)
)

// newRank makes the handle on an MPI communicator, which it owns. It is collective.
func (w *world) newRank(ctx context.Context, h uintptr, algo comm.Algo) (*rank, error) {
	l := w.l
	r := &rank{w: w, l: l, comm: h, algo: algo}
	r.Messages = comm.NewMessages(r, comm.OnHost)
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
	r.me, r.n = int(out[0]), int(out[1])
	var err error
	if r.oneHost = w.oneHost; !r.oneHost {
		if r.oneHost, err = w.oneMachine(h, r.n); err != nil {
			return nil, err
		}
	}
	r.oneHost = r.oneHost && !w.cfg.severalHosts
	if w.guardCounts {
		for i := range r.messageNo {
			r.messageNo[i] = make([]uint8, r.n)
		}
	}
	call := comm.Call{Kind: comm.KindSplit, Peer: -1, N: -1}
	own := new(uintptr)
	code := l.call(l.commIdup, h, addr(own), addr(&r.blocking.req))
	err = r.await(ctx, &call, code)
	r.algoComm = l.handle(own)
	if h != l.world {
		w.open.add(r)
	}
	return r, err
}

// oneMachine reports whether all n ranks of a communicator are on one machine.
func (w *world) oneMachine(h uintptr, n int) (bool, error) {
	l := w.l
	node, size := new(uintptr), new(int32)
	if err := l.errorOf("MPI_Comm_split_type", l.call(l.commSplitType, h, uintptr(l.typeShared), 0, l.infoNull, addr(node))); err != nil {
		return false, err
	}
	if err := l.errorOf("MPI_Comm_size", l.call(l.commSize, l.handle(node), addr(size))); err != nil {
		return false, err
	}
	return int(*size) == n, l.errorOf("MPI_Comm_free", l.call(l.commFree, addr(node)))
}

func (r *rank) Rank() int      { return r.me }
func (r *rank) Size() int      { return r.n }
func (r *rank) String() string { return r.l.Version }

// WithAlgo returns a handle on the same group that uses another algorithm. It
// replaces r, which must not be used any more.
func (r *rank) WithAlgo(a comm.Algo) (comm.Comm, error) {
	if err := (Config{Algo: a}).Validate(); err != nil {
		return nil, err
	}
	r.algo = a
	return r, nil
}

func (r *rank) Abort(cause error) { r.w.abort(r.w.rank, cause) }

// Aborted implements comm.Host.
func (r *rank) Aborted() error {
	r.w.pollNotices()
	if ae := r.w.aborted.Load(); ae != nil {
		return ae
	}
	return nil
}

// SetProgress implements comm.Host.
func (r *rank) SetProgress(f func() bool) { r.w.progress = f }

// Close frees the communicator. The communicator of all ranks stays until MPI ends.
func (r *rank) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	if r.comm == r.l.world || r.w.aborted.Load() != nil {
		return nil
	}
	r.w.open.remove(r)
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
func (r *rank) Split(ctx context.Context, color, key int) (comm.Comm, error) {
	call, err := comm.CheckSplit(color)
	if err := r.enter(ctx, &call, err); err != nil {
		return nil, err
	}
	if err := r.barrier(ctx, &call); err != nil {
		return nil, err
	}
	c := int32(color)
	if color == comm.NoColor {
		c = r.l.undefined
	}
	h := new(uintptr)
	if err := r.l.errorOf("MPI_Comm_split", r.w.blockingCall("Split", r.l.commSplit, r.comm, uintptr(c), uintptr(int32(key)), addr(h))); err != nil {
		return nil, err
	}
	if color == comm.NoColor {
		return nil, nil
	}
	sub, err := r.w.newRank(ctx, r.l.handle(h), r.algo)
	if err != nil {
		return nil, err
	}
	return sub, nil
}

// barrier waits until all ranks of the group have called it.
func (r *rank) barrier(ctx context.Context, call *comm.Call) error {
	code := r.l.call(r.l.ibarrier, r.algoComm, addr(&r.blocking.req))
	return r.await(ctx, call, code)
}

func (r *rank) Barrier(ctx context.Context) error {
	call := comm.Call{Kind: comm.KindBarrier, Peer: -1}
	if err := r.enter(ctx, &call, nil); err != nil {
		return err
	}
	return r.barrier(ctx, &call)
}

// enter starts a collective. It returns fault if the arguments are invalid. In checked
// mode it also returns the fault of another rank, or a mismatch.
func (r *rank) enter(ctx context.Context, call *comm.Call, fault error) error {
	if err := r.ready(ctx); err != nil {
		return err
	}
	if r.w.cfg.Checked && r.n > 1 {
		return r.compare(ctx, call, fault)
	}
	if fault != nil {
		return fault
	}
	switch call.Kind {
	case comm.KindReduce, comm.KindBroadcast, comm.KindAllGather, comm.KindGather, comm.KindScatter, comm.KindReduceScatter, comm.KindAllToAll:
		return r.checkCounts(ctx, call, call.N)
	}
	return nil
}

// ready returns an error if the program was aborted, ctx has ended or this rank
// has closed the communicator.
func (r *rank) ready(ctx context.Context) error {
	if r.closed {
		return comm.ErrClosed
	}
	return r.w.ready(ctx)
}

// scratchBytes returns n bytes of scratch memory, valid until the next call.
func (r *rank) scratchBytes(n int) unsafe.Pointer {
	if words := (n + 7) / 8; len(r.scratch) < words {
		r.scratch = make([]uint64, words)
	}
	return unsafe.Pointer(unsafe.SliceData(r.scratch))
}

// from and to return the addresses of a source and a destination. Even without
// elements, libraries refuse a null pointer and the same address for both.
func (r *rank) from(b comm.Buf) uintptr {
	if b.N == 0 {
		return addr(&r.blocking)
	}
	return uintptr(b.Ptr)
}

func (r *rank) to(b comm.Buf) uintptr {
	if b.N == 0 {
		return addr(&r.second)
	}
	return uintptr(b.Ptr)
}

func (r *rank) dtype(b comm.Buf) uintptr { return r.l.dtypes[b.DType] }
