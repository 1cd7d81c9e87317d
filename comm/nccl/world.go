// Package nccl is the communicator between GPUs: NCCL, or RCCL, moves device
// memory, and a communicator of the host, goroutines or MPI, does all else. To
// everything above they are one Comm.
package nccl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/sched"
)

// Config says how ranks talk over NCCL. The zero Config is ready to use.
type Config struct {
	Checked bool          // compare the calls of all ranks before each collective on GPU memory
	Timeout time.Duration // the longest that a call on GPU memory may wait for another rank; 0 means for ever
}

// Validate reports what is wrong with c.
func (c Config) Validate() error {
	if c.Timeout < 0 {
		return fmt.Errorf("nccl: Timeout is %v, must not be negative", c.Timeout)
	}
	return nil
}

// world is what all communicators of this rank share. mu guards it and the
// lines: a rank may have a goroutine for each of its groups, and the host's
// waits call work.
type world struct {
	l      *lib
	dev    device.Accelerator
	ground comm.Host
	ctl    comm.Comm // for the notes that messages begin with
	cfg    Config
	me     int

	mu      sync.Mutex
	lines   []*line
	active  []*line // those with anything under way
	peers   []peer  // by rank
	hearing []*peer // those from whom a note is to come
	sent    []*note // on their way
	spare   []*note
	news    int     // notes that are to come, but for those of messages in host memory
	grants  []grant // sends to be launched
	sending int     // sends launched and not done
	self    *line   // of messages to this rank itself
	regions []*region
	groups  int64 // that this rank has joined
	looks   uint64
	unwatch func()
	dead    bool // the communicators are aborted
}

// New joins the ranks of host, each with its device, into one communicator. It
// is collective. host stays the caller's, who uses it no more but to end it
// after Close.
func New(ctx context.Context, host comm.Comm, dev device.Accelerator, cfg Config) (*Comm, error) {
	w, err := prepare(host, dev, cfg)
	if err = comm.Agree(ctx, host, err); err != nil {
		return nil, err
	}
	if w.ctl, err = host.Split(ctx, 0, host.Rank()); err != nil {
		return nil, err
	}
	w.ground.SetProgress(w.work)
	w.unwatch = func() {}
	if d, ok := dev.(interface{ OnWait(func() error) func() }); ok {
		w.unwatch = d.OnWait(w.watch)
	}
	return w.join(ctx, w.ground, true)
}

// prepare does what needs no other rank.
func prepare(host comm.Comm, dev device.Accelerator, cfg Config) (*world, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ground, ok := host.(comm.Host)
	if !ok {
		return nil, fmt.Errorf("nccl: over %v: that communicator lets nothing stand on it: use goroutines or MPI", host)
	}
	if dev == nil {
		return nil, errors.New("nccl: no device given")
	}
	found, err := Find(dev.Platform())
	if err != nil {
		return nil, err
	}
	l, err := bind(found)
	if err != nil {
		return nil, err
	}
	w := &world{l: l, dev: dev, ground: ground, cfg: cfg, me: host.Rank(), peers: make([]peer, host.Size())}
	for r := range w.peers {
		w.peers[r].rank = r
	}
	return w, nil
}

// work is what this rank does while the host waits for another: without it,
// messages that it has started would stand still.
func (w *world) work() bool {
	if !w.mu.TryLock() {
		return false // another goroutine of this rank is at it
	}
	busy := len(w.active)+w.news+len(w.grants) > 0
	idle := w.dead || !busy && len(w.hearing) == 0
	w.mu.Unlock()
	if idle {
		return false
	}
	err := w.await(context.Background(), nil)
	return busy && err == nil
}

// watch is what this rank does in a long wait for its device. No kernel comes
// after an operation of the library, but streams share the ways into the device,
// and what has to wait for one may wait for all: then the death of a peer, or the
// end of the program, must end that operation, because no call of a communicator
// does.
func (w *world) watch() error {
	if !w.mu.TryLock() {
		return nil
	}
	defer w.mu.Unlock()
	if w.dead { // nothing of the library runs any more
		return nil
	}
	return w.inspect()
}

