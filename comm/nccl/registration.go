package nccl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
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

// await waits until the library has done r.call. It holds the lock except between polls. It
// does not advance other channels: registering may wait for the GPU, and an operation there
// for another rank, which is also registering.
func (r *registration) await(ctx context.Context) error {
	w, l := r.c.w, r.channel
	o := r.c.take(&driver.Call{Signature: r.call})
	o.registration = r
	l.add(o)
	start := time.Now()
	for polls := 1; ; polls++ {
		if err := w.ready(ctx); err != nil {
			return err
		}
		if err := l.advance(); err != nil {
			return w.fail(err)
		}
		if o.done {
			return r.c.release(o, nil)
		}
		if w.cfg.Timeout > 0 && time.Since(start) > w.cfg.Timeout {
			return w.fail(fmt.Errorf("comm: rank %d waited %v in %v", r.c.me, w.cfg.Timeout, r.call))
		}
		w.mu.Unlock()
		pause(polls)
		w.mu.Lock()
	}
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

// withDevice runs f on a thread on which the GPU is current.
func (w *world) withDevice(f func()) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := w.dev.Bind(); err != nil {
		return err
	}
	f()
	return nil
}

// Buf implements driver.Registration.
func (r *registration) Buf() driver.Buf { return r.buf }

// Close implements driver.Registration. After an abort, closing the communicator
// frees the memory.
func (r *registration) Close(ctx context.Context) error {
	w := r.c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.closed {
		return nil
	}
	if err := w.ready(ctx); err != nil {
		return err
	}
	r.err = nil
	if r.handle != 0 {
		r.deregister = true
		if err := r.await(ctx); err != nil {
			return err
		}
	}
	return errors.Join(r.err, r.free())
}

// alloc allocates the memory of a registration by Alloc.
func (r *registration) alloc() error {
	if !r.allocated {
		return nil
	}
	l, addr := r.c.w.l, new(uintptr)
	var code int32
	if err := r.c.w.withDevice(func() { code = l.memAlloc.Call(dl.Pointer(addr), uintptr(r.buf.N)) }); err != nil {
		return err
	}
	if err := l.errorOf("ncclMemAlloc", code, 0); err != nil {
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
	var code int32
	err = errors.Join(err, w.withDevice(func() { code = w.l.memFree.Call(r.buf.Addr()) }))
	return errors.Join(err, w.l.errorOf("ncclMemFree", code, 0))
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
