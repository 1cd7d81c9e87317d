package wave

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// cube returns a grid of 1000 m per axis with n nodes along x; steps along z and y are
// 4/5 and 5/4 as long as along x, if stretch is set.
func cube(dims, n int, stretch bool) Grid {
	h := 1000 / float64(n-1)
	g := Grid{X: Axis{N: n, Origin: -200, Step: h}, Z: Axis{N: n, Origin: 50, Step: h}}
	if dims == 3 {
		g.Y = Axis{N: n, Origin: 10, Step: h}
	}
	if stretch {
		g.Z.N, g.Z.Step = (n-1)*5/4+1, h*4/5
		if dims == 3 {
			g.Y.N, g.Y.Step = (n-1)*4/5+1, h*5/4
		}
	}
	return g
}

// eikonal returns the times from p for the velocity f.
func eikonal(t testing.TB, g Grid, p Point, f func(Point) float64) []float64 {
	t.Helper()
	v := make([]float64, g.Nodes())
	for i := range v {
		v[i] = f(g.Node(i))
	}
	e, err := NewEikonal(g, v, EikonalDefaults())
	if err != nil {
		t.Fatal(err)
	}
	times := make([]float64, g.Nodes())
	if err := e.Fill(times, p); err != nil {
		t.Fatal(err)
	}
	return times
}

// relError returns the largest error relative to want, which is 0 at the source only.
func relError(g Grid, times []float64, want func(Point) float64) float64 {
	e := 0.0
	for i, got := range times {
		if w := want(g.Node(i)); w > 0 {
			e = max(e, math.Abs(got-w)/w)
		} else {
			e = max(e, got)
		}
	}
	return e
}

// onAndOff are sources on a node of any cube of 10·k + 1 nodes, between nodes, close to
// one, in a corner, and on an edge.
var onAndOff = []Point{
	{X: 300, Y: 510, Z: 150}, {X: 113, Y: 511, Z: 137}, {X: 300.001, Y: 509.999, Z: 150},
	{X: -200, Y: 10, Z: 50}, {X: 77, Y: 333, Z: 50},
}

func TestEikonalConstant(t *testing.T) {
	for _, g := range []Grid{cube(2, 11, false), cube(2, 101, false), cube(2, 101, true), cube(3, 21, false), cube(3, 21, true)} {
		for _, p := range onAndOff {
			times := eikonal(t, g, p, func(Point) float64 { return 1500 })
			if e := relError(g, times, func(q Point) float64 { return g.Distance(p, q) / 1500 }); !(e <= 5e-6) {
				t.Errorf("grid %v, source %v: relative error %g", g, p, e)
			}
		}
	}
}

// TestEikonalGradient compares with t = acosh(1 + k²d²/(2·v₁v₂))/k for v = v₀ + kz.
// Half the step must make half the error.
func TestEikonalGradient(t *testing.T) {
	const v0 = 1500
	for _, tt := range []struct {
		dims, n int
		k       float64
		stretch bool
		limit   float64 // on the coarsest grid
	}{
		{2, 41, 1, false, 1.2e-3}, {2, 41, 1, true, 1.2e-3}, {2, 41, 3, false, 6e-3},
		{3, 11, 1, false, 4.5e-3}, {3, 11, 1, true, 4.5e-3}, {3, 21, 3, false, 1e-2},
	} {
		for _, p := range onAndOff {
			velocity := func(q Point) float64 { return v0 + tt.k*q.Z }
			var last float64
			for n := tt.n; n <= 4*tt.n && n <= 161 && (tt.dims == 2 || n <= 41); n = 2*n - 1 {
				g := cube(tt.dims, n, tt.stretch)
				e := relError(g, eikonal(t, g, p, velocity), func(q Point) float64 {
					d := g.Distance(p, q)
					return math.Acosh(1+tt.k*tt.k*d*d/(2*velocity(p)*velocity(q))) / tt.k
				})
				t.Logf("%d-D, k=%g, %d nodes per axis, stretch %v, source %v: relative error %.2e",
					tt.dims, tt.k, n, tt.stretch, p, e)
				if limit := tt.limit * float64(tt.n-1) / float64(n-1); !(e <= limit) {
					t.Errorf("%d-D, k=%g, %d nodes per axis, stretch %v, source %v: relative error %g, limit %g",
						tt.dims, tt.k, n, tt.stretch, p, e, limit)
				}
				if last > 0 && !(math.Log2(last/e) > 0.9) {
					t.Errorf("%d-D, k=%g, %d nodes per axis, stretch %v, source %v: relative error %g, after %g",
						tt.dims, tt.k, n, tt.stretch, p, e, last)
				}
				last = e
			}
		}
	}
}

