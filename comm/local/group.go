package local

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/golops/golops/comm/driver"
)

// eager is the size in bytes of the largest source that a rank copies into its
// slot. The others can then read it after the rank has left the call.
const eager = 512

// callSlot holds a rank's arguments of one collective, for the others to read. Each
// rank has two slots and uses them in turn. Two are enough: a rank leaves collective
// k+1 only after all others have entered it, so nobody is in k+2 while another is in k.
type callSlot struct {
	seq  atomic.Uint64 // number of the collective; set last
	call driver.Signature
	iseq uint32 // non-blocking collectives that this rank started before
	bad  bool   // this rank's arguments are invalid: see err
	data [eager]byte

	src, dst unsafe.Pointer // src is data when the source was copied
	acc      unsafe.Pointer // partial result, in trees and rings
	n, m     int            // elements of src and of dst
	in, out  []int          // counts
	err      error
	color    int
	key      int
	_        [32]byte // fills the last cache line; see the check below
}

// rankState is the part of a group that one rank writes. Padding keeps the flags of
// two ranks in separate pairs of cache lines, because hardware fetches lines in pairs.
type rankState struct {
	_     [128]byte
	slots [2]callSlot
	_     [128]byte
	done  atomic.Uint64 // the last collective whose memory this rank no longer uses
	step  atomic.Uint64 // seq<<stepBits + steps done, in rings and trees
	obj   any           // a group of Split or the memory of a Window that this rank made
	_     [128]byte

	// For sleep: see wait.go. group.mu guards the plain fields.
	parked   atomic.Bool
	waitsFor atomic.Int32 // the rank that this one waits for, or -1 for any
	cond     cond
	call     driver.Signature
	wake     chan struct{}
	_        [16]byte
}

// Slots start on a cache line. Otherwise flag and data of a small call would lie on
// two lines, and the call would wait for both. The declarations below check the sizes
// at compile time: a remainder makes the array length negative.
const cacheLine = 64

var (
	_ [-(unsafe.Sizeof(callSlot{}) % cacheLine)]byte
	_ [-(unsafe.Offsetof(rankState{}.slots) % cacheLine)]byte
	_ [-(unsafe.Sizeof(rankState{}) % cacheLine)]byte
)

// newRankStates allocates states that start on a cache line. It allocates at least
// 64 KB, because large allocations start on a page.
func newRankStates(n int) []rankState {
	const large = 64 << 10
	return make([]rankState, n, max(n, large/int(unsafe.Sizeof(rankState{}))+1))
}

const stepBits = 24

// group is a set of ranks that communicate with each other.
type group struct {
	w       *world
	members []int // their ranks in the world
	states  []rankState
	queues  []messageQueue // queue i*n+j holds messages from rank i to rank j
	closed  atomic.Int32
	_       [128]byte

	sleepers atomic.Int32
	_        [128]byte

	mu    sync.Mutex
	colls []*icoll // non-blocking collectives under way, oldest first
	spare []*icoll
}

func newGroup(w *world, members []int) *group {
	n := len(members)
	g := &group{w: w, members: members, states: newRankStates(n), queues: make([]messageQueue, n*n)}
	for i := range g.states {
		g.states[i].wake = make(chan struct{}, 1)
		g.states[i].waitsFor.Store(-1)
	}
	w.mu.Lock()
	w.groups = append(w.groups, g)
	w.mu.Unlock()
	return g
}

func (g *group) handle(i int, algo driver.Algo) *rank {
	r := &rank{g: g, me: i, n: len(g.members), state: &g.states[i], algo: algo}
	g.w.addHandle(g.members[i], r)
	return r
}

// rank is one rank's connection to a group.
type rank struct {
	g     *group
	me    int
	n     int
	state *rankState
	algo  driver.Algo // of calls that ask for Auto

	seq           uint64 // collectives so far
	iseq          uint32 // non-blocking collectives so far
	longWaits     uint32 // waits that went beyond spinning
	progressTimer *time.Timer

	pending driver.RequestPool[request]
	srcs    []unsafe.Pointer
	dsts    []unsafe.Pointer
	scratch []uint64     // partial results of rings and trees, kept between calls
	chunk   [chunk]uint8 // partial results of direct reductions
}

var (
	_ driver.Conn        = (*rank)(nil)
	_ driver.NonBlocking = (*rank)(nil)
	_ driver.OneSided    = (*rank)(nil)
)

// Info implements driver.Conn.
func (r *rank) Info() driver.Info {
	return driver.Info{Rank: r.me, Size: r.n, Name: "goroutines", Algos: []driver.Algo{driver.Direct, driver.Ring, driver.Tree},
		SetProgress: func(f func() bool) { r.g.w.progress[r.g.members[r.me]] = f }}
}

// Abort names this rank by its number in the world, also from a subgroup.
func (r *rank) Abort(cause error) { r.g.w.abort(r.g.members[r.me], cause) }

// Aborted implements driver.Conn.
func (r *rank) Aborted() error {
	if ae := r.g.w.aborted.Load(); ae != nil {
		return ae
	}
	return nil
}

// Close removes the group from the world once its last rank has closed it. The
// group of all ranks stays, because a rank that ends wakes the ranks that wait for
// it there.
func (r *rank) Close() error {
	w := r.g.w
	w.removeHandle(r.g.members[r.me], r)
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

// scratchBytes returns n bytes of scratch memory, valid until the next call.
func (r *rank) scratchBytes(n int) unsafe.Pointer {
	if words := (n + 7) / 8; len(r.scratch) < words {
		r.scratch = make([]uint64, words)
	}
	return unsafe.Pointer(unsafe.SliceData(r.scratch))
}

// addrAt returns the address offset bytes after p, where n bytes are to be used. For
// n = 0 it returns nil: a pointer just past an object would keep the next object alive.
func addrAt(p unsafe.Pointer, offset, n int) unsafe.Pointer {
	if n == 0 {
		return nil
	}
	return unsafe.Add(p, offset)
}
