package nccl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/dl"
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

// withDevice makes a call of the library on a thread on which the GPU is current.
func (w *world) withDevice(name string, call func() int32) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := w.dev.Bind(); err != nil {
		return err
	}
	return w.l.errorOf(name, call(), 0)
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

// closeRegistrations ends the registrations of this group, or of all groups if c is the
// world.
func (c *conn) closeRegistrations() (errs []error) {
	c.w.mu.Lock()
	open := c.registrations()
	c.w.mu.Unlock()
	for _, r := range open {
		if c.w.host.Aborted() == nil {
			errs = append(errs, r.Close(context.Background()))
		}
	}
	return errs
}

func (c *conn) registrations() []*registration {
	return slices.DeleteFunc(slices.Clone(c.w.registrations), func(r *registration) bool { return r.c != c && !c.world })
}
