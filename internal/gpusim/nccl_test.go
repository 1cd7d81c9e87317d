//go:build linux

package gpusim_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/internal/gpusim"
)

const (
	ncclFloat64, ncclSum, ncclAvg         = 8, 0, 4
	ncclSuccess, ncclInvalidUsage         = 0, 5
	ncclRemoteError, ncclInProgress       = 6, 7
	undefined                             = -1 << 31
	cudaSuccess, cudaNotReady       int32 = 0, 600
)

// rank is one rank of a test, on its own thread and device.
type rank struct {
	*cuda
	nccl       *dl.Lib
	rank, size int
	comm       uintptr
}

func (r *rank) nc(name string, args ...uintptr) int32 { return r.nccl.Func(name).Call(args...) }

// done polls until the communicator has finished what it was asked for.
func (r *rank) done(comm uintptr, result int32) int32 {
	for result == ncclInProgress {
		state := new(int32)
		if got := r.nc("ncclCommGetAsyncError", comm, dl.Pointer(state)); got != 0 {
			return got
		}
		if *state != ncclInProgress {
			return *state
		}
		runtime.Gosched()
	}
	return result
}

func (r *rank) ok(result int32) {
	r.t.Helper()
	if got := r.done(r.comm, result); got != ncclSuccess {
		r.t.Errorf("rank %d: result %d: %s", r.rank, got, dl.CString(r.nccl.Func("ncclGetLastError").CallPointer(r.comm)))
	}
}

// config is ncclConfig_t of NCCL 2.18.
func config(blocking int32) *[12]int32 {
	c := &[12]int32{48, 0, -0x35014111, 21800, blocking, undefined, undefined, undefined, 0, 0, undefined, undefined}
	return c // the third is 0xcafebeef
}

// ranks runs f on n ranks with a communicator each.
func ranks(t *testing.T, n int, blocking int32, device func(int) int, f func(*rank, int32)) {
	t.Helper()
	dir, err := gpusim.Build()
	if err != nil {
		t.Fatal(err)
	}
	nccl := lib(t, dir, "libnccl.so.2")
	drv := lib(t, dir, "libcuda.so.1")
	drv.Func("cuInit").Call(0)
	var id [128]byte
	nccl.Func("ncclGetUniqueId").Call(dl.Pointer(&id))
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			r := &rank{cuda: &cuda{t: t, drv: drv}, nccl: nccl, rank: i, size: n}
			dev := uintptr(device(i))
			r.must("cuDevicePrimaryCtxRetain", dl.Pointer(&r.ctx), dev)
			r.must("cuCtxSetCurrent", r.ctx)
			r.must("cuStreamCreate", dl.Pointer(&r.stream), 1)
			got := r.nc("ncclCommInitRankScalable", dl.Pointer(&r.comm), uintptr(n), uintptr(i), 1, dl.Pointer(&id), dl.Pointer(config(blocking)))
			if blocking == 0 {
				got = r.done(r.comm, got)
			}
			f(r, got)
			r.must("cuCtxSetCurrent", 0)
			r.must("cuDevicePrimaryCtxRelease_v2", dev)
		})
	}
	wg.Wait()
}

func self(i int) int { return i }

func TestNCCL(t *testing.T) {
	for _, blocking := range []int32{1, 0} {
		for _, n := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("blocking=%d/ranks=%d", blocking, n), func(t *testing.T) {
				ranks(t, n, blocking, self, func(r *rank, got int32) {
					r.ok(got)
					collectives(r)
					messages(r)
					halves(r)
					r.ok(r.nc("ncclCommFinalize", r.comm))
					if got := r.nc("ncclCommDestroy", r.comm); got != 0 {
						t.Errorf("destroy: %d", got)
					}
				})
			})
		}
	}
}

