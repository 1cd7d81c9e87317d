package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/internal/sched"
)

// Config says how ranks talk over MPI. The zero Config is ready to use.
type Config struct {
	Algo    comm.Algo     // of AllReduce: Auto, Ring, Tree or Native
	Checked bool          // compare the calls of all ranks before each collective
	Timeout time.Duration // the longest that a call may wait for another rank; 0 means for ever

	// Note is told what this rank has left undone at its end, and why its process
	// must end at once; nil means that nobody wants to know.
	Note func(rank int, text string)

	far      bool // tests behave as if ranks were on several machines
	maxCount int  // tests lower it to split counts that are not large
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if c.Algo == comm.Direct || c.Algo > comm.Native {
		errs = append(errs, fmt.Errorf("mpi: algorithm %v is not for MPI: have auto, ring, tree, native", c.Algo))
	}
	if c.Timeout < 0 {
		errs = append(errs, fmt.Errorf("mpi: Timeout is %v, must not be negative", c.Timeout))
	}
	return errors.Join(errs...)
}

// World is this process as one rank of an MPI program.
type World struct {
	*rank
	Launcher Launcher
	Library  *Found
	Threads  string // what the library allows: "multiple", or "serialized" and less, and then calls take turns

	w *world
}

// world is what all communicators of this process share.
type world struct {
	l       *lib
	cfg     Config
	rank    int
	size    int
	ctrl    uintptr // a communicator for abort messages only
	aborted atomic.Pointer[comm.AbortError]
	near    bool            // all ranks are on one machine
	crowded bool            // ranks share cores: do not spin
	reaches map[string]bool // platforms of GPUs whose memory the library takes
	noWin   error           // why the library makes no windows here
	work    func() bool     // what this rank does while it waits: see comm.Host
	labels  labels
	careful bool         // see careful.go
	left    left         // what is open
	locks   atomic.Int32 // of windows that this rank holds

	mu      sync.Mutex // guards what follows
	probe   operation
	told    [3]bool      // the others know of the abort, by tag
	sends   []*operation // notices under way, and their text
	notices [][]byte
	parted  map[int]bool // ranks that have said goodbye
}

const (
	tagAbort = 1 // a rank aborts the program
	tagBye   = 2 // a rank has ended its program after an abort
)

const maxNotice = 2048 // small enough that a library buffers it

// Init opens and initialises the library that suits the launcher. It can be
// called once in a process.
func Init(ctx context.Context, cfg Config) (*World, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := prepare(); err != nil {
		return nil, err
	}
	gpu, err := GPUSetting()
	if err != nil {
		return nil, err
	}
	launcher := FindLauncher()
	if launcher.Unconnected {
		return nil, &UnconnectedError{launcher}
	}
	found, err := Find(launcher)
	if err != nil {
		return nil, err
	}
	l, err := bind(found)
	if err != nil {
		return nil, err
	}
	if cfg.maxCount > 0 {
		l.maxCount = cfg.maxCount
	}
	// A rank that its launcher bound to one core has GOMAXPROCS 1, and then the
	// runtime starts a thread to look for other work whenever a call into MPI
	// takes more than 20 us. That thread would share the core with the call,
	// which is copying data, and cost a third of the bandwidth. Spare processors,
	// idle as they are, keep it from doing so.
	if runtime.GOMAXPROCS(0) < 4 {
		runtime.GOMAXPROCS(4)
	}
	// A library that allows no free threading wants its calls from the thread
	// that initialised it, so hold on to the thread until that is known.
	runtime.LockOSThread()
	level, err := l.start()
	if err != nil {
		return nil, err
	}
	w := &world{l: l, cfg: cfg, parted: map[int]bool{}}
	out := &World{Launcher: launcher, Library: found, Threads: "multiple", w: w}
	if level >= l.threads[3] {
		runtime.UnlockOSThread()
	} else {
		l.serial = new(sync.Mutex)
		out.Threads = [...]string{"single", "funneled", "serialized"}[levelIndex(l.threads, level)]
	}
	if err := w.setUp(launcher); err != nil {
		return nil, err
	}
	w.reaches = l.reached(gpu)
	if out.rank, err = w.newRank(ctx, l.world, cfg.Algo); err != nil {
		return nil, err
	}
	if cfg.Checked {
		for i := range out.rank.started {
			out.rank.started[i] = make([]int64, w.size)
		}
	}
	w.crowded, err = out.rank.crowd(ctx, launcher)
	return out, err
}

