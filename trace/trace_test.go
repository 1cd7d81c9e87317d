package trace

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeClock is a clock that moves only when told to.
type fakeClock struct{ now time.Duration }

func (c *fakeClock) add(d time.Duration) { c.now += d }

// record runs f on a recorder with a fake clock and returns what it recorded.
func record(t *testing.T, rank int, f func(ctx context.Context, r *Recorder, c *fakeClock)) Track {
	t.Helper()
	r, c := fakeRecorder(t, rank)
	f(With(t.Context(), r), r, c)
	r.Close()
	return r.Events()
}

func fakeRecorder(t *testing.T, rank int) (*Recorder, *fakeClock) {
	c := &fakeClock{now: time.Hour} // reports must not depend on the origin
	r := NewRecorder(rank)
	r.clock = func() time.Duration { return c.now }
	r.zero = c.now
	t.Cleanup(r.Close)
	return r, c
}

// shape writes each event as a line, with its times in microseconds.
func shape(events []Event) []string {
	var s []string
	for _, e := range events {
		kind := "region"
		if e.Mark {
			kind = "mark"
		}
		if e.Open {
			kind = "open"
		}
		s = append(s, fmt.Sprintf("%s %s in %d from %d to %d", kind, e.Name, e.Parent,
			e.Start.Microseconds(), e.End.Microseconds()))
	}
	return s
}

func TestEvents(t *testing.T) {
	const us = time.Microsecond
	for _, tc := range []struct {
		name string
		run  func(ctx context.Context, r *Recorder, c *fakeClock)
		want []string
		late int
	}{
		{"nothing", func(context.Context, *Recorder, *fakeClock) {}, nil, 0},
		{"nested", func(ctx context.Context, _ *Recorder, c *fakeClock) {
			a := Begin(ctx, "a")
			c.add(1 * us)
			b := Begin(ctx, "b")
			c.add(2 * us)
			b.Mark("m")
			c.add(3 * us)
			b.End()
			d := Begin(ctx, "d")
			d.End()
			c.add(4 * us)
			a.End()
			Begin(ctx, "e").End()
		}, []string{
			"region a in -1 from 0 to 10",
			"region b in 0 from 1 to 6",
			"mark m in 1 from 3 to 3",
			"region d in 0 from 6 to 6",
			"region e in -1 from 10 to 10",
		}, 0},
		{"epoch moves earlier events below zero", func(ctx context.Context, r *Recorder, c *fakeClock) {
			Begin(ctx, "early").End()
			c.add(5 * us)
			r.Epoch()
			c.add(1 * us)
			Begin(ctx, "late").End()
		}, []string{
			"region early in -1 from -5 to -5",
			"region late in -1 from 1 to 1",
		}, 0},
		{"second End and late marks", func(ctx context.Context, _ *Recorder, c *fakeClock) {
			a := Begin(ctx, "a")
			c.add(1 * us)
			a.End()
			c.add(1 * us)
			b := Begin(ctx, "b")
			a.End() // must neither move the end of a nor take b off the stack
			a.Mark("lost")
			Begin(ctx, "c").End()
			b.End()
		}, []string{
			"region a in -1 from 0 to 1",
			"region b in -1 from 2 to 2",
			"region c in 1 from 2 to 2",
		}, 1},
		{"never ended, parent ends", func(ctx context.Context, _ *Recorder, c *fakeClock) {
			a := Begin(ctx, "a")
			c.add(1 * us)
			Begin(ctx, "b")
			c.add(1 * us)
			Begin(ctx, "c")
			c.add(1 * us)
			a.End()
			c.add(1 * us)
			Begin(ctx, "d").End() // not inside b or c
		}, []string{
			"region a in -1 from 0 to 3",
			"open b in 0 from 1 to 3",
			"open c in 1 from 2 to 3",
			"region d in -1 from 4 to 4",
		}, 0},
		{"never ended at all", func(ctx context.Context, _ *Recorder, c *fakeClock) {
			Begin(ctx, "a")
			c.add(1 * us)
			Begin(ctx, "b").End()
			c.add(1 * us)
		}, []string{
			"open a in -1 from 0 to 2",
			"region b in 0 from 1 to 1",
		}, 0},
		{"child outlives parent", func(ctx context.Context, _ *Recorder, c *fakeClock) {
			a := Begin(ctx, "a")
			b := Begin(ctx, "b")
			c.add(1 * us)
			a.End()
			c.add(1 * us)
			d := Begin(ctx, "d")
			b.Mark("m")
			b.End() // must not take d off the stack
			Begin(ctx, "e").End()
			d.End()
		}, []string{
			"region a in -1 from 0 to 1",
			"region b in 0 from 0 to 2",
			"region d in -1 from 2 to 2",
			"mark m in 1 from 2 to 2",
			"region e in 2 from 2 to 2",
		}, 0},
		{"after Close", func(ctx context.Context, r *Recorder, c *fakeClock) {
			a := Begin(ctx, "a")
			c.add(1 * us)
			r.Close()
			c.add(1 * us)
			r.Close()
			r.Epoch()
			a.Mark("m")
			a.End()
			Begin(ctx, "b").End()
		}, []string{"open a in -1 from 0 to 1"}, 0},
		{"switched off by a nil recorder", func(ctx context.Context, _ *Recorder, _ *fakeClock) {
			b := Begin(With(ctx, nil), "b")
			b.Mark("m")
			b.End()
		}, nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := record(t, 3, tc.run)
			if got := shape(tr.Events); !slices.Equal(got, tc.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tc.want, "\n  "))
			}
			if tr.Rank != 3 || tr.Late != tc.late || tr.Dropped != 0 {
				t.Errorf("got rank %d, late %d, dropped %d; want 3, %d, 0", tr.Rank, tr.Late, tr.Dropped, tc.late)
			}
			if _, err := ordered([]Track{tr}); err != nil {
				t.Errorf("the recorder broke a rule of its tracks: %v", err)
			}
		})
	}
}

