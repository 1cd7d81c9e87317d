package nccl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/gpusim"
	"github.com/golops/golops/scalar"
)

// known is registered memory, with the host's copy.
type known struct {
	*memory[float64]
	reg  comm.Registration
	free func()
}

// kinds are the ways to register memory.
var kinds = []struct {
	name string
	make func(ctx context.Context, c *comm.Comm, dev device.Accelerator, n int) (known, error)
}{
	{"Register", func(ctx context.Context, c *comm.Comm, dev device.Accelerator, n int) (known, error) {
		m, err := newMemory(dev, make([]float64, n)...)
		if err != nil {
			return known{}, err
		}
		reg, err := c.Register(ctx, m.buf())
		return known{m, reg, func() { dev.FreeBytes(m.addr) }}, err
	}},
	{"Alloc", func(ctx context.Context, c *comm.Comm, dev device.Accelerator, n int) (known, error) {
		return allocated(ctx, c, dev, n, false)
	}},
	{"symmetric Alloc", func(ctx context.Context, c *comm.Comm, dev device.Accelerator, n int) (known, error) {
		return allocated(ctx, c, dev, n, true)
	}},
}

func allocated(ctx context.Context, c *comm.Comm, dev device.Accelerator, n int, symmetric bool) (known, error) {
	reg, err := c.AllocRegistered(ctx, 8*n, symmetric)
	if err != nil {
		return known{}, err
	}
	b := reg.Buf()
	if b.DType != scalar.Uint8 || b.N != 8*n || b.Place != comm.OnDevice || b.Addr()%256 != 0 {
		return known{}, fmt.Errorf("got %+v", b)
	}
	m := &memory[float64]{dev: dev, addr: b.Addr(), n: n}
	if m.queue, err = dev.NewQueue(); err == nil {
		m.pin, err = dev.Pin(8 * n)
	}
	return known{m, reg, func() {}}, err
}

// set copies values to the device.
func (m *memory[T]) set(values ...T) error {
	copy(m.host(), values)
	if err := m.queue.CopyIn(m.addr, m.pin); err != nil {
		return err
	}
	return m.wait()
}

func (k known) close(ctx context.Context) error {
	err := k.reg.Close(ctx)
	k.free()
	k.dev.Unpin(k.pin)
	return errors.Join(err, k.queue.Close(), k.reg.Close(ctx))
}

// exchange runs collectives from src to dst and in place, and compares.
func exchange(ctx context.Context, c *comm.Comm, src, dst known) error {
	n, want := c.Size(), make([]float64, src.n)
	mine := make([]float64, src.n)
	for i := range want {
		mine[i] = float64((c.Rank() + 1) * (i%1000 + 1))
		want[i] = float64(n * (n + 1) / 2 * (i%1000 + 1))
	}
	if err := errors.Join(src.set(mine...), dst.set(make([]float64, dst.n)...)); err != nil {
		return err
	}
	check := func(what string, m known) error {
		got, err := m.values()
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("%s gives %v..., want %v...", what, got[:min(4, len(got))], want[:min(4, len(want))])
		}
		return err
	}
	if err := c.AllReduce(ctx, dst.buf(), src.buf(), comm.Sum); err != nil {
		return err
	}
	if err := check("AllReduce", dst); err != nil {
		return err
	}
	if err := c.AllReduce(ctx, src.buf(), src.buf(), comm.Sum); err != nil {
		return err
	}
	if err := check("AllReduce in place", src); err != nil {
		return err
	}
	each := src.n / n
	if err := c.AllGather(ctx, dst.buf().Slice(0, each*n), src.buf().Slice(0, each)); err != nil {
		return err
	}
	for r := range n {
		copy(want[r*each:], want[:each])
	}
	return check("AllGather", dst)
}