// TestEikonalHeadWave has a layer of 1500 m/s and thickness H over 3000 m/s. A source
// and receivers on top see first the direct wave x/v₁, later the head wave
// x/v₂ + 2H·√(1/v₁² − 1/v₂²).
func TestEikonalHeadWave(t *testing.T) {
	const v1, v2, thick = 1500, 3000, 102 // halfway between two nodes
	g := Grid{X: Axis{N: 251, Step: 4}, Z: Axis{N: 101, Step: 4}}
	p := Point{X: 102}
	times := eikonal(t, g, p, func(q Point) float64 {
		if q.Z < thick {
			return v1
		}
		return v2
	})
	for i, got := range times {
		q := g.Node(i)
		d := g.Distance(p, q)
		if got > d/v1*(1+1e-6) || got < d/v2*(1-1e-6) {
			t.Fatalf("node %v: time %g is not between straight rays of both velocities, %g and %g", q, got, d/v2, d/v1)
		}
		if q.Z > 0 {
			continue
		}
		head := d/v2 + 2*thick*math.Sqrt(1./(v1*v1)-1./(v2*v2))
		if want := min(d/v1, head); !(math.Abs(got-want) <= 0.005*want) {
			t.Errorf("offset %g: first arrival %g, want %g", d, got, want)
		}
	}
}

// TestEikonalRough uses velocities from 1 to 6 km/s that jump from node to node. No
// formula knows their times, but these lie between those of straight rays in the
// slowest and the fastest medium, and neighbours differ by no more than the step takes.
func TestEikonalRough(t *testing.T) {
	for _, dims := range []int{2, 3} {
		seed := rand.Uint64()
		rng := rand.New(rand.NewPCG(seed, 1))
		g := cube(dims, 81/(2*dims-3), true)
		speed := make(map[Point]float64)
		times := eikonal(t, g, onAndOff[1], func(q Point) float64 {
			speed[q] = 1000 + 5000*rng.Float64()
			return speed[q]
		})
		for i, got := range times {
			d := g.Distance(onAndOff[1], g.Node(i))
			if !(got >= d/6000 && got <= 1.5*d/1000) {
				t.Fatalf("seed %d: %d-D, node %v: time %g is not between %g and %g", seed, dims, g.Node(i), got, d/6000, d/1000)
			}
			h := g.Z.Step
			if i%g.Z.N == 0 || d < 3*g.X.Step {
				continue
			}
			// The scheme bounds its own difference, T₀·Δτ + τh·∂T₀. The plain one is off by
			// Δτ·h∂T₀ and the curvature of T₀, both a part h/d of a step's time.
			slow := h / min(speed[g.Node(i)], speed[g.Node(i-1)])
			limit := slow + 2*(slow+h*got/d)*h/d
			if !(math.Abs(got-times[i-1]) <= limit) {
				t.Fatalf("seed %d: %d-D, node %v: times %g and %g differ by more than %g", seed, dims, g.Node(i), got, times[i-1], limit)
			}
		}
	}
}

// TestEikonalReciprocity exchanges source and node in a smooth medium.
func TestEikonalReciprocity(t *testing.T) {
	velocity := func(q Point) float64 {
		return 2000 + 0.5*q.Z + 400*math.Sin(q.X/150)*math.Cos(q.Z/200+q.Y/180)
	}
	for _, dims := range []int{2, 3} {
		n := map[int]int{2: 101, 3: 31}[dims]
		g := cube(dims, n, true)
		rng := rand.New(rand.NewPCG(4, uint64(dims)))
		for range 5 {
			i, j := rng.IntN(g.Nodes()), rng.IntN(g.Nodes())
			there := eikonal(t, g, g.Node(i), velocity)[j]
			back := eikonal(t, g, g.Node(j), velocity)[i]
			if limit := 0.2 / float64(n); !(math.Abs(there-back) <= limit*back) {
				t.Errorf("%d-D: %v to %v takes %g, back %g", dims, g.Node(i), g.Node(j), there, back)
			}
		}
	}
}