// start initialises the library and returns how it allows threads.
func (l *lib) start() (int32, error) {
	f, level := l.lib.Func("MPI_Init_thread"), new(int32)
	if f == 0 {
		return 0, fmt.Errorf("mpi: %s lacks MPI_Init_thread", l.Path)
	}
	if code := f.Call(0, 0, uintptr(l.threads[3]), addr(level)); code != 0 {
		return 0, fmt.Errorf("mpi: MPI_Init_thread of %s failed with code %d", l.Path, code)
	}
	return *level, nil
}

// crowd reports whether ranks share cores. A launcher that binds ranks shows
// each only its own cores, so they are counted over all ranks. Ranks of other
// machines count too, as if their cores had the numbers of this one's.
func (r *rank) crowd(ctx context.Context, launcher Launcher) (bool, error) {
	call := comm.Call{Kind: comm.KindBarrier, Peer: -1}
	mine := sched.Cores()
	all, err := r.show(ctx, &call, mine[:]...)
	cores := 0
	for i := range mine {
		var union uint64
		for j := range r.n {
			union |= uint64(all[j*len(mine)+i])
		}
		cores += bits.OnesCount64(union)
	}
	here := launcher.LocalSize
	if here == 0 {
		here = r.n
	}
	return here > cores, err
}

// prepare sets variables that libraries read when they are opened, unless the
// user has set them.
func prepare() error {
	for _, v := range [][2]string{
		// Handlers of their own for memory faults would keep Go from turning a
		// nil dereference into a panic.
		{"OMPI_MCA_opal_signal", "6"},
		{"UCX_ERROR_SIGNALS", "SIGILL,SIGBUS,SIGFPE"},
		// UCX would keep SIGHUP for its own log.
		{"UCX_DEBUG_SIGNO", "0"},
		{"IPATH_NO_BACKTRACE", "1"},
		// Open MPI 4.1 adds complex64 in a window as if it were int64 when it
		// uses the atomics of shared memory.
		{"OMPI_MCA_osc_rdma_acc_use_amo", "0"},
	} {
		if err := dl.Setenv(v[0], v[1]); err != nil {
			return err
		}
	}
	return nil
}

func levelIndex(levels [4]int32, got int32) int {
	i := 0
	for i < 2 && got >= levels[i+1] {
		i++
	}
	return i
}

func (w *world) setUp(launcher Launcher) error {
	l := w.l
	out := new([2]int32)
	if err := l.errorOf("MPI_Comm_set_errhandler", l.call(l.setErrhandler, l.world, l.errorsReturn)); err != nil {
		return err
	}
	if err := l.errorOf("MPI_Comm_rank", l.call(l.commRank, l.world, addr(&out[0]))); err != nil {
		return err
	}
	if err := l.errorOf("MPI_Comm_size", l.call(l.commSize, l.world, addr(&out[1]))); err != nil {
		return err
	}
	w.rank, w.size = int(out[0]), int(out[1])
	if launcher.Size > 1 && w.size == 1 {
		return fmt.Errorf("mpi: %s started %d processes (%s=%d), but %s (%s) sees only itself: "+
			"the library belongs to another MPI than the launcher: start with the mpirun of that library, or set %s=/path/to/libmpi.so "+
			"to the library of the launcher", launcher.Name, launcher.Size, launcher.Variable, launcher.Size, l.Version, l.Path, EnvVar)
	}
	if err := l.mend(); err != nil {
		return err
	}
	w.careful = l.needsCare()
	var err error
	if w.near, err = w.oneMachine(l.world, w.size); err != nil {
		return err
	}
	h := new(uintptr)
	err = l.errorOf("MPI_Comm_dup", l.call(l.commDup, l.world, addr(h)))
	w.ctrl = l.handle(h)
	return err
}

