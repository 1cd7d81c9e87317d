package nccl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/scalar"
)

// registration is GPU memory that is registered with the library. Registering takes its
// turn with the operations of the channel, because the library takes one call at a time.
type registration struct {
	c          *conn
	call       driver.Signature
	buf        driver.Buf
	allocated  bool     // by ncclMemAlloc
	window     bool     // with the memory of all ranks
	channel    *channel // with which it is registered, or nil
	handle     uintptr  // in the library, which may write it in the background
	err        error    // why the library has refused it
	deregister bool     // the next call ends the registration
	closed     bool
}

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
	lacking := ""
	switch {
	case r.allocated && (l.memAlloc == 0 || l.memFree == 0):
		lacking = "ncclMemAlloc, which 2.19 has"
	case !r.window && (l.register == 0 || l.deregister == 0):
		lacking = "ncclCommRegister, which 2.19 has"
	case r.window && (l.windowRegister == 0 || l.windowDeregister == 0):
		lacking = "ncclCommWindowRegister, which 2.27 has"
	default:
		return nil
	}
	return fmt.Errorf("nccl: %s %s lacks %s: %w", l.Name, l.Version, lacking, errors.ErrUnsupported)
}

// noPut returns why ranks cannot put GPU memory into that of others.
func (l *lib) noPut() error {
	why := "lacks ncclPutSignal, which 2.29 has"
	if l.putSignal != 0 {
		why = "has ncclPutSignal, which golops does not call yet"
	}
	return fmt.Errorf("nccl: one-sided: %s %s %s: use messages: %w", l.Name, l.Version, why, errors.ErrUnsupported)
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

// await waits until the library has done r.call. It does not advance other channels:
// registering may wait for the GPU, and an operation there for another rank, which is also
// registering.
func (r *registration) await(ctx context.Context) error {
	w, o := r.c.w, r.c.take(&driver.Call{Signature: r.call})
	o.registration = r
	w.mu.Lock()
	r.channel.add(o)
	w.mu.Unlock()
	if err := w.await(ctx, o, r.channel); err != nil {
		return err
	}
	return r.c.release(o, nil)
}

// register registers r with the library or ends its registration. If the library refuses, the
// error is stored in r; the channel stays usable.
func (l *channel) register(r *registration) (int32, error) {
	lib, code, name := l.w.l, int32(0), ""
	addr, n := r.buf.Addr(), uintptr(r.buf.Bytes())
	switch {
	case r.deregister && r.window:
		name, code = "ncclCommWindowDeregister", lib.windowDeregister.Call(l.handle, r.handle)
	case r.deregister:
		name, code = "ncclCommDeregister", lib.deregister.Call(l.handle, r.handle)
	case r.window:
		const symmetric = 1
		name, code = "ncclCommWindowRegister", lib.windowRegister.Call(l.handle, addr, n, dl.Pointer(&r.handle), symmetric)
		if code == success {
			code = inProgress // it returns success at once; poll the state of the communicator
		}
	default:
		name, code = "ncclCommRegister", lib.register.Call(l.handle, addr, n, dl.Pointer(&r.handle))
	}
	if err := lib.errorOf(name, code, l.handle); err != nil {
		l.refuse(r, err)
		return success, nil
	}
	return code, nil
}

// refuse stores why the library refused r. After a failed window the communicator is
// unusable, and other ranks may wait in it, so it is aborted.
func (l *channel) refuse(r *registration, err error) {
	r.err, r.handle = err, 0
	if r.window && !r.deregister {
		l.w.abort([]*channel{l})
	}
}

// Buf implements driver.Registration.
func (r *registration) Buf() driver.Buf { return r.buf }

// Close implements driver.Registration. After an abort, closing the communicator
// frees the memory.
func (r *registration) Close(ctx context.Context) error {
	w := r.c.w
	if r.closed {
		return nil
	}
	r.err = nil
	if r.handle != 0 {
		r.deregister = true
		if err := r.await(ctx); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ready(ctx); err != nil {
		return err
	}
	return errors.Join(r.err, r.free())
}

// alloc allocates the memory of a registration by Alloc.
func (r *registration) alloc() error {
	l, addr := r.c.w.l, new(uintptr)
	err := r.c.w.withDevice("ncclMemAlloc", func() int32 { return l.memAlloc.Call(dl.Pointer(addr), uintptr(r.buf.N)) })
	if err != nil {
		return fmt.Errorf("comm: %d bytes on %v: %w", r.buf.N, r.c.w.dev, err)
	}
	r.buf.Ptr = *(*unsafe.Pointer)(unsafe.Pointer(addr)) // GPU memory, which the garbage collector ignores
	return nil
}

// free frees memory of Alloc, after the kernels launched so far.
func (r *registration) free() error {
	w := r.c.w
	r.closed = true
	w.registrations = slices.DeleteFunc(w.registrations, func(o *registration) bool { return o == r })
	if !r.allocated || r.buf.Ptr == nil {
		return nil
	}
	q, err := w.dev.NewQueue()
	if err == nil {
		err = errors.Join(q.Follow(), q.Close())
	}
	return errors.Join(err, w.withDevice("ncclMemFree", func() int32 { return w.l.memFree.Call(r.buf.Addr()) }))
}

// registrations returns the registrations of this group, or of all groups if c is the world.
func (c *conn) registrations() []*registration {
	return slices.DeleteFunc(slices.Clone(c.w.registrations), func(r *registration) bool { return r.c != c && !c.world })
}