// TestEikonalTable checks that goroutines do not share what they must not.
func TestEikonalTable(t *testing.T) {
	g := cube(2, 41, false)
	v := make([]float32, g.Nodes())
	for i := range v {
		v[i] = float32(1500 + g.Node(i).Z)
	}
	e, err := NewEikonal(g, v, EikonalDefaults())
	if err != nil {
		t.Fatal(err)
	}
	got, err := TimeTable[float32](t.Context(), e, onAndOff, 3)
	if err != nil {
		t.Fatal(err)
	}
	same, err := TimeTable[float64](t.Context(), e, onAndOff, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, g.Nodes())
	for k, p := range onAndOff {
		if err := e.Fill(want, p); err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if at := k*len(want) + i; got[at] != float32(w) || same[at] != w {
				t.Fatalf("point %v, node %d: %g and %g, want %g", p, i, got[at], same[at], w)
			}
		}
	}
	if n := testing.AllocsPerRun(5, func() { e.Fill(want, onAndOff[1]) }); n > 0 {
		t.Errorf("Fill allocates %g times", n)
	}
	if _, err := TimeTable[float64](t.Context(), e, []Point{{X: 0, Z: 60}, {X: 0, Z: 40}}, 1); err == nil || !strings.Contains(err.Error(), "outside the grid") {
		t.Errorf("point above the grid: %v", err)
	}
}

// TestEikonalLine solves on grids of one node along an axis: times are sums.
func TestEikonalLine(t *testing.T) {
	line, one := Axis{N: 5, Step: 10}, Axis{N: 1, Step: 1}
	for _, g := range []Grid{{X: line, Z: one}, {X: one, Z: line}, {Y: line, X: one, Z: one}, {Y: one, X: one, Z: one}} {
		times := eikonal(t, g, Point{}, func(Point) float64 { return 1000 })
		for i, got := range times {
			if want := 0.01 * float64(i); !(math.Abs(got-want) <= 1e-15) {
				t.Errorf("grid %v, node %d: %g, want %g", g, i, got, want)
			}
		}
	}
}

func TestEikonalErrors(t *testing.T) {
	v := make([]float64, grid2.Nodes())
	make20 := func(at int, x float64) error {
		for i := range v {
			v[i] = 2000
		}
		v[at] = x
		_, err := NewEikonal(grid2, v, EikonalDefaults())
		return err
	}
	_, short := NewEikonal(grid2, v[:3], EikonalDefaults())
	_, empty := NewEikonal(Grid{}, v, EikonalDefaults())
	_, options := NewEikonal(grid2, v, EikonalOptions{RelTol: math.NaN(), MaxSweeps: -1})
	_, zero := NewEikonal(grid2, v, EikonalOptions{})
	for _, tt := range []struct {
		err  error
		want string
	}{
		{make20(7, 0), "node 7 of shape [5 4] at (4, 0, 10): velocity is 0"},
		{make20(0, -3), "node 0 of shape [5 4] at (0, 0, 1): velocity is -3"},
		{make20(19, math.NaN()), "node 19 of shape [5 4] at (16, 0, 10): velocity is NaN"},
		{make20(1, math.Inf(1)), "velocity is +Inf"},
		{make20(1, 1e-200), "velocity is 1e-200, its square is out of range"},
		{short, "slice of 3 for a grid of 20 nodes"},
		{empty, "X.N is 0"},
		{options, "RelTol is NaN"},
		{options, "MaxSweeps is -1"},
		{zero, "MaxSweeps is 0, must be positive: EikonalDefaults has 1000"},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) || !strings.HasPrefix(tt.err.Error(), "wave: ") {
			t.Errorf("error %v, want one with %q", tt.err, tt.want)
		}
	}
	if err := make20(0, 2000); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		opts  EikonalOptions
		fast  float64
		n     int
		p     Point
		want  string
		limit bool
	}{
		{EikonalDefaults(), 2000, 19, Point{X: 1, Z: 2}, "slice of 19", false},
		{EikonalDefaults(), 2000, 20, Point{X: 1}, "from (1, 0, 0): point lies outside the grid, x 0 to 16 by 4, z 1 to 10 by 3", false},
		{EikonalDefaults(), 2000, 20, Point{X: math.NaN(), Z: 2}, "outside the grid", false},
		{EikonalOptions{RelTol: 1e-6, MaxSweeps: 2}, 2000, 20, Point{X: 1, Z: 2}, "after 2 sweeps", true},
		{EikonalDefaults(), 1e150, 20, Point{X: 15, Z: 9}, "velocities differ too much", false},
	} {
		v[19] = tt.fast
		if tt.fast > 2000 {
			v[0], v[14], v[15], v[18] = 1e-150, tt.fast, tt.fast, tt.fast
		}
		e, err := NewEikonal(grid2, v, tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		err = e.Fill(make([]float64, tt.n), tt.p)
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, ErrNotConverged) != tt.limit {
			t.Errorf("error %v, want one with %q", err, tt.want)
		}
	}
}

