package solve_test

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/solve"
)

// landweber minimises ‖A·x - b‖² by x += ω·Aᴴ(b - A·x).
type landweber struct {
	omega float64
	r     *solve.Vector[float64]
	g     *solve.Vector[float64]
	rr    float64
	gg    float64
}

func (m *landweber) Name() string { return "Landweber" }

func (m *landweber) Init(ctx context.Context, w *solve.Workspace[float64, float64]) (solve.Norms, error) {
	m.g, m.r = w.Domain("gradient"), w.RangeScratch("residual")
	w.Number("‖r‖²", &m.rr)
	w.Number("‖g‖²", &m.gg)
	return m.gradient(ctx, w)
}

func (m *landweber) Step(ctx context.Context, w *solve.Workspace[float64, float64]) (solve.Norms, error) {
	w.X.Add(m.omega, m.g) // x += ω·g
	return m.gradient(ctx, w)
}

// gradient sets r = b - A·x and g = Aᴴr.
func (m *landweber) gradient(ctx context.Context, w *solve.Workspace[float64, float64]) (solve.Norms, error) {
	w.Forward(ctx, m.r, w.X)
	m.r.Scale(-1)
	m.r.QueueAddNorm2(1, w.B, &m.rr)
	w.Gradient(ctx, m.g, m.r)
	m.g.QueueNorm2(&m.gg)
	w.Reduce(ctx)
	return solve.Norms{Resid: math.Sqrt(m.rr), Grad: math.Sqrt(m.gg)}, w.Err()
}

// A method of your own: a type with Name, Init and Step.
func ExampleWorkspace() {
	launch.Config{Ranks: 2}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 10)
		if err != nil {
			return err
		}
		d, err := dist.FromFunc(ctx, s, func(i []int) float64 { return 1 + float64(i[0])/10 })
		if err != nil {
			return err
		}
		a, err := ops.Diagonal(d)
		if err != nil {
			return err
		}
		x, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		res, err := solve.Run(ctx, &landweber{omega: 0.4}, solve.Problem[float64, float64]{A: a, B: d}, x, solve.Defaults())
		if r.Rank() == 0 {
			fmt.Println(res.Status, "after", res.Iters)
		}
		return err
	})
	// Output: converged after 25
}
