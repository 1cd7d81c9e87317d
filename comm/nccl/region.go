package nccl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/dl"
)

// region is GPU memory that the library knows. It becomes known, and is
// forgotten, in turn with the operations of its line: the library takes one
// call at a time.
type region struct {
	c      *Comm
	call   comm.Call
	buf    comm.Buf
	own    bool    // memory of the library
	window bool    // of all ranks
	line   *line   // that knows it, or nil
	handle uintptr // of the library, which may write it in the background
	err    error   // why the library refuses it
	leave  bool    // is to be forgotten
	closed bool
}

// settle waits for the library, with the lock but for moments between looks. It
// drives no messages: to make memory known may wait for the device, and a
// message on it for another rank, who does the same. All ranks are here, so
// nobody waits for one.
func (r *region) settle(ctx context.Context) error {
	w, l := r.c.w, r.line
	o := r.c.take(r.call, comm.Buf{}, comm.Buf{})
	o.region = r
	l.add(o)
	start := time.Now()
	for turns := 1; ; turns++ {
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
			return w.fail(fmt.Errorf("comm: rank %d waited %v in %v", r.c.me, w.cfg.Timeout, o.call))
		}
		w.mu.Unlock()
		pause(turns)
		w.mu.Lock()
	}
}

// enrol tells the library of a region, or to forget it. A refusal is the
// region's, not the line's.
func (l *line) enrol(r *region) (int32, error) {
	lib, code, name := l.w.l, int32(0), ""
	addr, n := r.buf.Addr(), uintptr(r.buf.Bytes())
	switch {
	case r.leave && r.window:
		name, code = "ncclCommWindowDeregister", lib.windowDeregister.Call(l.handle, r.handle)
	case r.leave:
		name, code = "ncclCommDeregister", lib.deregister.Call(l.handle, r.handle)
	case r.window:
		const symmetric = 1
		name, code = "ncclCommWindowRegister", lib.windowRegister.Call(l.handle, addr, n, dl.Pointer(&r.handle), symmetric)
		if code == success {
			code = inProgress // it says success at once; only the state of the communicator tells
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

// refuse notes why the library does not take a region. A communicator is of no
// use after a window that failed, and other ranks may be waiting for this one in
// it.
func (l *line) refuse(r *region, err error) {
	r.err, r.handle = err, 0
	if r.window && !r.leave {
		l.w.abort([]*line{l})
	}
}

// bound runs f on a thread that has the device.
func (w *world) bound(f func()) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := w.dev.Bind(); err != nil {
		return err
	}
	f()
	return nil
}

// Buf implements comm.Registration.
func (r *region) Buf() comm.Buf { return r.buf }

// Close implements comm.Registration. After an abort, closing the communicator
// frees the memory.
func (r *region) Close(ctx context.Context) error {
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
		r.leave = true
		if err := r.settle(ctx); err != nil {
			return err
		}
	}
	return errors.Join(r.err, r.free())
}

// alloc gets the memory of a region that is to have its own.
func (r *region) alloc() error {
	if !r.own {
		return nil
	}
	l, addr := r.c.w.l, new(uintptr)
	var code int32
	if err := r.c.w.bound(func() { code = l.memAlloc.Call(dl.Pointer(addr), uintptr(r.buf.N)) }); err != nil {
		return err
	}
	if err := l.errorOf("ncclMemAlloc", code, 0); err != nil {
		return fmt.Errorf("comm: %d bytes on %v: %w", r.buf.N, r.c.w.dev, err)
	}
	r.buf.Ptr = *(*unsafe.Pointer)(unsafe.Pointer(addr)) // memory of the device, which the collector leaves alone
	return nil
}

// free gives a region's own memory back, after the kernels launched so far.
func (r *region) free() error {
	w := r.c.w
	r.closed = true
	w.regions = slices.DeleteFunc(w.regions, func(o *region) bool { return o == r })
	if !r.own || r.buf.Ptr == nil {
		return nil
	}
	q, err := w.dev.NewQueue()
	if err == nil {
		err = errors.Join(q.Follow(), q.Close())
	}
	var code int32
	err = errors.Join(err, w.bound(func() { code = w.l.memFree.Call(r.buf.Addr()) }))
	return errors.Join(err, w.l.errorOf("ncclMemFree", code, 0))
}

// closeRegions forgets what the library still knows of this group, or of all
// groups if it is the world's.
func (c *Comm) closeRegions() (errs []error) {
	c.w.mu.Lock()
	mine := c.regions()
	c.w.mu.Unlock()
	for _, r := range mine {
		if c.w.ground.Aborted() == nil {
			errs = append(errs, r.Close(context.Background()))
		}
	}
	return errs
}

func (c *Comm) regions() []*region {
	return slices.DeleteFunc(slices.Clone(c.w.regions), func(r *region) bool { return r.c != c && !c.world })
}