// A tolerance of 0 sweeps until no time changes any more.
func TestEikonalUntilNothingChanges(t *testing.T) {
	g := Grid{X: Axis{N: 41, Step: 10}, Z: Axis{N: 31, Step: 10}}
	v := make([]float64, g.Nodes())
	for i := range v {
		v[i] = 1500 + 2*g.Node(i).Z + 300*math.Sin(g.Node(i).X/50)
	}
	fill := func(o EikonalOptions) []float64 {
		e, err := NewEikonal(g, v, o)
		if err != nil {
			t.Fatal(err)
		}
		times := make([]float64, g.Nodes())
		if err := e.Fill(times, Point{X: 133, Z: 5}); err != nil {
			t.Fatal(err)
		}
		return times
	}
	exact, near, far := fill(EikonalOptions{MaxSweeps: 1000}), fill(EikonalDefaults()), fill(EikonalOptions{RelTol: 0.1, MaxSweeps: 1000})
	worst := func(a []float64) (d float64) {
		for i := range a {
			d = max(d, math.Abs(a[i]-exact[i]))
		}
		return d
	}
	if worst(near) > 1e-5 || worst(far) <= worst(near) {
		t.Errorf("times are off by %g with the defaults and %g with a tolerance of 0.1", worst(near), worst(far))
	}
}

func ExampleEikonal() {
	g := Grid{X: Axis{N: 101, Step: 10}, Z: Axis{N: 51, Step: 10}}
	velocity := make([]float32, g.Nodes())
	for i := range velocity {
		velocity[i] = 1500 + float32(g.Node(i).Z) // faster with depth
	}
	e, _ := NewEikonal(g, velocity, EikonalDefaults())
	times := make([]float64, g.Nodes())
	e.Fill(times, Point{X: 255, Z: 10})
	fmt.Printf("down to 500 m: %.3f s\n", times[g.Index(0, 25, 50)])
	fmt.Printf("along the top: %.3f s\n", times[g.Index(0, 100, 0)])
	// Output:
	// down to 500 m: 0.281 s
	// along the top: 0.490 s
}

func BenchmarkEikonal(b *testing.B) {
	for _, g := range []Grid{
		{X: Axis{N: 401, Step: 4}, Z: Axis{N: 301, Step: 4}},
		{Y: Axis{N: 61, Step: 10}, X: Axis{N: 81, Step: 10}, Z: Axis{N: 71, Step: 10}},
	} {
		b.Run(fmt.Sprintf("dims=%d", g.Dims()), func(b *testing.B) {
			v := make([]float64, g.Nodes())
			for i := range v {
				q := g.Node(i)
				v[i] = 1500 + q.Z + 300*math.Sin(q.X/150)*math.Cos(q.Z/100+q.Y/130)
			}
			e, err := NewEikonal(g, v, EikonalDefaults())
			if err != nil {
				b.Fatal(err)
			}
			times := make([]float64, g.Nodes())
			b.SetBytes(int64(8 * g.Nodes()))
			b.ReportAllocs()
			for b.Loop() {
				if err := e.Fill(times, Point{X: 333, Y: 301, Z: 10}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(g.Nodes())*float64(b.N)/b.Elapsed().Seconds(), "nodes/s")
		})
	}
}