// turn takes everything under way as far as it goes without waiting.
func (w *world) turn() error {
	if w.dead {
		return w.ended(nil)
	}
	if err := w.grantAll(); err != nil {
		return w.fail(err)
	}
	for i := 0; i < len(w.active); {
		l := w.active[i]
		if err := l.advance(); err != nil {
			return w.fail(err)
		}
		if len(l.todo)+len(l.busy) == 0 {
			l.listed = false
			w.active = slices.Delete(w.active, i, i+1)
		} else {
			i++
		}
	}
	if err := w.hear(); err != nil {
		return w.fail(err)
	}
	return nil
}

// Turns of a wait. A turn takes a microsecond or so.
const (
	inspectEvery = 64
	yieldAfter   = 32
	sleepAfter   = 10000
)

// await takes turns until o, if there is one, and all sends that were launched
// are done. Between them it looks for faults, watches ctx and the timeout, and
// gives the core away: soon, since the library's own threads may want it.
func (w *world) await(ctx context.Context, o *op) error {
	var since time.Time
	for turns := 1; ; turns++ {
		if done, err := w.look(ctx, o); done || err != nil {
			return err
		}
		if turns%inspectEvery == 0 && w.cfg.Timeout > 0 {
			if since.IsZero() {
				since = time.Now()
			}
			if time.Since(since) > w.cfg.Timeout {
				return w.late(o)
			}
		}
		pause(turns)
	}
}

// pause gives the core away after so many turns of a wait.
func pause(turns int) {
	switch {
	case turns > sleepAfter:
		time.Sleep(50 * time.Microsecond) // a wait this long leaves the core to others
	case turns > yieldAfter:
		runtime.Gosched()
		sched.Yield()
	}
}

func (w *world) late(o *op) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o == nil {
		return w.fail(fmt.Errorf("comm: rank %d waited %v for a message to be received", w.me, w.cfg.Timeout))
	}
	place := comm.OnDevice
	if o.onHost {
		place = comm.OnHost
	}
	return w.fail(fmt.Errorf("comm: rank %d waited %v in %v on %v", o.c.me, w.cfg.Timeout, o.call, place))
}

// look takes a turn, now and then with a look for faults, and reports whether o
// and all sends are done.
func (w *world) look(ctx context.Context, o *op) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.turn(); err != nil {
		return false, err
	}
	if w.looks++; w.looks%inspectEvery == 0 {
		if err := w.inspect(); err != nil {
			return false, err
		}
		if err := w.cancelled(ctx); err != nil {
			return false, err
		}
	}
	return (o == nil || o.done) && w.sending == 0, nil
}

func (w *world) isDone(o *op) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return o.done
}

// ready returns an error if the program was aborted or ctx has ended.
func (w *world) ready(ctx context.Context) error {
	if w.ground.Aborted() != nil {
		return w.ended(nil)
	}
	return w.cancelled(ctx)
}

func (w *world) cancelled(ctx context.Context) error {
	if ctx.Err() != nil {
		return w.fail(context.Cause(ctx))
	}
	return nil
}

// inspect looks for an abort of another rank and for errors that the library
// has found in the background, such as the death of a peer.
func (w *world) inspect() error {
	if w.ground.Aborted() != nil {
		return w.ended(nil)
	}
	for _, l := range w.active {
		if err := l.fault(); err != nil {
			return w.fail(err)
		}
	}
	for _, p := range w.hearing { // a rank that will never write
		if err := errors.Join(p.out.fault(), p.in.fault(), w.complain(p)); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// fail ends the program on all ranks.
func (w *world) fail(cause error) error {
	w.ground.Abort(cause)
	return w.ended(cause)
}
