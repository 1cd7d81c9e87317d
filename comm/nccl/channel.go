package nccl

import (
	"errors"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
)

// channel is an NCCL communicator and the GPU queue on which it works. With one rank it
// is only the queue. NCCL launches asynchronously and one operation at a time, and
// creating a communicator waits for the other ranks. So operations queue in todo; the
// caller does not block.
type channel struct {
	w          *world
	rank, size int
	queue      device.Queue
	phase      phase
	handle     uintptr // ncclComm_t
	id         uniqueID
	idRequest  comm.Request // the broadcast of id
	cfg        config
	state      int32

	todo []*op // to be launched, or being launched (the first)
	busy []*op // launched, in the order of their marks
}

type phase uint8

const (
	waitingForID phase = iota // for the broadcast of id
	initializing              // the library creates the communicator
	ready                     // for the next operation
	launching                 // the library launches todo[0]
)

// init starts to create the communicator with this id.
func (l *channel) init() error {
	l.phase = initializing
	return l.w.withDevice("ncclCommInitRank", func() int32 { return l.w.l.initRank(&l.handle, &l.id, l.rank, l.size, &l.cfg) })
}

// add queues an operation.
func (l *channel) add(o *op) {
	l.todo = append(l.todo, o)
	l.activate()
}

func (l *channel) activate() {
	if !slices.Contains(l.w.active, l) {
		l.w.active = append(l.w.active, l)
	}
}

// advance does all work of the channel that is possible without waiting.
func (l *channel) advance() error {
	if l.phase == waitingForID {
		done, err := l.idRequest.Test()
		if err != nil || !done {
			return err
		}
		if err := l.init(); err != nil {
			return err
		}
	}
	if l.phase == initializing || l.phase == launching {
		code, err := l.poll()
		if err != nil && l.phase == launching && l.todo[0].registration != nil {
			l.refuse(l.todo[0].registration, err)
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
		done, err := l.queue.Reached(l.busy[0].mark)
		if err != nil || !done {
			return err
		}
		l.busy[0].done = true // kernels that the host launches later need not wait for the queue
		l.busy = slices.Delete(l.busy, 0, 1)
	}
	return nil
}

// launched moves the first operation from todo to busy.
func (l *channel) launched() error {
	o := l.todo[0]
	l.todo = slices.Delete(l.todo, 0, 1)
	var err error
	o.mark, err = l.queue.Mark()
	l.busy = append(l.busy, o)
	return err
}

// poll returns the state of the communicator: success, inProgress, or an error.
func (l *channel) poll() (int32, error) {
	if code := l.w.l.getAsyncError.Call(l.handle, dl.Pointer(&l.state)); failed(code) {
		return code, l.w.l.errorOf("ncclCommGetAsyncError", code, l.handle)
	}
	if !failed(l.state) {
		return l.state, nil
	}
	doing := "in the background"
	switch {
	case l.phase == initializing:
		doing = "ncclCommInitRank"
	case len(l.busy) > 0:
		doing = l.busy[0].call.Signature.String()
	case len(l.todo) > 0:
		doing = l.todo[0].call.Signature.String()
	}
	return l.state, l.w.l.errorOf(doing, l.state, l.handle)
}

// close frees a channel that has nothing under way.
func (l *channel) close() error {
	var err error
	if l.handle != 0 {
		code := l.w.l.destroy.Call(l.handle)
		err = l.w.l.errorOf("ncclCommDestroy", code, 0)
		l.handle = 0
	}
	return errors.Join(err, l.queue.Close())
}