func collectives(r *rank) {
	n, me := float64(r.size), float64(r.rank)
	x := toDevice(r.cuda, []float64{me, 1, 10 * me})
	y := r.alloc(8 * 3 * r.size)
	r.ok(r.nc("ncclAllReduce", x, y, 3, ncclFloat64, ncclSum, r.comm, r.stream))
	want := n * (n - 1) / 2
	if got := toHost[float64](r.cuda, y, 3); got[0] != want || got[1] != n || got[2] != 10*want {
		r.t.Errorf("sum is %v, want %g, %g, %g", got, want, n, 10*want)
	}
	r.ok(r.nc("ncclAllReduce", x, y, 3, ncclFloat64, ncclAvg, r.comm, r.stream))
	if got := toHost[float64](r.cuda, y, 3); got[0] != (n-1)/2 || got[1] != 1 {
		r.t.Errorf("average is %v", got)
	}
	op := new(int32)
	scale := &[1]float64{me + 1}
	r.ok(r.nc("ncclRedOpCreatePreMulSum", dl.Pointer(op), dl.Pointer(scale), ncclFloat64, 1, r.comm))
	r.ok(r.nc("ncclAllReduce", x, x, 3, ncclFloat64, uintptr(*op), r.comm, r.stream))
	if got := toHost[float64](r.cuda, x, 3); got[1] != n*(n+1)/2 {
		r.t.Errorf("scaled sum is %g, want %g", got[1], n*(n+1)/2)
	}
	r.ok(r.nc("ncclRedOpDestroy", uintptr(*op), r.comm))

	x = toDevice(r.cuda, []float64{me, -me})
	r.ok(r.nc("ncclAllGather", x, y, 2, ncclFloat64, r.comm, r.stream))
	for i, got := range toHost[float64](r.cuda, y, 2*r.size) {
		if want := float64(i/2) * float64(1-2*(i%2)); got != want {
			r.t.Errorf("gathered %d is %g, want %g", i, got, want)
		}
	}
	r.ok(r.nc("ncclReduceScatter", y, x, 2, ncclFloat64, ncclSum, r.comm, r.stream))
	if got := toHost[float64](r.cuda, x, 2); got[0] != n*me || got[1] != -n*me {
		r.t.Errorf("scattered sum is %v", got)
	}
	last := uintptr(r.size - 1)
	r.ok(r.nc("ncclBroadcast", x, x, 2, ncclFloat64, last, r.comm, r.stream))
	if got := toHost[float64](r.cuda, x, 2); got[0] != n*(n-1) {
		r.t.Errorf("broadcast is %v", got)
	}
	sent := make([]float64, r.size)
	for i := range sent {
		sent[i] = 100*me + float64(i)
	}
	x = toDevice(r.cuda, sent)
	r.ok(r.nc("ncclAlltoAll", x, y, 1, ncclFloat64, r.comm, r.stream))
	for i, got := range toHost[float64](r.cuda, y, r.size) {
		if want := 100*float64(i) + me; got != want {
			r.t.Errorf("from %d is %g, want %g", i, got, want)
		}
	}
	if got := r.nc("ncclAllReduce", x, y, 1, 99, ncclSum, r.comm, r.stream); got != 4 {
		r.t.Errorf("a type that is none: result %d, want 4", got)
	}
}

// messages sends to the right and receives from the left in one group, each on
// a separate stream.
func messages(r *rank) {
	var other uintptr
	r.must("cuStreamCreate", dl.Pointer(&other), 1)
	x, y := toDevice(r.cuda, []float64{float64(r.rank)}), r.alloc(8)
	r.must("cuStreamSynchronize", r.stream)
	r.ok(r.nc("ncclGroupStart"))
	right, left := uintptr((r.rank+1)%r.size), uintptr((r.rank+r.size-1)%r.size)
	r.ok(r.nc("ncclSend", x, 1, ncclFloat64, right, r.comm, other))
	r.ok(r.nc("ncclRecv", y, 1, ncclFloat64, left, r.comm, r.stream))
	r.ok(r.nc("ncclGroupEnd"))
	if got := toHost[float64](r.cuda, y, 1)[0]; got != float64(left) {
		r.t.Errorf("received %g, want %d", got, left)
	}
	r.must("cuStreamDestroy_v2", other)
}

// halves splits into even and odd ranks, in reverse, without the last.
func halves(r *rank) {
	color, key := r.rank%2, -r.rank
	if r.size > 1 && r.rank == r.size-1 {
		color = -1
	}
	half := new(uintptr)
	r.ok(r.nc("ncclCommSplit", r.comm, uintptr(color), uintptr(key), dl.Pointer(half), 0))
	if color < 0 {
		if *half != 0 {
			r.t.Error("a rank without colour has a communicator")
		}
		return
	}
	size, me := new(int32), new(int32)
	r.nc("ncclCommCount", *half, dl.Pointer(size))
	r.nc("ncclCommUserRank", *half, dl.Pointer(me))
	var want, order int32
	for i := range r.size {
		if i%2 == color && (r.size == 1 || i < r.size-1) {
			want++
			if i > r.rank {
				order++
			}
		}
	}
	if *size != want || *me != order {
		r.t.Errorf("rank %d is %d of %d in its half, want %d of %d", r.rank, *me, *size, order, want)
	}
	y := r.alloc(8)
	x := toDevice(r.cuda, []float64{1})
	if got := r.done(*half, r.nc("ncclAllReduce", x, y, 1, ncclFloat64, ncclSum, *half, r.stream)); got != 0 {
		r.t.Errorf("sum of a half: %d", got)
	}
	if got := toHost[float64](r.cuda, y, 1)[0]; got != float64(want) {
		r.t.Errorf("sum of a half is %g, want %d", got, want)
	}
	r.nc("ncclCommDestroy", *half)
}

func TestNCCLRefusesSharedDevice(t *testing.T) {
	ranks(t, 2, 1, func(int) int { return 0 }, func(r *rank, got int32) {
		if got != ncclInvalidUsage || r.comm != 0 {
			t.Errorf("two ranks on one device: result %d, want %d", got, ncclInvalidUsage)
		}
	})
	gpusim.Set("GPUSIM_NCCL_SHARE", "1")
	t.Cleanup(gpusim.Reset)
	ranks(t, 2, 1, func(int) int { return 0 }, func(r *rank, got int32) {
		r.ok(got)
		r.nc("ncclCommDestroy", r.comm)
	})
}

