package main

import (
	"context"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// small reports whether a case is quick.
func small(c Case) bool {
	n := 1
	for _, k := range c.Shape {
		n *= k
	}
	return n < 1e5
}

// Every case must build, run and give the same on one rank and on two.
func TestEveryCaseRuns(t *testing.T) {
	seen := map[string][]mark{}
	for _, c := range cases() {
		if !small(c) {
			continue
		}
		s := begin(t.Context(), launch.Config{Ranks: c.Ranks, Threads: 1}, request{Case: &c, AtLeast: 1e-9})
		a, err := s.answer()
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		s.again()
		b, err := s.answer()
		if err == nil {
			err = s.end()
		}
		if err != nil || len(b.Seconds) != len(a.Marks) || len(a.Bytes) != len(a.Marks) {
			t.Errorf("%v: %d results, %d times, %d numbers of bytes: %v", c, len(a.Marks), len(b.Seconds), len(a.Bytes), err)
			continue
		}
		same := c
		same.Ranks = 1
		if c.Ranks == 1 {
			seen[same.String()] = a.Marks
			continue
		}
		if c.Op == "Halo" || c.Op == "add_ghost_cells" {
			continue // widened blocks are more elements on two ranks
		}
		if err := agree(c, a.Marks, seen[same.String()]); err != nil {
			t.Errorf("%v: two ranks for golops, one for the peer: %v", c, err)
		}
	}
}

func TestUnknownCases(t *testing.T) {
	for _, c := range []Case{{Op: "Inverse", Type: "float64"}, {Op: "Flip", Type: "int8"}} {
		c.Shape = []int{4, 4}
		err := launch.Config{Ranks: 1}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
			_, err := build(ctx, r, c)
			return err
		})
		if err == nil {
			t.Errorf("%v: got no error", c)
		}
	}
	for _, run := range []string{"(", "nothing at all"} {
		if cs, err := selected(run); err == nil {
			t.Errorf("-run %q: got %d cases and no error", run, len(cs))
		}
	}
}

func TestRow(t *testing.T) {
	r := row{c: Case{Op: "Flip", Peer: pylops, Shape: []int{4, 5}, Type: "float32", Ranks: 1}, bytes: []int{320, 320}, pick: median}
	for i, side := range [][]float64{{2e-6, 1e-6}, {8e-6, 123.4e-6}} {
		r.add(i, side)
	}
	got, want := r.String(), "| Flip | PyLops | 4×5 | float32 | 1 | 2.00 / 1.00 | 8.00 / 123 | 4.00 / 123 | 0.16 / 0.32 |\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if w := r.worst(); w != 4 {
		t.Errorf("the worst ratio is %g, want 4", w)
	}
	if m := median([]float64{3, 1, 2}); m != 2 {
		t.Errorf("median of 3, 1, 2: got %g", m)
	}
}
