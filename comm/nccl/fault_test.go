package nccl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/local"
	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cuda"
	"github.com/golops/golops/internal/gpusim"
)

var errBoom = errors.New("boom")

// waits are calls that rank 2 of four never joins.
var waits = map[string]func(ctx context.Context, c *comm.Comm, b comm.Buf) error{
	"AllReduce": func(ctx context.Context, c *comm.Comm, b comm.Buf) error { return c.AllReduce(ctx, b, b, comm.Sum) },
	"IBroadcast": func(ctx context.Context, c *comm.Comm, b comm.Buf) error {
		q, err := c.IBroadcast(ctx, b, 2)
		if err != nil {
			return err
		}
		return q.Wait(ctx)
	},
	"Exchange": func(ctx context.Context, c *comm.Comm, b comm.Buf) error {
		x, err := withRank2(c, b)
		if err != nil {
			return err
		}
		return x.Run(ctx)
	},
	"Recv": func(ctx context.Context, c *comm.Comm, b comm.Buf) error { return c.Recv(ctx, b, 2) },
	"Barrier": func(ctx context.Context, c *comm.Comm, b comm.Buf) error { // with an exchange under way
		x, err := withRank2(c, b)
		if err == nil {
			err = x.Start(ctx)
		}
		if err != nil {
			return err
		}
		return c.Barrier(ctx)
	},
}

// withRank2 plans an exchange of all ranks with rank 2.
func withRank2(c *comm.Comm, b comm.Buf) (*comm.Exchange, error) {
	in, out := []comm.Leg{{Peer: 2, Buf: b.Slice(0, 1)}}, []comm.Leg{{Peer: 2, Buf: b.Slice(1, 2)}}
	for r := range c.Size() {
		if c.Rank() == 2 && r != 2 {
			in, out = append(in, comm.Leg{Peer: r, Buf: b.Slice(0, 1)}), append(out, comm.Leg{Peer: r, Buf: b.Slice(1, 2)})
		}
	}
	return comm.NewExchange(c, in, out)
}

// TestFaults lets rank 2 fail while the others wait for it. The calls of all others must end
// with an error that names the rank and the cause. In some runs the library is about to
// create its communicators, in others they exist already. An old library cannot revoke
// them.
func TestFaults(t *testing.T) {
	faults := []struct {
		name string
		cfg  Config
		fail program
		want []string // in the error of the others
	}{
		{"error", Config{}, func(context.Context, *comm.Comm, device.Accelerator) error { return errBoom }, []string{"rank 2", "boom"}},
		{"panic", Config{}, func(context.Context, *comm.Comm, device.Accelerator) error { panic("bang") }, []string{"rank 2", "bang"}},
		{"abort", Config{}, func(ctx context.Context, c *comm.Comm, _ device.Accelerator) error {
			c.Abort(errBoom)
			return c.Barrier(ctx)
		}, []string{"rank 2", "boom"}},
		{"late", Config{Timeout: 50 * time.Millisecond}, func(ctx context.Context, c *comm.Comm, _ device.Accelerator) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}, []string{"waited 50ms"}},
		{"gone", Config{Timeout: time.Minute}, func(ctx context.Context, c *comm.Comm, _ device.Accelerator) error {
			for _, l := range inside(c).w.channels { // as the others see a process that dies
				inside(c).w.l.lib.Func("gpusim_nccl_kill").Call(l.handle)
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}, []string{"nccl: ", "rank"}},
	}
	for call, wait := range waits {
		for _, f := range faults {
			for _, how := range []string{"cold", "warm", "old"} {
				warm := how != "cold"
				if f.name == "gone" && (!warm || call == "Recv") || f.name == "late" && (call == "Barrier" || call == "Recv" || call == "Exchange" && !warm) {
					continue // they wait in the host, which has its own timeout
				}
				t.Run(call+"/"+f.name+"/"+how, func(t *testing.T) {
					errs := make([]error, 4)
					var warming sync.WaitGroup // the ranks that must not see the fault yet
					warming.Add(3)
					err := simulated(t, 4, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
						if how == "old" {
							inside(c).w.l.revoke = 0
						}
						m, err := newMemory(dev, 1.0, 2)
						if err == nil && warm {
							err = exercise(ctx, c, m.buf())
						}
						if c.Rank() != 2 {
							warming.Done()
						}
						if err != nil {
							return err
						}
						inside(c).w.cfg = f.cfg // the machine may be too busy to warm up in time
						if c.Rank() == 2 {
							warming.Wait()
							return f.fail(ctx, c, dev)
						}
						errs[c.Rank()] = wait(ctx, c, m.buf())
						return errs[c.Rank()]
					})
					if err == nil {
						t.Fatal("no error")
					}
					for r, e := range errs {
						var ae *comm.AbortError
						if r != 2 && !errors.As(e, &ae) {
							t.Errorf("rank %d: %v, want an *AbortError", r, e)
						}
						for _, want := range f.want {
							if r != 2 && (e == nil || !strings.Contains(e.Error(), want)) {
								t.Errorf("rank %d: %v, want it to say %q", r, e, want)
							}
						}
					}
				})
			}
		}
	}
}

