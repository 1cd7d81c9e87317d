package wave

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// sources2 are those of the PyLops numbers on grid2, and times2 their trav_srcs for
// velocity 1000, one row per source.
var (
	sources2 = []Point{{X: 2, Z: 1}, {X: 9, Z: 1}}
	times2   = []float64{
		0.002, 0.003605551275463989, 0.006324555320336759, 0.009219544457292887,
		0.002, 0.003605551275463989, 0.006324555320336759, 0.009219544457292887,
		0.006, 0.00670820393249937, 0.00848528137423857, 0.01081665382639197,
		0.01, 0.01044030650891055, 0.011661903789690602, 0.01345362404707371,
		0.014, 0.014317821063276353, 0.015231546211727818, 0.016643316977093238,
		0.009, 0.009486832980505138, 0.01081665382639197, 0.012727922061357855,
		0.005, 0.005830951894845301, 0.007810249675906654, 0.010295630140987002,
		0.001, 0.0031622776601683794, 0.00608276253029822, 0.009055385138137417,
		0.003, 0.004242640687119285, 0.00670820393249937, 0.009486832980505138,
		0.007, 0.007615773105863909, 0.009219544457292887, 0.011401754250991379,
	}
)

func TestConstantPyLops(t *testing.T) {
	c, err := NewConstant(grid2, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{1, 2, 7} {
		got, err := TimeTable[float64](t.Context(), c, sources2, threads)
		if err != nil || !(maxDiff(got, times2) <= 1e-17) {
			t.Errorf("threads=%d: %v, %v, want %v", threads, got, err, times2)
		}
	}
	got, err := TimeTable[float32](t.Context(), c, sources2, 1)
	for i, want := range times2 {
		if err != nil || got[i] != float32(want) {
			t.Fatalf("float32: %v, %v, want %v", got, err, times2)
		}
	}
}

func TestConstant3D(t *testing.T) {
	c, err := NewConstant(grid3, 1500)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, grid3.Nodes())
	p := Point{X: -3, Y: 20, Z: -7} // straight rays may start outside
	if err := c.Fill(dst, p); err != nil {
		t.Fatal(err)
	}
	for i, got := range dst {
		if want := grid3.Distance(p, grid3.Node(i)) / c.Velocity(); !(math.Abs(got-want) <= 1e-16) {
			t.Errorf("node %v: %g, want %g", grid3.Node(i), got, want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { c.Fill(dst, p) }); n > 0 {
		t.Errorf("Fill allocates %g times", n)
	}
}

func TestTravelTimeErrors(t *testing.T) {
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := NewConstant(grid2, v); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("velocity is %g", v)) {
			t.Errorf("velocity %g: %v", v, err)
		}
	}
	if _, err := NewConstant(Grid{}, 1000); err == nil {
		t.Error("an empty grid was accepted")
	}
	c, err := NewConstant(grid2, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Fill(make([]float64, 3), Point{}); err == nil || !strings.Contains(err.Error(), "slice of 3 for a grid of 20 nodes") {
		t.Errorf("short slice: %v", err)
	}
	if _, err := TimeTable[float32](t.Context(), c, sources2, 0); err == nil || !strings.Contains(err.Error(), "threads is 0") {
		t.Errorf("no threads: %v", err)
	}
	if table, err := TimeTable[float32](t.Context(), c, nil, 1); err != nil || len(table) != 0 {
		t.Errorf("no points: %v, %v", table, err)
	}
	bad := append(slices.Clone(sources2), Point{X: math.NaN()})
	if table, err := TimeTable[float32](t.Context(), c, bad, 2); table != nil || err == nil || !strings.Contains(err.Error(), "point 3 of 3") {
		t.Errorf("point that is no number: %v, %v", table, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := TimeTable[float32](ctx, c, sources2, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// maxDiff returns the largest difference, and is infinite for different lengths.
func maxDiff[F Float](got, want []F) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	d := 0.0
	for i := range got {
		d = max(d, math.Abs(float64(got[i])-float64(want[i])))
	}
	return d
}

func BenchmarkConstant(b *testing.B) {
	g := Grid{X: Axis{N: 401, Step: 4}, Z: Axis{N: 301, Step: 4}}
	c, err := NewConstant(g, 1500)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]float32, g.Nodes())
	b.SetBytes(int64(4 * g.Nodes()))
	b.ReportAllocs()
	for b.Loop() {
		if err := StraightTimes(dst, c, Point{X: 700, Z: 10}); err != nil {
			b.Fatal(err)
		}
	}
}
