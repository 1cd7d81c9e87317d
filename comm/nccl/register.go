package nccl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

var _ comm.Registrar = (*Comm)(nil)

// Register implements comm.Registrar.
func (c *Comm) Register(ctx context.Context, b comm.Buf) (comm.Registration, error) {
	r := &region{c: c, buf: b, call: comm.Call{Kind: comm.KindRegister, Peer: -1, N: -1}}
	var err error
	if b.N > 0 && b.Place != comm.OnDevice {
		err = errors.New("comm: Register: the buffer is in host memory, must be in GPU memory")
	}
	return c.enrol(ctx, r, err)
}

// Alloc implements comm.Registrar.
func (c *Comm) Alloc(ctx context.Context, n int, symmetric bool) (comm.Registration, error) {
	r := &region{c: c, own: true, window: symmetric, call: comm.Call{Kind: comm.KindAlloc, Peer: -1, N: -1}}
	if symmetric {
		r.call.N = int64(n)
	}
	r.call.DType = scalar.Uint8
	r.buf = comm.Buf{DType: scalar.Uint8, N: n, Place: comm.OnDevice}
	var err error
	if n < 1 {
		err = fmt.Errorf("comm: Alloc of %d bytes: must be at least 1", n)
	}
	return c.enrol(ctx, r, err)
}

// enrol makes a region known, on all ranks or on none.
func (c *Comm) enrol(ctx context.Context, r *region, fault error) (comm.Registration, error) {
	if c.shut {
		return nil, comm.ErrClosed
	}
	if fault == nil {
		fault = c.w.l.lacks(r)
	}
	if err := c.agree(ctx, r.call, fault); err != nil {
		return nil, err
	}
	fault = r.alloc()
	c.w.mu.Lock()
	c.w.regions = append(c.w.regions, r)
	c.w.mu.Unlock()
	if err := c.agree(ctx, r.call, fault); err != nil {
		return nil, errors.Join(err, r.Close(ctx))
	}
	if err := c.introduce(ctx, r); err != nil {
		return nil, err
	}
	if err := c.agree(ctx, r.call, r.refused()); err != nil {
		broken, e := c.anywhere(ctx, r.window && r.err != nil)
		if e == nil && broken {
			e = c.drop()
		}
		return nil, errors.Join(err, e, r.Close(ctx))
	}
	return r, nil
}

// lacks says what the library has not, for a region.
func (l *lib) lacks(r *region) error {
	for _, f := range []struct {
		needed bool
		has    bool
		name   string
	}{
		{r.own, l.memAlloc != 0 && l.memFree != 0, "ncclMemAlloc, which 2.19 has"},
		{!r.window, l.register != 0 && l.deregister != 0, "ncclCommRegister, which 2.19 has"},
		{r.window, l.windowRegister != 0 && l.windowDeregister != 0, "ncclCommWindowRegister, which 2.27 has"},
	} {
		if f.needed && !f.has {
			return fmt.Errorf("nccl: %s %s lacks %s: %w", l.Name, l.Version, f.name, errors.ErrUnsupported)
		}
	}
	return nil
}

// agree returns an error on all ranks if one has a fault, or if they are in
// different calls. It is ErrUnsupported on all if it is on one.
func (c *Comm) agree(ctx context.Context, call comm.Call, fault error) error {
	err := comm.Compare(c.n, call, fault,
		func(numbers ...int64) ([]int64, error) { return c.show(ctx, numbers...) },
		func(b comm.Buf, root int) error { return c.host.Broadcast(ctx, b, root) })
	if err == nil {
		return nil
	}
	lacking, e := c.anywhere(ctx, errors.Is(fault, errors.ErrUnsupported))
	if e == nil && lacking && !errors.Is(err, errors.ErrUnsupported) {
		err = fmt.Errorf("%w: %w", err, errors.ErrUnsupported)
	}
	return err
}

// introduce hands a region to the line of this group, which it makes if need be,
// and waits until the library knows it or has refused.
func (c *Comm) introduce(ctx context.Context, r *region) error {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.n == 1 {
		return nil // nobody to talk to
	}
	if err := w.ready(ctx); err != nil {
		return err
	}
	if c.line == nil {
		if err := c.newLine(ctx); err != nil {
			return w.fail(err)
		}
	}
	if r.buf.N == 0 {
		return nil // nothing to talk of
	}
	r.line = c.line
	return r.settle(ctx)
}

// refused says why a region is not known, if it is not.
func (r *region) refused() error {
	switch {
	case r.line == nil || r.handle != 0:
		return nil
	case r.err != nil:
		return fmt.Errorf("comm: %v: %w: %w", r.call, r.err, errors.ErrUnsupported)
	case r.window:
		return fmt.Errorf("comm: %v: %v gives no window: it takes GPUs that reach each other's memory, one for each rank: %w",
			r.call, r.c, errors.ErrUnsupported)
	}
	return fmt.Errorf("comm: %v: %v registers nothing: is NCCL_LOCAL_REGISTER set to 0? %w", r.call, r.c, errors.ErrUnsupported)
}

// drop gives up the line of this group, on all ranks: the next collective makes
// a new one. What was known to it is so no more.
func (c *Comm) drop() error {
	w, l := c.w, c.line
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.regions {
		if r.line == l {
			r.line, r.handle = nil, 0
		}
	}
	w.lines = slices.DeleteFunc(w.lines, func(o *line) bool { return o == l })
	w.active = slices.DeleteFunc(w.active, func(o *line) bool { return o == l })
	c.line = nil
	w.abort([]*line{l})
	return l.queue.Close()
}
