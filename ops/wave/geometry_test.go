package wave

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// grid2 and grid3 are those of the PyLops numbers in these tests.
var (
	grid2 = Grid{X: Axis{N: 5, Step: 4}, Z: Axis{N: 4, Origin: 1, Step: 3}}
	grid3 = Grid{Y: Axis{N: 3, Step: 5}, X: grid2.X, Z: grid2.Z}
)

func TestGridNodes(t *testing.T) {
	for _, g := range []Grid{grid2, grid3} {
		if err := g.Validate(); err != nil {
			t.Fatal(err)
		}
		i := 0
		for iy := range g.ny() {
			for ix := range g.X.N {
				for iz := range g.Z.N {
					want := Point{X: g.X.At(ix), Z: g.Z.At(iz)}
					if g.Dims() == 3 {
						want.Y = g.Y.At(iy)
					}
					if got := g.Node(i); got != want || g.Index(iy, ix, iz) != i {
						t.Errorf("%d-D node (%d, %d, %d): %v, index %d, want %v, %d",
							g.Dims(), iy, ix, iz, got, g.Index(iy, ix, iz), want, i)
					}
					i++
				}
			}
		}
		if g.Nodes() != i {
			t.Errorf("%v has %d nodes, want %d", g, g.Nodes(), i)
		}
	}
	if !slices.Equal(grid2.Shape(), []int{5, 4}) || !slices.Equal(grid3.Shape(), []int{3, 5, 4}) {
		t.Errorf("shapes %v and %v", grid2.Shape(), grid3.Shape())
	}
	if got, want := grid3.String(), "y 0 to 10 by 5, x 0 to 16 by 4, z 1 to 10 by 3"; got != want {
		t.Errorf("grid is written %q, want %q", got, want)
	}
}

func TestGridValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		change func(g *Grid)
		want   []string
	}{
		{func(g *Grid) { g.X.N = -3 }, []string{"X.N is -3"}},
		{func(g *Grid) { g.Z.N = 0 }, []string{"Z.N is 0"}},
		{func(g *Grid) { g.Y.N = 0 }, []string{"Y.N is 0"}},
		{func(g *Grid) { g.X.Step = 0 }, []string{"X.Step is 0"}},
		{func(g *Grid) { g.Z.Step = -1 }, []string{"Z.Step is -1"}},
		{func(g *Grid) { g.Y.Step = nan }, []string{"Y.Step is NaN"}},
		{func(g *Grid) { g.Z.Step = inf }, []string{"Z.Step is +Inf"}},
		{func(g *Grid) { g.X.Origin = nan }, []string{"X.Origin is NaN"}},
		{func(g *Grid) { g.X.Step = 1e308 }, []string{"X ends at +Inf"}},
		{func(g *Grid) { g.X.N, g.Y.N = math.MaxInt/2, 3 }, []string{"more than an int can count"}},
		{func(g *Grid) { g.X.N, g.X.Step, g.Z.Step = 0, nan, 0 }, []string{"X.N is 0", "X.Step is NaN", "Z.Step is 0"}},
	} {
		g := grid3
		tt.change(&g)
		err := g.Validate()
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("grid %+v: %v, want %q", g, err, want)
			}
		}
	}
}

func TestGridContains(t *testing.T) {
	for _, tt := range []struct {
		p        Point
		in2, in3 bool
	}{
		{Point{X: 0, Y: 0, Z: 1}, true, true},
		{Point{X: 16, Y: 10, Z: 10}, true, true},
		{Point{X: 16.000001, Y: 10, Z: 10}, true, true}, // a rounded 16
		{Point{X: 16.1, Y: 5, Z: 5}, false, false},
		{Point{X: 3, Y: 11, Z: 5}, true, false},
		{Point{X: 3, Y: 5, Z: 0}, false, false},
		{Point{X: math.NaN(), Y: 5, Z: 5}, false, false},
		{Point{X: 3, Y: math.NaN(), Z: 5}, true, false},
	} {
		if got2, got3 := grid2.Contains(tt.p), grid3.Contains(tt.p); got2 != tt.in2 || got3 != tt.in3 {
			t.Errorf("%v: in 2-D %v, 3-D %v, want %v, %v", tt.p, got2, got3, tt.in2, tt.in3)
		}
	}
}

func TestGridMaxDistance(t *testing.T) {
	points := []Point{{X: 3, Y: 4, Z: 2}, {X: -5, Y: 12, Z: 7}, {X: 8, Y: 5, Z: 5}}
	for _, g := range []Grid{grid2, grid3} {
		want := 0.0
		for i := range g.Nodes() {
			for _, p := range points {
				want = max(want, g.Distance(p, g.Node(i)))
			}
		}
		if got := g.MaxDistance(points); !(math.Abs(got-want) <= 1e-14*want) {
			t.Errorf("%d-D: largest distance %g, want %g", g.Dims(), got, want)
		}
	}
	if got := grid2.MaxDistance(nil); got != 0 {
		t.Errorf("largest distance of no points is %g, want 0", got)
	}
}
