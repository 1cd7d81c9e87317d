package trace

import (
	"context"
	"io"
	"testing"
	"time"
)

// region is the code under trace in the tests of cost.
func region(ctx context.Context) {
	reg := Begin(ctx, "region")
	reg.Mark("Begin dot")
	reg.End()
}

func TestOffAllocatesNothing(t *testing.T) {
	if n := recorders.Load(); n != 0 {
		t.Fatalf("%d recorders are open, want none", n)
	}
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { region(ctx) }); n != 0 {
		t.Errorf("nothing records: %v allocations, want none", n)
	}
	r := NewRecorder(0)
	if n := testing.AllocsPerRun(100, func() { region(ctx) }); n != 0 {
		t.Errorf("another context records: %v allocations, want none", n)
	}
	ctx = With(ctx, r)
	r.Close()
	if n := recorders.Load(); n != 0 {
		t.Fatalf("%d recorders are open after Close, want none", n)
	}
	if n := testing.AllocsPerRun(100, func() { region(ctx) }); n != 0 {
		t.Errorf("recorder is closed: %v allocations, want none", n)
	}
	if n := len(r.Events().Events); n != 0 {
		t.Errorf("%d events were recorded after Close, want none", n)
	}
}

// BenchmarkOff is a region with one mark when nothing records.
func BenchmarkOff(b *testing.B) {
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		reg := Begin(ctx, "region")
		reg.Mark("Begin dot")
		reg.End()
	}
}

// BenchmarkOffDefer is the same with the End deferred, as most code has it.
func BenchmarkOffDefer(b *testing.B) {
	ctx := b.Context()
	f := func() {
		reg := Begin(ctx, "region")
		defer reg.End()
		reg.Mark("Begin dot")
	}
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
}

// BenchmarkElsewhere is a region outside the context that records.
func BenchmarkElsewhere(b *testing.B) {
	r := NewRecorder(0)
	defer r.Close()
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		region(ctx)
	}
}

// BenchmarkOn is a region with one mark that is recorded.
func BenchmarkOn(b *testing.B) {
	r := NewRecorder(0)
	defer r.Close()
	ctx := With(b.Context(), r)
	b.ReportAllocs()
	for b.Loop() {
		if r.n+2 > r.limit {
			r.n, r.chunks = 0, nil // a full recorder would be too fast
		}
		region(ctx)
	}
}

// BenchmarkWriteChrome writes a hundred thousand regions.
func BenchmarkWriteChrome(b *testing.B) {
	t := Track{Events: make([]Event, 100_000)}
	for i := range t.Events {
		start := time.Duration(i) * time.Microsecond
		t.Events[i] = Event{Name: "region", Parent: -1, Start: start, End: start + 900}
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteChrome(io.Discard, []Track{t}); err != nil {
			b.Fatal(err)
		}
	}
}
