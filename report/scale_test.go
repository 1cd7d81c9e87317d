package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestResolve(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	hundred := make([]float64, 101)
	for i := range hundred {
		hundred[i] = float64(i)
	}
	spikes := make([]float64, 1000) // mostly zero, as reflectivity is
	spikes[10], spikes[20] = 0.1, -0.3
	for _, c := range []struct {
		name  string
		m     ColorMap
		s     Scale
		v     []float64
		wantM ColorMap
		want  span
	}{
		{"both signs", Auto, Scale{}, []float64{-1, 2}, Seismic, span{-2, 2}},
		{"one sign", Auto, Scale{}, []float64{1, 2}, Viridis, span{1, 2}},
		{"symmetric auto", Auto, Scale{Symmetric: true}, []float64{1, 2}, Seismic, span{-2, 2}},
		{"fixed", Gray, Scale{Min: -3, Max: 7}, []float64{100}, Gray, span{-3, 7}},
		{"percentile", Gray, Scale{Clip: 90}, hundred, Gray, span{10, 90}},
		{"symmetric percentile", Gray, Scale{Clip: 91, Symmetric: true}, hundred, Gray, span{-91, 91}},
		{"default percentile", Seismic, Scale{}, hundred, Seismic, span{-99, 99}},
		{"zeros do not count", Seismic, Scale{}, spikes, Seismic, span{-0.3, 0.3}},
		{"mostly one value", Gray, Scale{Clip: 90}, spikes, Gray, span{-0.3, 0.1}},
		{"constant", Viridis, Scale{}, []float64{4, 4}, Viridis, span{2, 6}},
		{"zeros", Viridis, Scale{}, []float64{0, 0}, Viridis, span{-0.5, 0.5}},
		{"zeros, symmetric", Seismic, Scale{}, []float64{0, 0}, Seismic, span{-1, 1}},
		{"nothing finite", Viridis, Scale{}, []float64{nan, inf, -inf}, Viridis, span{0, 1}},
		{"not only finite", Viridis, Scale{}, []float64{nan, inf, 1, 3}, Viridis, span{1, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, r := resolve(c.m, c.s, c.v)
			if m != c.wantM || r != c.want {
				t.Errorf("got %v %v, want %v %v", m, r, c.wantM, c.want)
			}
		})
	}
}

func TestIndex(t *testing.T) {
	r := span{-1, 1}
	for _, c := range []struct {
		x    float64
		want int
	}{{-1, 0}, {1, 255}, {-5, 0}, {5, 255}, {0, 128}, {math.Inf(1), 255}, {math.Inf(-1), 0}, {math.NaN(), -1}} {
		if got := r.index(c.x); got != c.want {
			t.Errorf("index of %g is %d, want %d", c.x, got, c.want)
		}
	}
}

func TestPercentileIsThatOfSorting(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		v := make([]float64, 1+rnd.IntN(60))
		for i := range v {
			v[i] = float64(rnd.IntN(20)) // with many that are equal
		}
		sorted := slices.Sorted(slices.Values(v))
		p := 100 * rnd.Float64()
		want := sorted[int(math.Round(p/100*float64(len(v)-1)))]
		if got := percentile(v, p); got != want {
			t.Fatalf("seed %d: percentile %g of %v is %g, want %g", seed, p, sorted, got, want)
		}
	}
}

func TestScaleOf(t *testing.T) {
	of := func(v ...float64) Picture {
		return Picture{Data: Grid{Rows: 1, Cols: len(v), At: func(_, i int) float64 { return v[i] }}}
	}
	for _, c := range []struct {
		pictures []Picture
		want     Scale
	}{
		{[]Picture{of(1, 2), of(-3, math.NaN(), math.Inf(1))}, Scale{Min: -3, Max: 2}},
		{[]Picture{of(4, 4)}, Scale{}},
		{nil, Scale{}},
	} {
		if got := ScaleOf(c.pictures...); got != c.want {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}
