package nccl

import (
	"errors"
	"runtime"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
)

// op is one operation on GPU memory, from the call until it is done, or a
// request of the host that the caller will wait for.
type op struct {
	id       uint64
	c        *Comm
	call     comm.Call
	dst, src comm.Buf // of a message, the same
	in, out  []int    // counts
	mark     uint64   // of the queue, after it
	twin     *op      // the send that a receive from oneself completes
	granted  bool     // a send that counts in world.sending
	seq      int64    // of a message between two ranks in one group
	told     bool     // a send of which the receiver knows that it waits
	done     bool
	err      error // only of this operation; all else ends the program
	host     comm.Request
	onHost   bool
	region   *region // to be known or forgotten, and nothing else
}

// line is a communicator of the library with the queue that its work runs on,
// or only the queue where there is one rank. Operations are launched in the
// order given, one after the other; the library does so in the background and
// takes the next only when it is through, and making the communicator itself
// waits for the other ranks. So they stand in todo until it is their turn, and
// the caller, who may only have started them, goes on.
type line struct {
	w          *world
	rank, size int
	queue      device.Queue
	phase      phase
	handle     uintptr // ncclComm_t
	id         uniqueID
	named      comm.Request // the broadcast of id
	cfg        config
	state      int32

	todo   []*op // to be launched; the first may be about to
	busy   []*op // launched, in the order of their marks
	listed bool  // in world.active
}

type phase uint8

const (
	naming    phase = iota // id is on its way
	joining                // the library makes the communicator
	ready                  // for the next operation
	launching              // the library launches todo[0]
)

// newLine returns a line of one of size ranks, with a queue.
func (w *world) newLine(rank, size int) (*line, error) {
	q, err := w.dev.NewQueue()
	if err != nil {
		return nil, err
	}
	l := &line{w: w, rank: rank, size: size, queue: q, cfg: newConfig()}
	if size == 1 {
		l.phase = ready
	}
	w.lines = append(w.lines, l)
	return l, nil
}

// name gets the id of a new communicator.
func (l *line) name() error {
	if err := l.w.dev.Bind(); err != nil {
		return err
	}
	code := l.w.l.getUniqueID.Call(dl.Pointer(&l.id))
	return l.w.l.errorOf("ncclGetUniqueId", code, 0)
}

// join starts to make the communicator that id names.
func (l *line) join() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := l.w.dev.Bind(); err != nil {
		return err
	}
	l.phase = joining
	code := l.w.l.join(&l.handle, &l.id, l.rank, l.size, &l.cfg)
	return l.w.l.errorOf("ncclCommInitRank", code, l.handle)
}

// add queues an operation.
func (l *line) add(o *op) {
	l.todo = append(l.todo, o)
	if !l.listed {
		l.listed = true
		l.w.active = append(l.w.active, l)
	}
}

// advance takes the line as far as it goes without waiting.
func (l *line) advance() error {
	if l.phase == naming {
		done, err := l.named.Test()
		if err != nil || !done {
			return err
		}
		if err := l.join(); err != nil {
			return err
		}
	}
	if l.phase == joining || l.phase == launching {
		code, err := l.poll()
		if err != nil && l.phase == launching && l.todo[0].region != nil {
			l.refuse(l.todo[0].region, err)
			code, err = success, nil
		}
		if err != nil || code == inProgress {
			return err
		}
		if l.phase == launching {
			if err := l.launched(); err != nil {
				return err
			}
		}
		l.phase = ready
	}
	for l.phase == ready && len(l.todo) > 0 {
		code, err := l.launch(l.todo[0])
		if err != nil {
			return err
		}
		if code == inProgress {
			l.phase = launching
			break
		}
		if err := l.launched(); err != nil {
			return err
		}
	}
	for len(l.busy) > 0 {
		o := l.busy[0]
		done, err := l.queue.Reached(o.mark)
		if err != nil || !done {
			return err
		}
		l.busy = slices.Delete(l.busy, 0, 1)
		o.finish(nil)
	}
	return nil
}

// launched notes that the first operation is on the queue.
func (l *line) launched() error {
	o := l.todo[0]
	l.todo = slices.Delete(l.todo, 0, 1)
	var err error
	o.mark, err = l.queue.Mark()
	l.busy = append(l.busy, o)
	return err
}

// finish completes an operation. What the host has seen done comes before every
// kernel that it launches later, so the queue need not lead them.
func (o *op) finish(err error) {
	o.done, o.err = true, err
	if o.granted {
		o.c.w.sending--
	}
	if o.twin != nil {
		o.twin.done, o.twin.err = true, err
		o.twin = nil
	}
}

// poll asks what the library says of the communicator.
func (l *line) poll() (int32, error) {
	if code := l.w.l.getAsyncError.Call(l.handle, dl.Pointer(&l.state)); failed(code) {
		return code, l.w.l.errorOf("ncclCommGetAsyncError", code, l.handle)
	}
	if !failed(l.state) {
		return l.state, nil
	}
	doing := "in the background"
	switch {
	case l.phase == joining:
		doing = "ncclCommInitRank"
	case len(l.busy) > 0:
		doing = l.busy[0].call.String()
	case len(l.todo) > 0:
		doing = l.todo[0].call.String()
	}
	return l.state, l.w.l.errorOf(doing, l.state, l.handle)
}

// fault returns the error that the library has found, if any. l may be nil.
func (l *line) fault() error {
	if l == nil || l.handle == 0 {
		return nil
	}
	_, err := l.poll()
	return err
}

// close gives a line back that has nothing under way.
func (l *line) close() error {
	var err error
	if l.handle != 0 {
		code := l.w.l.destroy.Call(l.handle)
		err = l.w.l.errorOf("ncclCommDestroy", code, 0)
		l.handle = 0
	}
	return errors.Join(err, l.queue.Close())
}
