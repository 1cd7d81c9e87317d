package nccl

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// Register implements driver.Registrar.
func (c *conn) Register(ctx context.Context, b driver.Buf) (driver.Registration, error) {
	r := &registration{c: c, buf: b, call: driver.Signature{Kind: driver.KindRegister, Peer: -1, N: -1}}
	var err error
	if b.N > 0 && b.Place != driver.OnDevice {
		err = errors.New("comm: Register: the buffer is in host memory, must be in GPU memory")
	}
	return c.register(ctx, r, err)
}

// Alloc implements driver.Registrar.
func (c *conn) Alloc(ctx context.Context, n int, symmetric bool) (driver.Registration, error) {
	r := &registration{c: c, allocated: true, window: symmetric, call: driver.Signature{Kind: driver.KindAlloc, Peer: -1, N: -1}}
	if symmetric {
		r.call.N = int64(n)
	}
	r.call.DType = scalar.Uint8
	r.buf = driver.Buf{DType: scalar.Uint8, N: n, Place: driver.OnDevice}
	var err error
	if n < 1 {
		err = fmt.Errorf("comm: Alloc of %d bytes: must be at least 1", n)
	}
	return c.register(ctx, r, err)
}

// register registers memory on all ranks or on none.
func (c *conn) register(ctx context.Context, r *registration, fault error) (driver.Registration, error) {
	if fault == nil {
		fault = c.w.l.checkSupport(r)
	}
	if fault == nil && r.allocated {
		fault = r.alloc()
	}
	c.w.mu.Lock()
	c.w.registrations = append(c.w.registrations, r)
	c.w.mu.Unlock()
	if err := c.agree(ctx, r.call, fault); err != nil {
		return nil, errors.Join(err, r.Close(ctx))
	}
	if err := c.registerWithLibrary(ctx, r); err != nil {
		return nil, err
	}
	if err := c.agree(ctx, r.call, r.refused()); err != nil {
		broken, e := c.onAnyRank(ctx, r.call, r.window && r.err != nil)
		if e == nil && broken {
			e = c.replaceChannel(ctx)
		}
		return nil, errors.Join(err, e, r.Close(ctx))
	}
	return r, nil
}

// checkSupport returns an error if the library lacks a function that r needs.
func (l *lib) checkSupport(r *registration) error {
	for _, f := range []struct {
		needed bool
		has    bool
		name   string
	}{
		{r.allocated, l.memAlloc != 0 && l.memFree != 0, "ncclMemAlloc, which 2.19 has"},
		{!r.window, l.register != 0 && l.deregister != 0, "ncclCommRegister, which 2.19 has"},
		{r.window, l.windowRegister != 0 && l.windowDeregister != 0, "ncclCommWindowRegister, which 2.27 has"},
	} {
		if f.needed && !f.has {
			return fmt.Errorf("nccl: %s %s lacks %s: %w", l.Name, l.Version, f.name, errors.ErrUnsupported)
		}
	}
	return nil
}

// agree returns an error on all ranks if one has a fault or if they are in different
// calls. If one rank has errors.ErrUnsupported, all have.
func (c *conn) agree(ctx context.Context, call driver.Signature, fault error) error {
	err := c.compare(ctx, &driver.Call{Signature: call, Err: fault})
	if err == nil {
		return nil
	}
	lacking, e := c.onAnyRank(ctx, call, errors.Is(fault, errors.ErrUnsupported))
	if e == nil && lacking && !errors.Is(err, errors.ErrUnsupported) {
		err = fmt.Errorf("%w: %w", err, errors.ErrUnsupported)
	}
	return err
}

// registerWithLibrary passes r to the channel of this group and waits until the library has
// registered or refused it. It makes the channel if necessary.
func (c *conn) registerWithLibrary(ctx context.Context, r *registration) error {
	if c.n == 1 {
		return nil // one rank needs no registration
	}
	c.w.mu.Lock()
	err := c.open(ctx)
	c.w.mu.Unlock()
	if err != nil || r.buf.N == 0 {
		return err
	}
	r.channel = c.channel
	return r.await(ctx)
}

// refused returns why the library has not registered r, or nil.
func (r *registration) refused() error {
	switch {
	case r.channel == nil || r.handle != 0:
		return nil
	case r.err != nil:
		return fmt.Errorf("comm: %v: %w: %w", r.call, r.err, errors.ErrUnsupported)
	case r.window:
		return fmt.Errorf("comm: %v: %v gives no window: each rank needs its own GPU, and the GPUs must reach each other's memory: %w",
			r.call, r.c.info.Name, errors.ErrUnsupported)
	}
	return fmt.Errorf("comm: %v: %v registers nothing: is NCCL_LOCAL_REGISTER set to 0? %w", r.call, r.c.info.Name, errors.ErrUnsupported)
}

// replaceChannel aborts the channel of this group on all ranks and makes a new one.
// Registrations with the channel are lost.
func (c *conn) replaceChannel(ctx context.Context) error {
	w, l := c.w, c.channel
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.registrations {
		if r.channel == l {
			r.channel, r.handle = nil, 0
		}
	}
	c.channel = nil
	w.abort([]*channel{l})
	return errors.Join(w.drop(l), c.open(ctx))
}
