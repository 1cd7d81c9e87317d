//go:build linux

package gpusim_test

import (
	"fmt"
	"testing"

	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/internal/gpusim"
)

// allocNCCL returns memory of ncclMemAlloc.
func (r *rank) allocNCCL(n uintptr) uintptr {
	p := new(uintptr)
	if got := r.nc("ncclMemAlloc", dl.Pointer(p), n); got != 0 {
		r.t.Errorf("ncclMemAlloc: %d", got)
	}
	return *p
}

// TestNCCLRegister registers memory and windows, and all that must not be.
func TestNCCLRegister(t *testing.T) {
	const invalid = 4
	for _, blocking := range []int32{1, 0} {
		for _, n := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("blocking=%d/ranks=%d", blocking, n), func(t *testing.T) {
				ranks(t, n, blocking, self, func(r *rank, got int32) {
					r.ok(got)
					expect := func(what string, want int32, name string, args ...uintptr) {
						t.Helper()
						if got := r.done(r.comm, r.nc(name, args...)); got != want {
							t.Errorf("%s: %s returns %d, want %d", what, name, got, want)
						}
					}
					h, win, host := new(uintptr), new(uintptr), new([64]byte)
					plain, mem := r.alloc(8192), r.allocNCCL(8192)
					expect("memory of the device", 0, "ncclCommRegister", r.comm, plain, 8192, dl.Pointer(h))
					expect("more than there is", invalid, "ncclCommRegister", r.comm, plain, 8193, dl.Pointer(new(uintptr)))
					expect("memory of the host", invalid, "ncclCommRegister", r.comm, dl.Pointer(host), 64, dl.Pointer(new(uintptr)))
					expect("a handle as a window", ncclInvalidUsage, "ncclCommWindowDeregister", r.comm, *h)
					expect("a handle", 0, "ncclCommDeregister", r.comm, *h)
					expect("a handle again", ncclInvalidUsage, "ncclCommDeregister", r.comm, *h)

					expect("other memory", invalid, "ncclCommWindowRegister", r.comm, plain, 8192, dl.Pointer(win), 1)
					expect("alignment", invalid, "ncclCommWindowRegister", r.comm, mem+256, 4096, dl.Pointer(win), 1)
					expect("flags", invalid, "ncclCommWindowRegister", r.comm, mem, 4096, dl.Pointer(win), 8)
					if got := r.nc("ncclCommWindowRegister", r.comm, mem, 8192, dl.Pointer(win), 1); got != 0 {
						t.Errorf("a window: %d", got)
					}
					r.ok(ncclInProgress) // which only the state says
					if *win == 0 {
						t.Error("no window")
					}
					expect("memory in use", ncclInvalidUsage, "ncclMemFree", mem)
					expect("a window", 0, "ncclCommWindowDeregister", r.comm, *win)
					expect("a window again", ncclInvalidUsage, "ncclCommWindowDeregister", r.comm, *win)
					expect("memory", 0, "ncclMemFree", mem)
					expect("memory again", invalid, "ncclMemFree", mem)
					r.ok(r.nc("ncclCommFinalize", r.comm))
					r.nc("ncclCommDestroy", r.comm)
				})
				if n := gpusim.Registrations(); n != 0 {
					t.Errorf("%d registrations are left", n)
				}
			})
		}
	}
}

// TestNCCLWindowRefused has ranks that ask for different windows, and libraries
// that give none. An abort forgets what is left.
func TestNCCLWindowRefused(t *testing.T) {
	t.Cleanup(gpusim.Reset)
	for _, k := range []struct {
		setting string
		size    func(rank int) uintptr
		want    int32
		windows bool
	}{
		{"", func(rank int) uintptr { return uintptr(4096 * (rank + 1)) }, 4, false},
		{"null", func(int) uintptr { return 4096 }, 0, false},
		{"fail", func(int) uintptr { return 4096 }, 1, false},
		{"null 7", func(int) uintptr { return 4096 }, 0, true},
	} {
		gpusim.Set("GPUSIM_NCCL_WINDOWS", k.setting)
		ranks(t, 2, 0, self, func(r *rank, got int32) {
			r.ok(got)
			n, win := k.size(r.rank), new(uintptr)
			mem := r.allocNCCL(n)
			if got := r.nc("ncclCommWindowRegister", r.comm, mem, n, dl.Pointer(win), 1); got != 0 {
				t.Errorf("%q: %d", k.setting, got)
			}
			if got := r.done(r.comm, ncclInProgress); got != k.want || (*win != 0) != k.windows {
				t.Errorf("%q: result %d, window %d, want result %d, a window: %v", k.setting, got, *win, k.want, k.windows)
			}
			r.nc("ncclCommAbort", r.comm)
			if got := r.nc("ncclMemFree", mem); got != 0 {
				t.Errorf("%q: ncclMemFree: %d", k.setting, got)
			}
		})
		if n := gpusim.Registrations(); n != 0 {
			t.Errorf("%q: %d registrations are left", k.setting, n)
		}
	}
}
