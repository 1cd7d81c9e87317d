package perf

import (
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// survey is the middle one of the migrations in docs/benchmarks.md: sources and
// receivers on two lines over a grid with a constant velocity.
type survey struct{ nx, nz, sources, receivers, samples int }

func newSurvey(shrink int) survey {
	return survey{201 / shrink, 150 / shrink, max(1, 16/shrink), max(1, 51/shrink), max(64, 651/shrink)}
}

// travel returns the times from n points on a line to all nodes, in samples.
func travel[F float32 | float64](v survey, n int, depth float64) []F {
	const step, velocity, interval = 4, 1000, 0.004
	t := make([]F, 0, n*v.nx*v.nz)
	for i := range n {
		x := step * float64(v.nx) * (float64(i) + 0.5) / float64(n)
		for ix := range v.nx {
			for iz := range v.nz {
				way := math.Hypot(step*float64(ix)-x, step*float64(iz)-depth)
				t = append(t, F(way/velocity/interval))
			}
		}
	}
	return t
}

// pairOps is what one source, receiver and point take: the sum of two times, its
// fraction, two products and two additions.
const pairOps = 7

func kirchhoff[T scalar.Scalar, F float32 | float64](w *workshop[T], v survey, name string) (work, error) {
	points := v.nx * v.nz
	pairs := float64(points) * float64(v.sources) * float64(v.receivers)
	j := work{
		kernel: name, flops: pairOps * pairs,
		size: fmt.Sprintf("%d x %d, %d rec, %d src, nt %d", v.nx, v.nz, v.receivers, v.sources, v.samples),
	}
	t := &device.TravelTables[F]{
		Sources: v.sources, Receivers: v.receivers, Points: points, Samples: v.samples, Depths: v.nz,
		Src: travel[F](v, v.sources, 10), Rec: travel[F](v, v.receivers, 20),
	}
	w.kept = append(w.kept, &t.Cache)
	x, err := w.filled(points)
	if err != nil {
		return j, err
	}
	y, err := w.filled(v.sources * v.receivers * v.samples)
	j.run = func() error { return device.Spread(w.k, y, x, t) }
	if name == "kirchhoff stack" {
		j.run = func() error { return device.Stack(w.k, x, y, t) }
	}
	return j, err
}
