package local

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/golops/golops/comm"
)

// eager is the largest source in bytes that a rank copies into its slot, so
// that the others may read it after the rank has gone on.
const eager = 512

// slot is what a rank shows the others of one collective. Ranks use two of
// them in turn: nobody can be in collective k+2 while another is still in k,
// because to leave k+1 a rank must have seen all others enter it.
type slot struct {
	seq  atomic.Uint64 // the collective that the rest of the slot is about
	call comm.Call
	iseq uint32 // non-blocking collectives started before
	bad  bool   // err is set: this rank's arguments are wrong
	data [eager]byte

	src, dst unsafe.Pointer // src is data when the source was copied
	acc      unsafe.Pointer // partial result, in trees and rings
	n, m     int            // elements of src and of dst
	in, out  []int          // counts
	err      error
	color    int
	key      int
	_        [32]byte // to whole lines; see the check below
}

// cell is the part of a group that one rank writes. The padding keeps two
// ranks' flags off one cache line (and off the pair that hardware fetches together).
type cell struct {
	_     [128]byte
	slots [2]slot
	_     [128]byte
	done  atomic.Uint64 // the last collective whose memory this rank no longer uses
	step  atomic.Uint64 // seq<<stepBits + steps done, in rings and trees
	obj   any           // what this rank made for the others in Split and Window
	_     [128]byte

	// Sleep: see wait.go. The plain fields are guarded by group.mu.
	parked atomic.Bool
	on     atomic.Int32 // whom this rank waits for, -1 for nobody in particular
	cond   cond
	call   comm.Call
	wake   chan struct{}
	_      [16]byte
}

// A slot that began in the middle of a cache line would have its flag and its
// data on two of them, and each small call would wait for both. The sizes are
// checked at compile time: a remainder makes the array length negative.
const line = 64

var (
	_ [-(unsafe.Sizeof(slot{}) % line)]byte
	_ [-(unsafe.Offsetof(cell{}.slots) % line)]byte
	_ [-(unsafe.Sizeof(cell{}) % line)]byte
)

// newCells returns cells that start on a cache line: large allocations start
// on a page.
func newCells(n int) []cell {
	const large = 64 << 10
	return make([]cell, n, max(n, large/int(unsafe.Sizeof(cell{}))+1))
}

const stepBits = 24

// group is a set of ranks that talk to each other.
type group struct {
	w       *world
	members []int // their ranks in the world
	cells   []cell
	pairs   []pair // messages from rank i to rank j, at i*n+j
	fault   atomic.Pointer[fault]
	closed  atomic.Int32
	_       [128]byte

	sleepers atomic.Int32
	_        [128]byte

	mu    sync.Mutex
	colls []*icoll // non-blocking collectives under way, oldest first
	spare []*icoll
}

// fault is what one rank found wrong in a collective after all had entered it.
type fault struct {
	seq uint64
	err error
}

func newGroup(w *world, members []int) *group {
	n := len(members)
	g := &group{w: w, members: members, cells: newCells(n), pairs: make([]pair, n*n)}
	for i := range g.cells {
		g.cells[i].wake = make(chan struct{}, 1)
		g.cells[i].on.Store(-1)
	}
	w.mu.Lock()
	w.groups = append(w.groups, g)
	w.mu.Unlock()
	return g
}

func (g *group) handle(i int, algo comm.Algo) *rank {
	r := &rank{g: g, me: i, n: len(g.members), cell: &g.cells[i], algo: algo}
	r.Messages = comm.NewMessages(r, comm.OnHost)
	g.w.open(g.members[i], r)
	return r
}

// rank is one rank's handle on a group.
type rank struct {
	comm.Messages
	g    *group
	me   int
	n    int
	cell *cell
	algo comm.Algo

	shut bool   // this rank has closed it
	seq  uint64 // collectives so far
	iseq uint32 // non-blocking collectives so far
	long uint32 // waits that took more than spinning
	tick *time.Timer

	pending comm.RequestPool[request]
	srcs    []unsafe.Pointer
	dsts    []unsafe.Pointer
	scratch []uint64     // partial results of rings and trees, kept between calls
	chunk   [chunk]uint8 // partial results of direct reductions
}

var (
	_ comm.Host     = (*rank)(nil)
	_ comm.Windower = (*rank)(nil)
)

func (r *rank) Rank() int      { return r.me }
func (r *rank) Size() int      { return r.n }
func (r *rank) String() string { return "goroutines" }

// WithAlgo returns a handle on the same group that uses another algorithm. It
// takes the place of r, which must not be used any more.
func (r *rank) WithAlgo(a comm.Algo) (comm.Comm, error) {
	if err := (Config{Algo: a}).Validate(); err != nil {
		return nil, err
	}
	r.algo = a
	return r, nil
}

// Abort names the rank by its place in the world, as messages of sub-groups do.
func (r *rank) Abort(cause error) { r.g.w.abort(r.g.members[r.me], cause) }

// Aborted implements comm.Host.
func (r *rank) Aborted() error {
	if ae := r.g.w.aborted.Load(); ae != nil {
		return ae
	}
	return nil
}

// SetProgress implements comm.Host.
func (r *rank) SetProgress(f func() bool) { r.g.w.idle[r.g.members[r.me]] = f }

// Close forgets the group once its last rank has closed it. The group of all
// ranks stays known: a rank that ends wakes those that wait for it there.
func (r *rank) Close() error {
	if r.shut {
		return nil
	}
	r.shut = true
	w := r.g.w
	w.forget(r.g.members[r.me], r)
	if int(r.g.closed.Add(1)) != r.n {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.groups, r.g); i > 0 {
		w.groups = slices.Delete(w.groups, i, i+1)
	}
	return nil
}

// room returns n bytes that stay this rank's until the next call.
func (r *rank) room(n int) unsafe.Pointer {
	if words := (n + 7) / 8; len(r.scratch) < words {
		r.scratch = make([]uint64, words)
	}
	return unsafe.Pointer(unsafe.SliceData(r.scratch))
}

// at returns the place offset bytes into the memory at p, where n bytes are
// to be used. With nothing to use it returns nil: a pointer just past an object
// would look to the collector like one to whatever lies there.
func at(p unsafe.Pointer, offset, n int) unsafe.Pointer {
	if n == 0 {
		return nil
	}
	return unsafe.Add(p, offset)
}