// TestNCCLAbort has rank 1 never take part. Its abort does not help the others;
// their own does.
func TestNCCLAbort(t *testing.T) {
	var started, aborted, polled sync.WaitGroup
	started.Add(2)
	aborted.Add(1)
	polled.Add(2)
	ranks(t, 3, 0, self, func(r *rank, got int32) {
		r.ok(got)
		x := toDevice(r.cuda, []float64{1})
		if r.rank == 1 {
			started.Wait()
			r.nc("gpusim_nccl_kill", r.comm)
			if got := r.nc("ncclCommAbort", r.comm); got != 0 {
				t.Errorf("abort: %d", got)
			}
			aborted.Done()
			polled.Wait() // its context must outlive what the others do
			return
		}
		r.ok(r.nc("ncclAllReduce", x, x, 1, ncclFloat64, ncclSum, r.comm, r.stream))
		started.Done()
		aborted.Wait()
		if got := r.call("cuStreamQuery", r.stream); got != cudaNotReady {
			t.Errorf("stream after a peer's abort: %d, want %d", got, cudaNotReady)
		}
		state := new(int32)
		r.nc("ncclCommGetAsyncError", r.comm, dl.Pointer(state))
		if *state != ncclRemoteError {
			t.Errorf("state after the death of a peer is %d, want %d", *state, ncclRemoteError)
		}
		if got := r.nc("ncclCommAbort", r.comm); got != 0 {
			t.Errorf("abort: %d", got)
		}
		if got := r.call("cuStreamSynchronize", r.stream); got != cudaSuccess {
			t.Errorf("stream after abort: %d", got)
		}
		if got := r.nc("ncclAllReduce", x, x, 1, ncclFloat64, ncclSum, r.comm, r.stream); got != 4 {
			t.Errorf("a communicator that is gone: result %d, want 4", got)
		}
		polled.Done()
	})
}

// TestNCCLRevoke stops what waits for a rank that never takes part, and keeps
// the communicator, for no more than its end.
func TestNCCLRevoke(t *testing.T) {
	var revoked sync.WaitGroup
	revoked.Add(1)
	ranks(t, 2, 1, self, func(r *rank, got int32) {
		r.ok(got)
		if r.rank == 1 {
			revoked.Wait()
			r.nc("ncclCommAbort", r.comm)
			return
		}
		x := toDevice(r.cuda, []float64{1})
		r.ok(r.nc("ncclAllReduce", x, x, 1, ncclFloat64, ncclSum, r.comm, r.stream))
		r.ok(r.nc("ncclCommRevoke", r.comm, 0))
		r.ok(r.call("cuStreamSynchronize", r.stream))
		if got := r.nc("ncclAllReduce", x, x, 1, ncclFloat64, ncclSum, r.comm, r.stream); got != ncclInvalidUsage {
			t.Errorf("AllReduce after revoke: result %d, want %d", got, ncclInvalidUsage)
		}
		if r.nc("ncclCommRevoke", r.comm, 0) == 0 || r.nc("ncclCommFinalize", r.comm) == 0 {
			t.Error("a communicator is revoked twice, or finalized after that")
		}
		r.ok(r.nc("ncclCommDestroy", r.comm))
		revoked.Done()
	})
}

// TestNCCLAbortInit gives up on a rank that never joins.
func TestNCCLAbortInit(t *testing.T) {
	c := open(t)
	dir, _ := gpusim.Build()
	r := &rank{cuda: c, nccl: lib(t, dir, "libnccl.so.2")}
	var id [128]byte
	r.nc("ncclGetUniqueId", dl.Pointer(&id))
	if got := r.nc("ncclCommInitRankScalable", dl.Pointer(&r.comm), 2, 0, 1, dl.Pointer(&id), dl.Pointer(config(0))); got != ncclInProgress {
		t.Fatalf("init: result %d, want %d", got, ncclInProgress)
	}
	if got := r.nc("ncclCommAbort", r.comm); got != 0 {
		t.Errorf("abort: %d", got)
	}
	id[0] ^= 1
	if got := r.nc("ncclCommInitRankScalable", dl.Pointer(&r.comm), 2, 0, 1, dl.Pointer(&id), 0); got != 2 {
		t.Errorf("an id of nobody: result %d, want 2", got)
	}
}

// TestNCCLByValue passes the id as C does, in 128 bytes of the stack.
func TestNCCLByValue(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("where a struct goes differs on", runtime.GOARCH)
	}
	c := open(t)
	dir, _ := gpusim.Build()
	r := &rank{cuda: c, nccl: lib(t, dir, "libnccl.so.2")}
	var id [16]uintptr
	r.nc("ncclGetUniqueId", dl.Pointer(&id))
	args := append([]uintptr{dl.Pointer(&r.comm), 1, 0, 0, 0, 0}, id[:]...)
	if got := r.nccl.Func("ncclCommInitRankConfig").CallWide(args...); got != 0 {
		t.Fatalf("init: %d", got)
	}
	if got := r.nc("ncclCommDestroy", r.comm); got != 0 {
		t.Errorf("destroy: %d", got)
	}
	if unsafe.Sizeof(id) != 128 {
		t.Error("an id has 128 bytes")
	}
}
