package ops_test

import (
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(spreadTest[float32], spreadTest[float64], spreadTest[complex64], spreadTest[complex128])

func spreadTest[T scalar.Scalar]() operatorTest[T] {
	return operatorTest[T]{
		forms: []form[T]{{name: "spread", make: func(ctx ctxt, x space) (op[T], error) {
			return spread[T](ctx, x, []int{4, 3}, 3, 7, func(x0, t0, ix int) (int, float64, bool) {
				return x0 + t0*ix - 1, 0.25, x0 != ix
			})
		}}},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.Spread[T](ctx, nil, 1, 1, toStart) },
		bad: []badCase[T]{
			{"spread", func(ctx ctxt, x space, _ int) (op[T], error) { return ops.Spread[T](ctx, x, 3, -4, toStart) }, []string{"spread", "-4"}},
		},
		extreme: []extremeCase[T]{
			{"spread traces", spreadOf[T](func(v int) (int, int) { return v, 3 }), func(v, _ float64) float64 { return 3 * v }},
			{"spread samples", spreadOf[T](func(v int) (int, int) { return 3, v }), func(v, _ float64) float64 { return 3 * v }},
			{"spread both", spreadOf[T](func(v int) (int, int) { return v, v }), func(v, _ float64) float64 { return v * v }},
			{"spread nothing", spreadOf[T](func(v int) (int, int) { return v, 0 }), func(_, _ float64) float64 { return 0 }},
			{"spread far", func(ctx ctxt, x space, v int) (op[T], error) {
				return spread[T](ctx, x, []int{4, 3}, 3, 7, func(int, int, int) (int, float64, bool) { return v, 0.5, true })
			}, func(_, _ float64) float64 { return 21 }},
		},
		golden: goldenTest[T]{names: []string{"Spread"}, make: goldenSpread[T], fits: func(l dist.Layout) bool {
			return len(l.Axes) == 1 && l.Axes[0] == 0
		}},
	}
}

func toStart(_, _, _ int) (int, float64, bool) { return 0, 0, true }

// spread spreads a model of these dims.
func spread[T scalar.Scalar](ctx ctxt, x space, dims []int, nx, nt int, table ops.SpreadTable) (op[T], error) {
	return on(x, dist.Split(0), dims, func(m space) (op[T], error) { return ops.Spread[T](ctx, m, nx, nt, table) })
}

func spreadOf[T scalar.Scalar](size func(v int) (nx, nt int)) func(ctxt, space, int) (op[T], error) {
	return func(ctx ctxt, x space, v int) (op[T], error) {
		nx, nt := size(v)
		return spread[T](ctx, x, []int{2, 1}, nx, nt, func(x0, t0, ix int) (int, float64, bool) { return t0, 0.25, ix < 5 })
	}
}

func goldenSpread[T scalar.Scalar](t *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
	var frac, table []float64
	var sh []int
	if strings.Contains(c.Name, "holes") { // NaN in a table of floating-point numbers
		sh, table = golden.Array[float64](t, c, "table")
	} else {
		var ints []int64
		sh, ints = golden.Ints(t, c, "table")
		for _, v := range ints {
			table = append(table, float64(v))
		}
	}
	if c.Has("dtable") {
		_, frac = golden.Array[float64](t, c, "dtable")
	}
	return ops.Spread[T](ctx, x, c.Dimsd[0], c.Dimsd[1], func(x0, t0, ix int) (int, float64, bool) {
		k := (x0*sh[1]+t0)*sh[2] + ix
		w := 0.0
		if frac != nil {
			w = frac[k]
		}
		if math.IsNaN(table[k]) {
			return 0, 0, false
		}
		return int(table[k]), w, true
	})
}

// The table of Spread has one entry, an index and a weight, per sample of the
// model and trace of the data.
func BenchmarkSpread(b *testing.B) {
	table := func(x, y, elem int) (forward, adjoint int) {
		n := x + y + 40*500*50*(8+elem)
		return n, n
	}
	onTypes(b, table, benchSpread[float32], benchSpread[float64])
}

func benchSpread[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return spread[T](ctx, x, []int{40, 500}, 50, 500, func(x0, t0, ix int) (int, float64, bool) {
		return (t0 + x0*ix) % 500, 0, true
	})
}

func ExampleSpread() {
	show([]int{1, 2}, []float64{1, 10}, func(ctx ctxt, x space) (op[float64], error) {
		// Sample t0 goes to sample t0+x of trace x.
		return ops.Spread[float64](ctx, x, 2, 3, func(_, t0, x int) (int, float64, bool) { return t0 + x, 0, true })
	})
	// Output: [1 10 0 0 1 10]
}
