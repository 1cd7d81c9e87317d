// Package driver is what a transport offers to package comm: few verbs over calls
// whose arguments are already checked. Package comm is the door that users call, as
// database/sql is the door of its drivers. The table Specs says what each collective
// is; checks, texts, comparisons between ranks, suites and benchmarks are computed
// from it.
package driver

import "context"

// Conn is one rank's connection to a group of ranks. One goroutine uses it at a time,
// except for Abort and Aborted.
//
// If one rank's arguments are invalid, its Call has Err set. A collective then returns
// an error on all ranks that can know it: that Err on this rank, a *RankError on the
// others.
type Conn interface {
	// Do runs a collective. c belongs to the caller again when Do has returned.
	Do(ctx context.Context, c *Call) error
	// Start starts a message or an exchange and returns its id. It must not wait for
	// another rank, and it copies what it needs of c. c has no Err. All ranks of a group
	// start an exchange, even without legs. Its first ones may wait for all ranks.
	Start(ctx context.Context, c *Call) (id uint64, err error)
	// Wait returns when the operation has completed, nil if it had before.
	Wait(ctx context.Context, id uint64) error
	// Test reports whether the operation has completed, without waiting.
	Test(id uint64) (bool, error)
	// Split makes one group of the ranks of each color. A rank with NoColor gets nil.
	Split(ctx context.Context, c *Call) (Conn, error)
	// Abort ends every blocked and later call of every rank of the program.
	Abort(cause error)
	// Aborted returns the *AbortError that has ended the program, or nil. It does not
	// wait.
	Aborted() error
	// Close frees the group, and with it the Conn that this one is built on. It is
	// collective, and it is called once.
	Close() error
	// Info describes the connection. It does not change.
	Info() Info
}

// Info says who this rank is and what its connection can do.
type Info struct {
	Rank, Size int
	Name       string // of the transport, such as "goroutines" or "Open MPI 4.1.4"
	Algos      []Algo // algorithms that a Call may ask for, besides Auto
	GPU        bool   // all calls take buffers in GPU memory
	NoPut      error  // why ranks cannot put GPU memory into each other's; nil if that is staged or there is none

	// GPUAware reports whether c may have buffers in memory of GPUs of a platform,
	// "cuda" or "hip". All ranks get the same answer. nil means never.
	GPUAware func(platform string, c *Signature) bool
	// SetProgress registers f, which is polled while this rank blocks in any call of
	// any group. f must not block. It returns false when it has nothing to do; the
	// rank may then sleep and poll f rarely. nil removes f. A transport on which no
	// other can be built has no SetProgress.
	SetProgress func(f func() bool)
}

// NonBlocking is a Conn that starts collectives: those whose Spec has Starts set.
type NonBlocking interface {
	// StartCollective is Start for a collective. It counts in the order of
	// collectives. c may have Err set.
	StartCollective(ctx context.Context, c *Call) (id uint64, err error)
}

// OneSided is a Conn that offers windows.
type OneSided interface {
	// Window exposes c.Dst to all ranks. It returns the sizes of all ranks' buffers.
	Window(ctx context.Context, c *Call) (w Window, counts []int, err error)
}

// Window gives ranks access to each other's memory. Its arguments are checked.
type Window interface {
	// Access starts one access. Its buffers may be used again after Fence, Unlock or
	// Flush.
	Access(ctx context.Context, a *Access) error
	// Fence ends an epoch of all ranks and starts the next. It is collective.
	Fence(ctx context.Context) error
	// Lock starts an epoch on a target, or a shared one on all if target is Everyone.
	// Unlock completes and ends it.
	Lock(ctx context.Context, target int, kind LockKind) error
	Unlock(ctx context.Context, target int) error
	// Flush completes this rank's accesses to target within the epoch.
	Flush(ctx context.Context, target int) error
	// Sync lets this rank read, in its own buffer, what others have put and flushed
	// before they sent the messages that it has received.
	Sync(ctx context.Context) error
	// Close ends access to the buffer. It is collective. fault is this rank's reason
	// why the window cannot be closed, to be shown to the others, or nil.
	Close(ctx context.Context, fault error) error
}

// Everyone is the target of Lock and Unlock on all ranks.
const Everyone = -1

// Access is one access to target's buffer of a window, at an offset in elements. Get
// has Dst only, Put and Accumulate have Src only. Get is NoOp, Put is Replace.
type Access struct {
	Target, Offset int
	Dst, Src       Buf
	Op             Op
	Atomic         bool // for each element: Accumulate and GetAccumulate, not Get and Put
}

// LockKind says who else may hold a lock on the same target.
type LockKind uint8

// The kinds of lock.
const (
	Shared LockKind = iota
	Exclusive
)

// Registrar is a Conn that may send registered GPU memory faster, for example over
// NVLink or InfiniBand. If the library is too old or the hardware lacks support, its
// calls return errors.ErrUnsupported on all ranks. Both buffers of a call must be
// registered on all ranks, or on none. In memory of a symmetric Alloc all ranks must
// use the same offsets.
type Registrar interface {
	// Register registers GPU memory of the caller for the collectives of this group.
	// It is collective. Ranks may register different amounts, or nothing.
	Register(ctx context.Context, b Buf) (Registration, error)
	// Alloc allocates n bytes of GPU memory and registers them. With symmetric, the
	// memory of all ranks forms one window, and all ranks must give the same n. It is
	// collective.
	Alloc(ctx context.Context, n int, symmetric bool) (Registration, error)
}

// Registration is registered GPU memory.
type Registration interface {
	// Buf returns the memory. That of Alloc has the type uint8.
	Buf() Buf
	// Close ends the registration and frees memory of Alloc. All ranks must close
	// it after all calls that use the memory have completed. Closing the communicator
	// does it too.
	Close(ctx context.Context) error
}

// Nobody is the rank that SendRecv neither sends to nor receives from.
const Nobody = -1

// NoColor is the color of a rank that joins no group of a Split.
const NoColor = -1
