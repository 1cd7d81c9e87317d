// Package trace times named regions of a program, and marks inside them, on every rank.
//
// A region is put around code once and stays there:
//
//	reg := trace.Begin(ctx, "gradient")
//	defer reg.End()
//	reg.Mark("Begin dot")
//	...
//	reg.Mark("Finish dot")
//
// Nothing is recorded until somebody makes a [Recorder] for each rank and
// puts it in the rank's context by [With]. Package launch does so when
// GOLOPS_TRACE asks for it (see [FromEnv]), hence a program is traced with no
// change to its code. Without a recorder, Begin costs one atomic load, and
// Mark and End one comparison; none of them allocates.
//
// The records of all ranks are written by [WriteTree] as a table to read, by [WriteSVG]
// as a picture, or by [WriteChrome] as a file for Perfetto (https://ui.perfetto.dev).
package trace

import (
	"context"
	"sync/atomic"
)

// recorders counts the open recorders of the process. It is only a shortcut
// past the look-up in the context: which recorder a region goes to is decided
// by its context alone.
var recorders atomic.Int32

// key is the type of the recorder's key in a context.
type key struct{}

// With returns a context whose regions go to r. A nil r switches tracing off
// for the context.
func With(ctx context.Context, r *Recorder) context.Context {
	return context.WithValue(ctx, key{}, r)
}

// On reports whether any recorder is open. It costs one atomic load.
func On() bool { return recorders.Load() != 0 }

// UseClock lets the recorder of ctx, if it has one, stamp the queue of a device: see
// [Clock]. It is for those who own a device and are handed a context. They call it with
// nil before they close the device.
func UseClock(ctx context.Context, c Clock) {
	if rec, _ := ctx.Value(key{}).(*Recorder); rec != nil {
		rec.UseClock(c)
	}
}

// Region is a stretch of one rank's time, from Begin to End. It is a small
// value to keep in a local variable. The zero Region records nothing.
type Region struct {
	rec *Recorder
	id  int32 // event of rec, or noEvent
}

// Begin starts a region of ctx's rank, inside the region which that rank began
// last and has not ended. When nothing records it costs one atomic load.
func Begin(ctx context.Context, name string) Region {
	if recorders.Load() == 0 {
		return Region{}
	}
	return BeginCall(ctx, name, Call{})
}

// BeginPart is Begin of a region called by two words, such as an operator and "forward".
// They are put together only if something records.
func BeginPart(ctx context.Context, of, part string) Region {
	if recorders.Load() == 0 {
		return Region{}
	}
	return BeginCall(ctx, of+" "+part, Call{})
}

// BeginCall is Begin for a region that communicates.
func BeginCall(ctx context.Context, name string, c Call) Region {
	rec, _ := ctx.Value(key{}).(*Recorder)
	if rec == nil {
		return Region{}
	}
	return rec.begin(name, c)
}

// Message records one side of a message inside the region, for an arrow between ranks.
func (r Region) Message(c Call) {
	if r.rec != nil {
		r.rec.mark(r.id, "", c)
	}
}

// Mark records a point inside the region. The tree shows the time between
// consecutive marks. A mark after End is only counted. Reports show the count.
func (r Region) Mark(label string) {
	if r.rec != nil {
		r.rec.mark(r.id, label, Call{})
	}
}

// End finishes the region. A second End does nothing, so an early End may
// stand beside a deferred one. Regions that began inside this one and did not
// end leave the nesting with it: what begins next is not inside them.
func (r Region) End() {
	if r.rec != nil {
		r.rec.end(r.id)
	}
}
