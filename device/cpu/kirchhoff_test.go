package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/golops/golops/device"
)

// TestKirchhoffThreads compares the results of several threads with those of one, bit
// by bit, at a number of points that is no multiple of a register.
func TestKirchhoffThreads(t *testing.T) {
	seed := rand.Uint64()
	random := func(n int, scale float64) []float64 {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		x := make([]float64, n)
		for i := range x {
			x[i] = scale * rng.Float64()
		}
		return x
	}
	const sources, receivers, points, depths, samples = 7, 9, 1111, 101, 90
	var want [][]float64
	for _, threads := range []int{1, 2, 5} {
		d, err := New(Config{Threads: threads, BLAS: "off"})
		if err != nil {
			t.Fatal(err)
		}
		tables := &device.TravelTables[float64]{
			Sources: sources, Receivers: receivers, Points: points, Samples: samples, Depths: depths,
			Src: random(sources*points, 50), Rec: random(receivers*points, 50), Wavelet: random(7, 1), Centre: 3,
		}
		for i := range tables.SrcW {
			tables.SrcW[i], tables.RecW[i] = random(sources*points, 1), random(receivers*points, 1)
		}
		traces, image := random(sources*receivers*samples, 1), random(points, 1)
		got := [][]float64{make([]float64, len(traces)), make([]float64, points)}
		d.f64.Spread(memOf(got[0]), memOf(image), tables)
		d.f64.Stack(memOf(got[1]), memOf(traces), tables)
		d.Close()
		if want == nil {
			want = got
		}
		for i, name := range []string{"Spread", "Stack"} {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("seed %d: %s on %d threads differs from 1 thread", seed, name, threads)
			}
		}
	}
}