func TestEventsWhileRecording(t *testing.T) {
	r, c := fakeRecorder(t, 0)
	reg := Begin(With(t.Context(), r), "a")
	c.add(time.Microsecond)
	want := []string{"open a in -1 from 0 to 1"}
	if got := shape(r.Events().Events); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	c.add(time.Microsecond)
	reg.End()
	want = []string{"region a in -1 from 0 to 2"}
	if got := shape(r.Events().Events); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: a copy must not disturb the record", got, want)
	}
}

func TestDrop(t *testing.T) {
	tr := record(t, 0, func(ctx context.Context, r *Recorder, c *fakeClock) {
		r.limit = 3
		a := Begin(ctx, "a")
		a.Mark("m")
		b := Begin(ctx, "b")
		d := Begin(ctx, "d") // dropped
		d.Mark("n")          // dropped
		b.Mark("o")          // dropped
		d.End()
		c.add(time.Microsecond)
		b.End() // regions that were kept still end
		a.End()
	})
	want := []string{"region a in -1 from 0 to 1", "mark m in 0 from 0 to 0", "region b in 0 from 0 to 1"}
	if got := shape(tr.Events); !slices.Equal(got, want) || tr.Dropped != 3 {
		t.Errorf("got %q, %d dropped; want %q, 3 dropped", got, tr.Dropped, want)
	}
}

// TestLong crosses the pieces of memory, and the limit of nesting.
func TestLong(t *testing.T) {
	const n = 2*chunkLen + 7
	tr := record(t, 0, func(ctx context.Context, _ *Recorder, c *fakeClock) {
		for i := range n {
			Begin(ctx, fmt.Sprint("never ended ", i))
			c.add(1)
		}
	})
	if len(tr.Events) != n || tr.Dropped != 0 {
		t.Fatalf("got %d events, %d dropped; want %d, 0", len(tr.Events), tr.Dropped, n)
	}
	for i, e := range tr.Events {
		want := Event{Name: fmt.Sprint("never ended ", i), Parent: int32(min(i, maxDepth) - 1), Open: true,
			Start: time.Duration(i), End: n}
		if e != want {
			t.Fatalf("event %d: got %+v, want %+v", i, e, want)
		}
	}
}

