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

// fakeDevice reaches each stamp some time after it was queued.
type fakeDevice struct {
	c      *fakeClock
	from   time.Duration
	late   time.Duration
	stamps []time.Duration
	read   int
}

func (d *fakeDevice) Stamp() bool {
	if len(d.stamps) == 0 {
		d.from = d.c.now
	}
	d.stamps = append(d.stamps, d.c.now-d.from+d.late)
	d.late += time.Microsecond // the device falls behind
	return true
}

func (d *fakeDevice) Times() []time.Duration {
	d.read++
	return d.stamps
}

// TestClock gives regions the times at which a device did their work.
func TestClock(t *testing.T) {
	const us = time.Microsecond
	r, c := fakeRecorder(t, 0)
	ctx, d := With(t.Context(), r), &fakeDevice{c: c}
	UseClock(t.Context(), d) // no recorder
	Begin(ctx, "before").End()
	c.add(10 * us)
	UseClock(ctx, d) // stamp 1 at 10 µs
	a := Begin(ctx, "a")
	c.add(5 * us)
	a.End()
	UseClock(ctx, nil)
	Begin(ctx, "after").End()
	if d.read != 1 || len(d.stamps) != 3 {
		t.Errorf("%d stamps were read %d times, want 3 once", len(d.stamps), d.read)
	}
	got := r.Events().Events
	if len(got) != 3 || got[0].GPU || got[2].GPU || !got[1].GPU || got[1].GPUStart != 11*us || got[1].GPUEnd != 17*us {
		t.Errorf("got %+v, want the second of three regions on the device from 11 to 17 µs", got)
	}
}

// meeting returns the tracks of two ranks: an AllReduce that rank 1 enters 30 µs after rank
// 0, and then a message from rank 0 that rank 1 waits for.
func meeting(t *testing.T) []Track {
	const us = time.Microsecond
	all := Call{Kind: Collective, Group: 7, Seq: 1, Bytes: 8}
	zero := record(t, 0, func(ctx context.Context, _ *Recorder, c *fakeClock) {
		a := BeginCall(ctx, "AllReduce", all)
		c.add(40 * us)
		a.End()
		c.add(60 * us)
		s := BeginCall(ctx, "send", Call{Kind: Local, Bytes: 4000})
		s.Message(Call{Kind: Sent, Group: 7, Me: 0, Peer: 1, Seq: 1})
		c.add(us)
		s.End()
	})
	one := record(t, 1, func(ctx context.Context, _ *Recorder, c *fakeClock) {
		c.add(30 * us)
		a := BeginCall(ctx, "AllReduce", all)
		c.add(10 * us)
		a.End()
		w := Begin(ctx, "wait")
		c.add(65 * us)
		w.Message(Call{Kind: Received, Group: 7, Me: 1, Peer: 0, Seq: 1})
		w.End()
	})
	return []Track{zero, one}
}

// TestWaits finds who waited for whom.
func TestWaits(t *testing.T) {
	const us = time.Microsecond
	got := waits(meeting(t))
	if len(got[0]) != 1 || got[0][0] != (wait{30 * us, 1, 0}) {
		t.Errorf("rank 0: got %v, want a wait in the AllReduce until 30 µs for rank 1", got[0])
	}
	if len(got[1]) != 1 || got[1][1] != (wait{100 * us, 0, 1}) {
		t.Errorf("rank 1: got %v, want a wait in region 1 until 100 µs for rank 0", got[1])
	}
	var tree, chrome strings.Builder
	if err := WriteTree(&tree, meeting(t), true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"(wait for another rank): 0.000030 s", "(wait for another rank): 0.000060 s", "4 kB"} {
		if !strings.Contains(tree.String(), want) {
			t.Errorf("the tree lacks %q:\n%s", want, &tree)
		}
	}
	if err := WriteChrome(&chrome, meeting(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name":"wait for rank 1"`, `"name":"wait for rank 0"`, `"ph":"s","id":1,"pid":1,"tid":1,"ts":100.000`,
		`"ph":"f","bp":"e","id":1,"pid":1,"tid":2,"ts":105.000`, `"args":{"bytes":8}`} {
		if !strings.Contains(chrome.String(), want) {
			t.Errorf("the Chrome trace lacks %q:\n%s", want, &chrome)
		}
	}
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
					r.UseClock(nil)
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