// registers uses each kind of memory repeatedly on all ranks and checks that none leaks. A
// kind that the library does not support is reported and skipped.
func registers(ctx context.Context, c *comm.Comm, dev device.Accelerator, rounds, n int) error {
	for _, k := range kinds {
		free, last, done := 0, 0, 0
		for round := range rounds {
			err := func() error {
				src, err := k.make(ctx, c, dev, n)
				if err != nil {
					return err
				}
				dst, err := k.make(ctx, c, dev, n)
				if err != nil {
					return errors.Join(err, src.close(ctx))
				}
				return errors.Join(exchange(ctx, c, src, dst), src.close(ctx), dst.close(ctx))
			}()
			if errors.Is(err, errors.ErrUnsupported) && round == 0 {
				fmt.Printf("REGISTER %s, rank %d of %d: cannot: %v\n", k.name, c.Rank(), c.Size(), err)
				break
			}
			if err != nil {
				return fmt.Errorf("%s, round %d: %w", k.name, round, err)
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			done++
			if last, _ = dev.Info().Memory(); round == 2 { // the library keeps some memory
				free = last
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
		}
		if done == 0 {
			continue
		}
		if c.Rank() == 0 {
			fmt.Printf("REGISTER %s on %v: %d ranks, %d rounds of 2 x %d bytes, free memory went from %d to %d\n",
				k.name, c, c.Size(), done, 8*n, free, last)
		}
		if free-last > 8*n {
			return fmt.Errorf("%s: %d bytes were lost in %d rounds", k.name, free-last, done)
		}
	}
	return nil
}

// TestRegister runs registers on simulated GPUs, which support all kinds.
func TestRegister(t *testing.T) {
	for _, ranks := range []int{1, 2, 3} {
		err := simulated(t, ranks, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
			for _, k := range kinds {
				a, err := k.make(ctx, c, dev, 600)
				if err != nil {
					return fmt.Errorf("%s: %w", k.name, err)
				}
				if err := c.Barrier(ctx); err != nil {
					return err
				}
				if got, want := gpusim.Registrations(), ranks; ranks > 1 && got != want {
					return fmt.Errorf("%s: %d registrations, want %d", k.name, got, want)
				}
				if err := errors.Join(c.Barrier(ctx), a.close(ctx), c.Barrier(ctx)); err != nil {
					return err
				}
				if got := gpusim.Registrations(); got != 0 {
					return fmt.Errorf("%s: %d registrations are left", k.name, got)
				}
				if err := c.Barrier(ctx); err != nil {
					return err
				}
			}
			return registers(ctx, c, dev, 4, 1<<16)
		})
		if n := gpusim.Registrations(); err != nil || n != 0 {
			t.Errorf("%d ranks: %v, %d registrations are left", ranks, err, n)
		}
	}
}

// TestRegisterCannot has libraries that lack the functions, on one rank or on all, and
// libraries that refuse. All ranks get an error and can continue.
func TestRegisterCannot(t *testing.T) {
	t.Cleanup(gpusim.Reset)
	lacking := func(l *lib) { l.windowRegister = 0 }
	old := func(l *lib) { l.memAlloc, l.register = 0, 0 }
	for _, k := range []struct {
		name, windows string
		change        func(l *lib)
		ranks         []int // to change
		can           []bool
		want          string
	}{
		{"2.18", "", old, []int{0, 1, 2}, []bool{false, false, false}, "which 2.19 has"},
		{"2.18 on one rank", "", old, []int{1}, []bool{false, false, false}, "lacks ncclMemAlloc"},
		{"2.19", "", lacking, []int{0, 1, 2}, []bool{true, true, false}, "lacks ncclCommWindowRegister, which 2.27 has"},
		{"null", "null", nil, nil, []bool{true, true, false}, "gives no window"},
		{"null on one rank", "null 1", nil, nil, []bool{true, true, false}, "gives no window"},
		{"failure", "fail", nil, nil, []bool{true, true, false}, "operation not supported"},
		{"failure on one rank", "fail 1", nil, nil, []bool{true, true, false}, "operation not supported"},
	} {
		t.Run(k.name, func(t *testing.T) {
			gpusim.Set("GPUSIM_NCCL_WINDOWS", k.windows)
			err := simulated(t, 3, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
				if slices.Contains(k.ranks, c.Rank()) {
					k.change(inside(c).w.l)
				}
				before, _ := dev.Info().Memory()
				for i, kind := range kinds {
					reg, err := kind.make(ctx, c, dev, 512)
					if k.can[i] {
						if err != nil {
							return fmt.Errorf("%s: %w", kind.name, err)
						}
						if err := reg.close(ctx); err != nil {
							return err
						}
					} else if !errors.Is(err, errors.ErrUnsupported) || i == 2 && !strings.Contains(err.Error(), k.want) {
						return fmt.Errorf("%s: got %v, want ErrUnsupported that says %q", kind.name, err, k.want)
					}
					m, err := newMemory(dev, 1.0)
					if err != nil {
						return err
					}
					if err := c.AllReduce(ctx, m.buf(), m.buf(), comm.Sum); err != nil {
						return err
					}
					if got, err := m.values(); err != nil || got[0] != 3 {
						return fmt.Errorf("AllReduce after %s: %v, %v", kind.name, got, err)
					}
				}
				// Memory pools of the GPU keep the memory of Register.
				if after, _ := dev.Info().Memory(); before-after > 32<<10 {
					return fmt.Errorf("%d bytes were lost", before-after)
				}
				return nil
			})
			if n := gpusim.Registrations(); err != nil || n != 0 {
				t.Errorf("%v, %d registrations are left", err, n)
			}
		})
	}
}