func TestSync(t *testing.T) {
	r, c := fakeRecorder(t, 0)
	ctx := With(t.Context(), r)
	calls := 0
	r.Sync(func() { calls++; c.add(time.Microsecond) }) // the stream takes 1 µs to finish
	step := func(name string, f func()) {
		t.Helper()
		before := calls
		f()
		if calls != before+1 {
			t.Errorf("%s: sync was called %d times, want once", name, calls-before)
		}
	}
	var reg Region
	step("Epoch", r.Epoch)
	step("Begin", func() { reg = Begin(ctx, "a") })
	step("Mark", func() { reg.Mark("m") })
	step("End", reg.End)
	want := []string{"region a in -1 from 1 to 3", "mark m in 0 from 2 to 2"}
	if got := shape(r.Events().Events); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: each timestamp must come after its sync", got, want)
	}

	r.Sync(func() { t.Error("sync was called after Close, when the device may be gone") })
	r.Close()
	r.Events()
	reg.Mark("m")
	reg.End()
	Begin(ctx, "b").End()
}

// TestWait reaches a recorder through its context, and none where there is none.
func TestWait(t *testing.T) {
	Wait(t.Context(), func() { t.Error("called without a recorder") })
	r := NewRecorder(0)
	defer r.Close()
	ctx, calls := With(t.Context(), r), 0
	Wait(ctx, func() { calls++ })
	Begin(ctx, "region").End()
	if calls != 2 {
		t.Errorf("the device was waited for %d times, want at begin and end", calls)
	}
	Wait(ctx, nil)
	Begin(ctx, "region").End()
	if calls != 2 {
		t.Error("the device was waited for after it had been closed")
	}
}

func TestNoSync(t *testing.T) {
	r, _ := fakeRecorder(t, 0)
	r.Sync(func() { t.Error("sync was called after it was taken away") })
	r.Sync(nil)
	Begin(With(t.Context(), r), "a").End()
}

// TestRanks has two ranks in one process, each with its own context.
func TestRanks(t *testing.T) {
	r0, _ := fakeRecorder(t, 0)
	r1, _ := fakeRecorder(t, 1)
	a := Begin(With(t.Context(), r0), "a")
	b := Begin(With(t.Context(), r1), "b")
	a.End()
	r0.Close()
	b.End() // the other recorder is still open
	Begin(t.Context(), "of no rank").End()
	for _, tc := range []struct {
		r    *Recorder
		want string
	}{{r0, "region a in -1 from 0 to 0"}, {r1, "region b in -1 from 0 to 0"}} {
		if got := shape(tc.r.Events().Events); !slices.Equal(got, []string{tc.want}) {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

// TestConcurrent is for the race detector: goroutines share one recorder. It
// uses the real clock.
func TestConcurrent(t *testing.T) {
	const goroutines, rounds = 8, 200
	r := NewRecorder(0)
	defer r.Close()
	r.Sync(func() {})
	ctx := With(t.Context(), r)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				a := Begin(ctx, "a")
				a.Mark("m")
				b := Begin(ctx, "b")
				b.End()
				a.End()
				if g == 0 && i%50 == 0 {
					r.Epoch()
					r.Sync(nil)
					r.Events()
				}
			}
		})
	}
	wg.Wait()
	tr := r.Events()
	if len(tr.Events) != 3*goroutines*rounds || tr.Dropped != 0 || tr.Late != 0 {
		t.Errorf("got %d events, %d dropped, %d late; want %d, 0, 0", len(tr.Events), tr.Dropped, tr.Late, 3*goroutines*rounds)
	}
	for i, e := range tr.Events {
		if e.Open {
			t.Errorf("event %d, %s, is open", i, e.Name)
		}
	}
	if _, err := ordered([]Track{tr}); err != nil {
		t.Error(err)
	}
}
