package cost_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/golops/golops/cost"
	"github.com/golops/golops/scalar"
)

func TestHaloByHand(t *testing.T) {
	for _, c := range []struct {
		name            string
		extents, grid   []int
		depth           int
		oneSided        bool
		messages, bytes float64
		travel          float64 // s of messages, without copies
	}{
		{"one rank", []int{100}, []int{1}, 2, false, 0, 0, 0},
		{"a chain, one side", []int{100}, []int{2}, 2, false, 1, 8 * 2, 1e-3 + 1e-4 + 16e-6},
		{"a chain, two sides", []int{99}, []int{3}, 2, false, 2, 8 * 4, 1e-3 + 2e-4 + 32e-6},
		{"a chain, one-sided", []int{99}, []int{3}, 2, true, 2, 8 * 4, 2e-3 + 4e-4 + 32e-6},
		{"a square has corners", []int{99, 99}, []int{3, 3}, 1, false, 8, 8 * (4*33 + 4), 1e-3 + 8e-4 + 8*4*33e-6},
		{"deeper than a block", []int{8}, []int{4}, 3, false, 3, 8 * 6, 1e-3 + 3e-4 + 48e-6},
	} {
		r, err := plain().Halo(cost.Halo{Extents: c.extents, Depth: c.depth, DType: scalar.Float64, Grid: c.grid, OneSided: c.oneSided})
		f := r.Forward
		copies := f.Compute + 2*f.Bytes/1e12
		if err != nil || f.Messages != c.messages || f.Bytes != c.bytes || !near(f.Seconds, c.travel+copies) {
			t.Errorf("%s: got %+v, %v, want %v messages, %v bytes, %v s", c.name, f, err, c.messages, c.bytes, c.travel+copies)
		}
	}
}

// The best grid is not slower than any other, and fits.
func TestBestHalo(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		h := cost.Halo{Depth: rnd.IntN(4), DType: scalar.Float32}
		for range 1 + rnd.IntN(3) {
			h.Extents = append(h.Extents, 1+rnd.IntN(500))
		}
		ranks := 1 + rnd.IntN(64)
		m := cost.Defaults()
		best, r, err := cost.BestHalo(m, h, ranks, 0)
		if err != nil {
			t.Fatal(err)
		}
		h.Grid = make([]int, len(h.Extents))
		for i := range h.Grid {
			h.Grid[i] = 1
		}
		axis := rnd.IntN(len(h.Grid))
		h.Grid[axis] = ranks
		other, err := m.Halo(h)
		if err != nil || other.Seconds() < r.Seconds() {
			t.Errorf("seed %d: %v takes %v s, %v, less than %v with %v", seed, h, other.Seconds(), err, r.Seconds(), best)
		}
		memory := 1 + rnd.Int64N(2*r.Memory)
		_, q, err := cost.BestHalo(m, h, ranks, memory)
		var short *cost.MemoryError
		if errors.As(err, &short) != (err != nil) || err == nil && q.Memory > memory || err != nil && short.Need <= memory {
			t.Errorf("seed %d: %v with %d bytes: %+v, %v", seed, h, memory, q, err)
		}
	}
}

func TestSurvey(t *testing.T) {
	m := plain()
	s := cost.Survey{Sources: 6, Receivers: 10, Samples: 100, Image: []int{8, 50}, DType: scalar.Float64}
	if _, err := m.Survey(s, 2); err == nil || !strings.Contains(err.Error(), "pairs_per_s") {
		t.Errorf("without a rate: %v", err)
	}
	m.Pairs = map[string]float64{"float64": 1e6}
	step := 1e-3 + 1e-4
	for _, c := range []struct {
		ranks            int
		byModel          bool
		forward, adjoint float64
		memory           int64
	}{
		{1, false, 6 * 10 * 400 / 1e6, 6 * 10 * 400 / 1e6, 8*400*16 + 3*8*(400+6000)},
		{3, false, 2 * 10 * 400 / 1e6, 2*10*400/1e6 + 4*step + 2*3200*2/3.0/1e6 + 2*3200*2/3.0/1e12, 8*400*12 + 3*8*(400+2000)},
		{2, true, 6*10*200/1e6 + 2*step + 48000/1e6 + 48000/1e12, 6 * 10 * 200 / 1e6, 8*200*16 + 3*8*(200+6000)},
	} {
		s.ByModel = c.byModel
		r, err := m.Survey(s, c.ranks)
		if err != nil || !near(r.Forward.Seconds, c.forward) || !near(r.Adjoint.Seconds, c.adjoint) || r.Memory != c.memory {
			t.Errorf("%d ranks, %v: got %+v, %v, want %v, %v s, %d bytes", c.ranks, s, r, err, c.forward, c.adjoint, c.memory)
		}
	}
	large := cost.Survey{Sources: 1000, Receivers: 1000, Samples: 2000, Image: []int{500, 500, 300}, DType: scalar.Float32}
	if best, _, err := cost.BestSurvey(cost.Defaults(), large, 1024, 64<<30); err != nil || !strings.Contains(best.String(), "split") {
		t.Errorf("%v, %v", best, err)
	}
	_, _, err := cost.BestSurvey(cost.Defaults(), large, 2, 1<<30)
	if err == nil || !strings.Contains(err.Error(), "may have 1073741824") {
		t.Error(err)
	}
	for want, bad := range map[string]cost.Survey{
		"of 0 sources":    {Receivers: 1, Samples: 2, Image: []int{1}, DType: scalar.Float32},
		"image of [3 0]":  {Sources: 1, Receivers: 1, Samples: 2, Image: []int{3, 0}, DType: scalar.Float32},
		"must be float32": {Sources: 1, Receivers: 1, Samples: 2, Image: []int{3}, DType: scalar.Complex64},
	} {
		if _, err := m.Survey(bad, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