// TestRegisterFaults gives invalid arguments, on all ranks and on one.
func TestRegisterFaults(t *testing.T) {
	err := simulated(t, 3, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
		var mismatch *comm.MismatchError
		if _, err := c.AllocRegistered(ctx, 4096*(1+c.Rank()), true); !errors.As(err, &mismatch) {
			return fmt.Errorf("different sizes: %v", err)
		}
		if _, err := c.AllocRegistered(ctx, c.Rank()-1, false); err == nil || !strings.Contains(err.Error(), "bytes: must be at least 1") {
			return fmt.Errorf("no bytes: %v", err)
		}
		if _, err := c.Register(ctx, comm.Of([]float64{1})); err == nil || !strings.Contains(err.Error(), "host memory") {
			return fmt.Errorf("host memory: %v", err)
		}
		if _, err := c.AllocRegistered(ctx, 1<<40, true); err == nil || errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("too much: %v", err)
		}
		if _, err := inside(c).door.Register(ctx, comm.Buf{}); !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("goroutines: %v", err)
		}
		if reg, err := c.Register(ctx, comm.Buf{}); err != nil || reg.Close(ctx) != nil {
			return fmt.Errorf("nothing: %v", err)
		}
		return nil
	})
	if n := gpusim.Registrations(); err != nil || n != 0 {
		t.Errorf("%v, %d registrations are left", err, n)
	}
}

// TestRegisterLeft closes communicators with registered memory.
func TestRegisterLeft(t *testing.T) {
	for _, ranks := range []int{1, 2, 3} {
		err := simulated(t, ranks, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
			all := func(c *comm.Comm) error {
				for _, k := range kinds {
					if _, err := k.make(ctx, c, dev, 1<<18); err != nil {
						return err
					}
				}
				return nil
			}
			half, err := c.Split(ctx, c.Rank()%2, 0)
			if err != nil {
				return err
			}
			before, _ := dev.Info().Memory()
			if err := errors.Join(all(half), half.Close()); err != nil {
				return err
			}
			if after, _ := dev.Info().Memory(); before-after > 5<<19 { // the memory of Register still belongs to the test
				return fmt.Errorf("%d bytes were lost", before-after)
			}
			return all(c)
		})
		if n := gpusim.Registrations(); err != nil || n != 0 {
			t.Errorf("%d ranks: %v, %d registrations are left", ranks, err, n)
		}
	}
}

// TestRegisterAbort aborts the program while memory is registered, and while it is being
// registered. Close frees it all the same.
func TestRegisterAbort(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context, c *comm.Comm, b comm.Buf) error{
		"AllReduce": func(ctx context.Context, c *comm.Comm, b comm.Buf) error { return c.AllReduce(ctx, b, b, comm.Sum) },
		"Alloc": func(ctx context.Context, c *comm.Comm, _ comm.Buf) error {
			_, err := c.AllocRegistered(ctx, 4096, true)
			return err
		},
		"window": func(ctx context.Context, c *comm.Comm, _ comm.Buf) error { // in the library, where rank 1 does not come
			in := inside(c)
			r := &registration{c: in, allocated: true, window: true, buf: comm.Buf{DType: scalar.Uint8, N: 4096, Place: comm.OnDevice}}
			err := r.alloc()
			in.w.registrations = append(in.w.registrations, r)
			return errors.Join(err, in.registerWithLibrary(ctx, r))
		},
		"Close": func(ctx context.Context, c *comm.Comm, _ comm.Buf) error { return c.Barrier(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			errs := make([]error, 3)
			err := simulated(t, 3, Config{}, func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
				var m known
				for _, k := range kinds {
					var err error
					if m, err = k.make(ctx, c, dev, 512); err != nil {
						return err
					}
				}
				if c.Rank() == 1 {
					return errBoom
				}
				errs[c.Rank()] = wait(ctx, c, m.buf())
				return errors.Join(errs[c.Rank()], m.close(ctx))
			})
			for r, e := range errs {
				var ae *comm.AbortError
				if r != 1 && (!errors.As(e, &ae) || !errors.Is(e, errBoom)) {
					t.Errorf("rank %d: %v, want an *AbortError", r, e)
				}
			}
			if n := gpusim.Registrations(); !errors.Is(err, errBoom) || n != 0 || strings.Contains(err.Error(), "ncclMemFree") {
				t.Errorf("%v, %d registrations are left", err, n)
			}
		})
	}
}
