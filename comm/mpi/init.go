package mpi

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"sync"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/internal/sched"
)

// Init opens the MPI library of the launcher and initialises it. A process can call
// it once.
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
	keepProcessorsIdle()
	// A library below MPI_THREAD_MULTIPLE may want all calls from the thread that
	// initialised it. So keep the thread until the level is known.
	runtime.LockOSThread()
	level, err := l.start()
	if err != nil {
		return nil, err
	}
	w := &world{l: l, cfg: cfg, goodbyes: map[int]bool{}}
	out := &World{Launcher: launcher, Library: found, w: w}
	for i, name := range [...]string{"single", "funneled", "serialized", "multiple"} {
		if level >= l.threads[i] {
			out.Threads = name
		}
	}
	if out.Threads == "multiple" {
		runtime.UnlockOSThread()
	} else {
		l.serial = new(sync.Mutex)
	}
	r, err := w.setUp(ctx, launcher)
	if err != nil {
		return nil, err
	}
	w.gpuAware = l.gpuSupport(gpu)
	if cfg.Checked {
		for i := range r.started {
			r.started[i] = make([]int64, w.size)
		}
	}
	w.oversubscribed, err = r.sharesCores(ctx, launcher)
	out.r, out.Comm = r, comm.New(r)
	return out, err
}

// keepProcessorsIdle gives Go more processors than this process may use at a time.
// A rank that its launcher bound to one core has GOMAXPROCS 1. The Go runtime
// then starts a thread to look for other work whenever a call into MPI takes more
// than 20 us. That thread shares the core with the call, which copies data, and
// costs a third of the bandwidth. With idle processors the runtime does not do so.
func keepProcessorsIdle() {
	if runtime.GOMAXPROCS(0) < 4 {
		runtime.GOMAXPROCS(4)
	}
}

// start initialises the library and returns its thread level.
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

// sharesCores reports whether ranks share cores. A launcher that binds ranks shows
// each rank only its own cores, so the union over all ranks is counted. Ranks of other
// machines are included, as if their cores had the numbers of this machine's.
func (r *rank) sharesCores(ctx context.Context, launcher Launcher) (bool, error) {
	call := driver.Signature{Kind: driver.KindBarrier, Peer: -1}
	own := sched.Cores()
	all, err := r.gatherNumbers(ctx, &call, own[:]...)
	cores := 0
	for i := range own {
		var union uint64
		for j := range r.n {
			union |= uint64(all[j*len(own)+i])
		}
		cores += bits.OnesCount64(union)
	}
	local := launcher.LocalSize
	if local == 0 {
		local = r.n
	}
	return local > cores, err
}

// prepare sets variables that libraries read when they are opened, unless the
// user has set them.
func prepare() error {
	for _, v := range [][2]string{
		// The libraries must not handle memory faults: Go turns a nil dereference
		// into a panic.
		{"OMPI_MCA_opal_signal", "6"},
		{"UCX_ERROR_SIGNALS", "SIGILL,SIGBUS,SIGFPE"},
		// UCX must not take SIGHUP for its log.
		{"UCX_DEBUG_SIGNO", "0"},
		{"IPATH_NO_BACKTRACE", "1"},
		// With atomics of shared memory, Open MPI 4.1 adds complex64 in a window as
		// if it were int64.
		{"OMPI_MCA_osc_rdma_acc_use_amo", "0"},
	} {
		if err := dl.Setenv(v[0], v[1]); err != nil {
			return err
		}
	}
	return nil
}

// setUp makes the handle on the communicator of all ranks and what all handles share.
func (w *world) setUp(ctx context.Context, launcher Launcher) (*rank, error) {
	l := w.l
	r, err := w.newRank(l.world)
	if err != nil {
		return nil, err
	}
	w.rank, w.size = r.me, r.n
	if launcher.Size > 1 && w.size == 1 {
		return nil, fmt.Errorf("mpi: %s started %d processes (%s=%d), but %s (%s) sees only itself: "+
			"the library belongs to another MPI than the launcher: start with the mpirun of that library, or set %s=/path/to/libmpi.so "+
			"to the library of the launcher", launcher.Name, launcher.Size, launcher.Variable, launcher.Size, l.Version, l.Path, EnvVar)
	}
	if err := l.makeOps(); err != nil {
		return nil, err
	}
	w.guardCounts = l.overrunsBuffers()
	h := new(uintptr)
	if err := l.errorOf("MPI_Comm_dup", l.call(l.commDup, l.world, addr(h))); err != nil {
		return nil, err
	}
	w.ctrl = l.handle(h)
	err = r.connect(ctx)
	w.oneHost = r.oneHost
	return r, err
}