// abort tells every rank of the program why it ends. Messages go out at once;
// the others see them when they next look, which every wait does.
func (w *world) abort(rank int, cause error) *comm.AbortError {
	ae := &comm.AbortError{Rank: rank, Err: cause}
	var had *comm.AbortError
	if errors.As(cause, &had) {
		ae = had // an echo: the first cause counts
	}
	w.aborted.CompareAndSwap(nil, ae)
	ae = w.aborted.Load()
	if ae.Rank == w.rank { // others need not pass it on: it goes to everybody
		w.tell(ae, tagAbort)
	}
	return ae
}

// tell sends a notice of the abort to all ranks, once for each tag.
func (w *world) tell(ae *comm.AbortError, tag int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told[tag] {
		return
	}
	w.told[tag] = true
	text := ae.Err.Error()
	notice := binary.LittleEndian.AppendUint32(nil, uint32(ae.Rank))
	notice = append(notice, text[:min(len(text), maxNotice-4)]...)
	w.notices = append(w.notices, notice)
	for r := range w.size {
		if r == w.rank {
			continue
		}
		o := new(operation)
		code := w.l.call(w.l.isend.small, addr(&notice[0]), uintptr(len(notice)), w.l.dtypes[1], uintptr(r),
			uintptr(tag), w.ctrl, addr(&o.req))
		if code == 0 {
			w.sends = append(w.sends, o)
		}
	}
}

// listen receives what other ranks say of an abort, if anything.
func (w *world) listen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		o := &w.probe
		code := w.l.call(w.l.iprobe, uintptr(w.l.anySource), uintptr(w.l.anyTag), w.ctrl, addr(&o.flag), addr(&o.status))
		if code != 0 || o.flag == 0 {
			return
		}
		from, tag := w.l.source(&o.status), w.l.tag(&o.status)
		b := make([]byte, maxNotice)
		n := new(int32)
		w.l.call(w.l.recv, addr(&b[0]), uintptr(len(b)), w.l.dtypes[1], uintptr(from), uintptr(tag), w.ctrl, addr(&o.status))
		w.l.call(w.l.getCount, addr(&o.status), w.l.dtypes[1], addr(n))
		if tag == tagBye {
			w.parted[from] = true
		}
		if *n >= 4 {
			ae := &comm.AbortError{Rank: int(binary.LittleEndian.Uint32(b)), Err: errors.New(string(b[4:*n]))}
			w.aborted.CompareAndSwap(nil, ae)
		}
	}
}

// End ends MPI in this process. Without an error it waits for all ranks, and
// learns there if one of them has failed. After a failure it makes sure that
// the others know, waiting a few seconds at most for those that compute, and
// leaves MPI as it is: finalising would wait for messages that never come. The
// caller must then exit with a code other than 0, which ends the rest.
func (c *World) End(ctx context.Context, err error) error {
	w := c.w
	if err == nil {
		err = c.undone(ctx)
	}
	if err == nil {
		err = c.rank.Barrier(ctx)
	}
	if err == nil {
		err = w.closeLeft()
	}
	if err == nil {
		if err := w.l.errorOf("MPI_Finalize", w.l.call(w.l.finalize)); err != nil || w.l.family == OpenMPI {
			return err
		}
		// MPICH says goodbye to its launcher in a handler of C's exit, which
		// Go's exit does not run. A launcher that missed it takes the first
		// rank that exits for dead and kills the rest.
		return w.l.lib.Close()
	}
	// Everybody says goodbye to everybody, so that no rank exits, and makes the
	// launcher kill the rest, before all have ended their programs.
	w.tell(w.abort(w.rank, err), tagBye)
	grace := time.Now().Add(3 * time.Second)
	for time.Now().Before(grace) { // nothing here waits for ever: the others may be dead
		w.listen()
		w.mu.Lock()
		left := w.size - 1 - len(w.parted)
		for _, o := range w.sends {
			if o.flag == 0 {
				w.l.call(w.l.test, addr(&o.req), addr(&o.flag), addr(&o.status))
			}
			if o.flag == 0 {
				left = max(left, 1)
			}
		}
		w.mu.Unlock()
		if left <= 0 {
			break
		}
		runtime.Gosched()
		sched.Yield()
	}
	if w.rank != 0 && !w.parted[0] {
		return &comm.UnheardError{Err: err}
	}
	return err
}