// TestDeviceWait lets rank 2 fail while the others wait for their GPUs. There a kernel is
// queued after a collective that rank 2 has not joined.
func TestDeviceWait(t *testing.T) {
	for name, fail := range map[string]program{
		"error": func(context.Context, *comm.Comm, device.Accelerator) error { return errBoom },
		"gone": func(ctx context.Context, c *comm.Comm, _ device.Accelerator) error {
			inside(c).w.l.lib.Func("gpusim_nccl_kill").Call(inside(c).channel.handle)
			<-ctx.Done()
			return context.Cause(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var begun sync.WaitGroup
			begun.Add(2)
			err := simulated(t, 3, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
				m, err := newMemory(dev, 1.0, 2)
				if err == nil {
					err = c.AllReduce(ctx, m.buf(), m.buf(), comm.Sum)
				}
				if err != nil {
					return err
				}
				if c.Rank() == 2 {
					begun.Wait()
					return fail(ctx, c, dev)
				}
				kernels, err := device.KernelsFor[float64](dev)
				if err != nil {
					return err
				}
				x, err := kernels.Alloc(100)
				if err != nil {
					return err
				}
				q, err := c.IAllReduce(ctx, m.buf(), m.buf(), comm.Sum)
				for err == nil && len(inside(c).channel.busy) == 0 {
					_, err = q.Test()
				}
				if err == nil {
					err = inside(c).channel.queue.Lead()
				}
				kernels.Fill(x, 1)
				begun.Done()
				if err != nil {
					return err
				}
				err = dev.Sync(ctx)
				var ae *comm.AbortError
				if !errors.As(err, &ae) {
					t.Errorf("rank %d: %v, want an *AbortError", c.Rank(), err)
				}
				return err
			})
			if err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestRevoke asserts that after a failure nothing runs on the GPU. A library with revoke keeps
// its communicators until Close.
func TestRevoke(t *testing.T) {
	for _, old := range []bool{false, true} {
		var left, closed [3]int32
		var warming sync.WaitGroup // the ranks that must not see the fault yet
		warming.Add(2)
		dir, err := gpusim.Build()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(EnvVar, dir)
		err = local.Run(t.Context(), 3, func(ctx context.Context, host *comm.Comm) error {
			dev, err := cuda.New(cuda.Config{Index: host.Rank(), Folder: dir})
			if err != nil {
				return err
			}
			var count func() int32
			err = with(ctx, host, dev, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
				if count = func() int32 { return inside(c).w.l.lib.Func("gpusim_nccl_count").Call() }; old {
					inside(c).w.l.revoke = 0
				}
				m, err := newMemory(dev, 1.0, 2)
				if err == nil {
					err = exercise(ctx, c, m.buf())
				}
				if c.Rank() != 2 {
					warming.Done()
				}
				if err != nil {
					return err
				}
				if c.Rank() == 2 {
					warming.Wait()
					return errBoom
				}
				err = c.AllReduce(ctx, m.buf(), m.buf(), comm.Sum)
				for _, l := range inside(c).w.channels {
					if l.handle != 0 {
						left[c.Rank()]++
					}
				}
				_, e := m.values()
				return errors.Join(err, e)
			})
			closed[host.Rank()] = count()
			return errors.Join(err, dev.Close())
		})
		if !errors.Is(err, errBoom) || strings.Contains(err.Error(), "cuda") {
			t.Errorf("old %v: got %v", old, err)
		}
		if kept := left[0] > 0 && left[1] > 0; kept == old {
			t.Errorf("old %v: ranks have %v communicators after the failure", old, left)
		}
		if slices.Min(closed[:]) != 0 {
			t.Errorf("old %v: %v communicators are left after Close", old, closed)
		}
	}
}

// exercise creates the NCCL communicator that the waits use, and its connections.
func exercise(ctx context.Context, c *comm.Comm, b comm.Buf) error {
	if err := c.AllReduce(ctx, b, b, comm.Sum); err != nil {
		return err
	}
	x, err := withRank2(c, b)
	if err == nil {
		err = x.Run(ctx)
	}
	if err != nil {
		return err
	}
	return c.Barrier(ctx)
}

// TestCancel ends a context while ranks wait.
func TestCancel(t *testing.T) {
	stop := errors.New("enough")
	err := simulated(t, 3, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
		m, err := newMemory(dev, 1.0, 2)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		if c.Rank() == 1 {
			cancel(stop)
		}
		return c.AllReduce(ctx, m.buf(), m.buf(), comm.Max)
	})
	if !errors.Is(err, stop) {
		t.Errorf("got %v, want %v", err, stop)
	}
}

// TestSharedGPU asserts that two ranks on one GPU are an error that says so.
func TestSharedGPU(t *testing.T) {
	dir, err := gpusim.Build()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvVar, dir)
	err = local.Run(t.Context(), 2, func(ctx context.Context, host *comm.Comm) error {
		dev, err := cuda.New(cuda.Config{Folder: dir})
		if err != nil {
			return err
		}
		return errors.Join(with(ctx, host, dev, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
			m, err := newMemory(dev, 1.0)
			if err != nil {
				return err
			}
			return c.Broadcast(ctx, m.buf(), 0)
		}), dev.Close())
	})
	if err == nil || !strings.Contains(err.Error(), "Duplicate GPU") || !strings.Contains(err.Error(), "its own GPU") {
		t.Errorf("got %v", err)
	}
}

