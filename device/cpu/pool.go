package cpu

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/golops/golops/internal/sched"
)

// pool runs loops on the caller and on a few workers that live as long as the
// device. A loop allocates nothing: its parameters are fields, its body is a
// method value that was made once, and chunks are handed out by a counter.
//
// A worker that wakes up too late finds the loop shut and sleeps again, so a loop never
// waits for a worker that does none of its work.
type pool struct {
	workers int
	wake    chan struct{}
	idle    chan struct{} // the last worker has left a loop that is shut
	exited  sync.WaitGroup

	body  func(lo, hi int)
	n     int
	grain int
	next  atomic.Int64 // chunk
	state atomic.Int64 // workers in the loop, and shut
	fault atomic.Pointer[Panic]
}

// shut is the bit of a pool's state that keeps workers out.
const shut = 1 << 32

// Panic is the panic value of a kernel whose work panicked on another thread.
type Panic struct {
	Value any
	Stack []byte // of the thread
}

func (p *Panic) Error() string {
	return fmt.Sprintf("cpu: a kernel panicked: %v\n%s", p.Value, p.Stack)
}

// Unwrap returns the value if it is an error, such as a bad index.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

func newPool(workers int) *pool {
	p := &pool{workers: workers}
	p.state.Store(shut)
	if workers == 0 {
		return p
	}
	p.wake, p.idle = make(chan struct{}, workers), make(chan struct{}, 1)
	for range workers {
		p.exited.Go(p.serve)
	}
	return p
}

// closed is the number of workers of a pool that is closed.
const closed = -1

// close ends the workers. A loop panics from now on.
func (p *pool) close() {
	if p.workers > 0 {
		close(p.wake)
		p.exited.Wait()
	}
	p.workers = closed
}

// run calls body for chunks of 0 to n, concurrently and in any order, and returns when
// all are done. All chunks but the last have grain elements.
func (p *pool) run(n, grain int, body func(lo, hi int)) {
	chunks := (n + grain - 1) / grain
	if chunks <= 1 || p.workers <= 0 {
		if p.workers == closed {
			panic(errClosed)
		}
		for lo := 0; lo < n; lo += grain {
			body(lo, min(lo+grain, n))
		}
		return
	}
	p.body, p.n, p.grain = body, n, grain
	p.next.Store(0)
	p.state.Store(0)
	for range min(p.workers, chunks-1) {
		select {
		case p.wake <- struct{}{}:
		default: // enough are waking up
		}
	}
	p.work()
	if p.state.Add(shut) != shut {
		for i := 0; i < looks && p.state.Load() != shut; i++ {
			sched.Yield()
		}
		<-p.idle
	}
	p.body = nil
	if f := p.fault.Swap(nil); f != nil {
		panic(f)
	}
}

// looks is how often a waiting thread polls and yields before it sleeps: some 100 µs.
// Waking a thread takes about half of that on a virtual machine, and an iteration of a
// solver is many short loops.
const looks = 300

// soon polls for a loop for a moment and reports whether there is one.
func (p *pool) soon() bool {
	for range looks {
		if p.state.Load() < shut {
			return true
		}
		sched.Yield()
	}
	return false
}

// serve is the loop of a worker.
func (p *pool) serve() {
	for {
		if !p.soon() {
			if _, open := <-p.wake; !open {
				return
			}
		}
		if p.enter() {
			p.work()
			if p.state.Add(-1) == shut {
				p.idle <- struct{}{}
			}
		}
	}
}

// enter takes part in the loop, unless it is shut.
func (p *pool) enter() bool {
	for {
		s := p.state.Load()
		if s >= shut {
			return false
		}
		if p.state.CompareAndSwap(s, s+1) {
			return true
		}
	}
}

// work does chunks until none is left. A panic ends all chunks.
func (p *pool) work() {
	defer func() {
		if r := recover(); r != nil {
			p.fault.CompareAndSwap(nil, &Panic{Value: r, Stack: debug.Stack()})
			p.next.Store(int64(p.n))
		}
	}()
	for {
		lo := int(p.next.Add(1)-1) * p.grain
		if lo >= p.n {
			return
		}
		p.body(lo, min(lo+p.grain, p.n))
	}
}
