package ops_test

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// show prints what an operator over an array of these dims makes of it, split
// over two goroutine ranks, without the last digits, which may differ between processors.
func show[D, R scalar.Scalar](dims []int, x []D, op func(ctx ctxt, x space) (linop.Map[D, R], error)) {
	err := launch.Config{Ranks: 2}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		space, err := dist.NewSpace(ctx, r, dist.Layout{}, dims...)
		if err != nil {
			return err
		}
		a, err := op(ctx, space)
		if err != nil {
			return err
		}
		v, err := scatter(ctx, a.Domain(), x)
		if err != nil {
			return err
		}
		y, err := linop.Apply(ctx, a, v)
		if err != nil {
			return err
		}
		all, err := gather(ctx, y)
		for i, v := range all {
			c := scalar.Complex(v)
			round := func(f float64) float64 { return math.Round(f*1e12)/1e12 + 0 } // + 0 makes 0 of -0
			all[i] = scalar.From[R](complex(round(real(c)), round(imag(c))))
		}
		if err == nil && r.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
}
