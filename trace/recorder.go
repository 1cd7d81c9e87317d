package trace

import (
	"slices"
	"sync"
	"time"
)

// MaxEvents is the most regions and marks that a recorder keeps. They take about 100
// MiB. Later events are dropped. Reports show how many.
const MaxEvents = 1 << 20

const (
	// maxDepth limits nesting. Real programs stay far below; a loop that
	// never ends its regions would otherwise make a tree as deep as the loop
	// is long, and a report of quadratic size.
	maxDepth = 256

	// chunkLen is the number of events in one piece of memory. Pieces are
	// never moved, since copying a million events would show up in the times.
	chunkLen = 4096

	// noEvent stands for a region that was dropped.
	noEvent = -1
)

// Recorder keeps the events of one rank. Goroutines of the rank may use it at
// once, but it knows one nesting only: a region lies inside whichever region
// of the rank began last and is still open, even if another goroutine began it.
type Recorder struct {
	rank  int
	clock func() time.Duration // monotonic, from any origin
	limit int                  // MaxEvents, or less in tests

	mu      sync.Mutex
	device  Clock         // nil, or stamps the queue of a device
	began   time.Duration // clock's time at the first stamp
	stamps  int32
	times   []time.Duration // of the stamps, once the device was taken away
	chunks  [][]Event
	n       int           // events in chunks, with times as clock gives them
	stack   []int32       // open regions that nest, outermost first; increasing
	zero    time.Duration // clock's time at Epoch
	stop    time.Duration // clock's time at Close
	dropped int
	late    int
	closed  bool
}

// NewRecorder returns a recorder for one rank. As long as any recorder is
// open, regions look for theirs in their context, so end each with Close.
func NewRecorder(rank int) *Recorder {
	origin := time.Now()
	recorders.Add(1)
	return &Recorder{
		rank:  rank,
		limit: MaxEvents,
		clock: func() time.Duration { return time.Since(origin) },
	}
}

// Clock stamps the queue of a device, so that a region on a device also takes the time of
// the work that it queued, not only the time of queueing it. Stamping does not wait.
type Clock interface {
	// Stamp queues a stamp. It reports false if it cannot.
	Stamp() bool
	// Times waits for the device and returns when it reached each stamp, from the first on.
	Times() []time.Duration
}

// UseClock stamps the queue of a device at both ends of each region from now on. With nil it
// reads the stamps and ends that, so that the device may be closed.
func (r *Recorder) UseClock(c Clock) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.device != nil {
		r.times = r.device.Times()
	}
	r.device = nil
	if c != nil && !r.closed && c.Stamp() {
		r.device, r.began, r.stamps, r.times = c, r.clock(), 1, nil
	}
}

// stamp queues a stamp and returns its number, or 0.
func (r *Recorder) stamp() int32 {
	if r.device == nil || !r.device.Stamp() {
		return 0
	}
	r.stamps++
	return r.stamps
}

// Epoch makes now the time zero of all events, including earlier ones. When
// every rank calls it right after the same barrier, their tracks line up.
// Until Epoch is called, zero is the time of NewRecorder.
func (r *Recorder) Epoch() {
	if r.lock() {
		r.zero = r.clock()
		r.mu.Unlock()
	}
}

// Close ends recording. Regions that are open stay so in the record, and
// later calls on them do nothing.
func (r *Recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.closed = true
	r.stop = r.clock()
	recorders.Add(-1)
}

// Events returns a copy of what was recorded so far, which gob can send to
// the rank that reports. It may be called before or after Close.
func (r *Recorder) Events() Track {
	r.mu.Lock()
	defer r.mu.Unlock()
	stop := r.stop
	if !r.closed {
		stop = r.clock()
	}
	t := Track{Rank: r.rank, Events: make([]Event, r.n), Dropped: r.dropped, Late: r.late}
	for i := range t.Events {
		e := *r.at(int32(i))
		e.Start -= r.zero
		e.End -= r.zero
		if e.Open {
			e.End = stop - r.zero
			if e.Parent >= 0 {
				e.End = min(e.End, t.Events[e.Parent].End)
			}
		}
		if e.first > 0 && e.last > 0 && int(e.last) <= len(r.times) {
			e.GPU = true
			e.GPUStart = r.began - r.zero + r.times[e.first-1]
			e.GPUEnd = r.began - r.zero + r.times[e.last-1]
		}
		t.Events[i] = e
	}
	return t
}

// lock locks r. It reports false, with r unlocked, when r is closed.
func (r *Recorder) lock() bool {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return false
	}
	return true
}

func (r *Recorder) begin(name string, c Call) Region {
	if !r.lock() {
		return Region{}
	}
	defer r.mu.Unlock()
	parent := int32(noEvent)
	if k := len(r.stack); k > 0 {
		parent = r.stack[k-1]
	}
	id, e := r.add(name, parent, &c)
	if e == nil {
		return Region{r, noEvent}
	}
	e.Open, e.first = true, r.stamp()
	if len(r.stack) < maxDepth {
		r.stack = append(r.stack, id)
	}
	e.Start = r.clock() // last, so that the region does not time its own record
	return Region{r, id}
}

func (r *Recorder) mark(id int32, label string, c Call) {
	if !r.lock() {
		return
	}
	defer r.mu.Unlock()
	switch now := r.clock(); {
	case id == noEvent:
		r.dropped++
	case !r.at(id).Open:
		r.late++
	default:
		if _, e := r.add(label, id, &c); e != nil {
			e.Mark, e.Start, e.End = true, now, now
		}
	}
}

func (r *Recorder) end(id int32) {
	if id == noEvent || !r.lock() {
		return
	}
	defer r.mu.Unlock()
	now := r.clock()
	e := r.at(id)
	if !e.Open {
		return
	}
	e.Open = false
	e.End = now
	e.last = r.stamp()
	// A region is not on the stack if one around it ended first, or if it lay
	// too deep; then nothing nests in it.
	if k, on := slices.BinarySearch(r.stack, id); on {
		r.stack = r.stack[:k]
	}
}

// add returns a new event and its number, or counts it as dropped and returns nil. It
// writes no more than it must: most events are no calls.
func (r *Recorder) add(name string, parent int32, c *Call) (int32, *Event) {
	if r.n >= r.limit {
		r.dropped++
		return noEvent, nil
	}
	if r.n == len(r.chunks)*chunkLen {
		r.chunks = append(r.chunks, make([]Event, chunkLen))
	}
	id := int32(r.n)
	r.n++
	e := r.at(id)
	e.Name, e.Parent = name, parent
	if c.Kind != 0 {
		e.Call = *c
	}
	return id, e
}

// at returns event id in place.
func (r *Recorder) at(id int32) *Event {
	return &r.chunks[id/chunkLen][id%chunkLen]
}