// TestFind asserts the errors for libraries that cannot be used.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	build := func(name, source string) string { return build(t, filepath.Join(dir, name), source) }
	const getVersion = "int ncclGetVersion(int *v) { *v = %; return 0; }"
	for _, k := range []struct {
		name, platform, path string
		want                 []string
	}{
		{"old", "cuda", build("libold.so", strings.Replace(getVersion, "%", "21705", 1)), []string{"NCCL 2.17.5", "2.18.0 or newer"}},
		{"very old", "cuda", build("libveryold.so", strings.Replace(getVersion, "%", "2804", 1)), []string{"NCCL 2.8.4"}},
		{"half", "hip", build("libhalf.so", strings.Replace(getVersion, "%", "22105", 1)), []string{"libhalf.so lacks ncclAllReduce"}},
		{"none", "cuda", build("libnone.so", ""), []string{"libnone.so lacks ncclGetVersion"}},
		{"absent", "cuda", filepath.Join(dir, "absent.so"), []string{EnvVar, "absent.so: libnccl.so.2 not found"}},
		{"empty folder", "cuda", dir, []string{EnvVar, dir + ": libnccl.so.2 not found"}},
		{"other", "vulkan", "", []string{`"vulkan"`, "have cuda, hip"}},
	} {
		t.Run(k.name, func(t *testing.T) {
			t.Setenv(EnvVar, k.path)
			f, err := Find(k.platform)
			if err == nil {
				_, err = bind(f)
			}
			for _, want := range k.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want it to say %q", err, want)
				}
			}
		})
	}
}

// build compiles a library from C.
func build(t *testing.T, so, source string) string {
	t.Helper()
	c := so + ".c"
	if err := errors.Join(os.MkdirAll(filepath.Dir(so), 0o755), os.WriteFile(c, []byte(source), 0o644)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", so, c).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	return so
}

// TestOldest binds a library with the functions of NCCL 2.18.3, in the folder of pip. All
// required functions are there, and the others are optional.
func TestOldest(t *testing.T) {
	list, err := os.ReadFile("testdata/nccl-2.18.txt")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for name := range strings.FieldsSeq(string(list)) {
		if name == "ncclGetVersion" {
			source.WriteString("int ncclGetVersion(int *v) { *v = 21803; return 0; }\n")
		} else {
			fmt.Fprintf(&source, "int %s() { return 0; }\n", name)
		}
	}
	env := t.TempDir()
	so := build(t, filepath.Join(env, "lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2"), source.String())
	for _, folder := range []string{so, filepath.Dir(so), filepath.Join(so, "../../.."), filepath.Join(so, "../../../.."), env} {
		t.Setenv(EnvVar, folder)
		f, err := Find("cuda")
		if err != nil {
			t.Fatal(err)
		}
		if l, err := bind(f); err != nil || l.Path != so || l.Version != "2.18.3" {
			t.Errorf("%s=%s: %v, bound with error %v", EnvVar, folder, l, err)
		}
	}
}
