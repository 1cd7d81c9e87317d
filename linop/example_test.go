package linop_test

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
)

// Two ranks stack one operator each: rank r multiplies by r+1.
func ExampleVStack() {
	launch.Config{Ranks: 2}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		x, _ := dist.NewSpace(ctx, r.Alone(), dist.Layout{}, 3)
		c := float64(r.Rank() + 1)
		times := func(_ context.Context, dst, src dist.Array[float64]) error {
			dist.Scale(dst, c, src)
			return nil
		}
		a, _ := linop.Func("times", x, x, times, times)
		v, err := linop.VStackRanks(ctx, r, a)
		if err != nil {
			return err
		}
		m, _ := dist.FromFunc(ctx, v.Domain(), func(i []int) float64 { return float64(i[0]) })
		d, err := linop.Apply(ctx, v, m)
		if err != nil {
			return err
		}
		all, err := dist.AllGather(ctx, d)
		if r.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	// Output: [0 1 2 0 2 4]
}

// The product of two operators that lie differently on two ranks.
func ExampleCompose() {
	launch.Config{Ranks: 2}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		even, _ := dist.NewSpace(ctx, r, dist.Layout{}, 4)
		uneven, _ := dist.NewSpace(ctx, r, dist.Layout{Counts: [][]int{{1, 3}}}, 4)
		double := func(_ context.Context, dst, src dist.Array[float64]) error {
			dist.Scale(dst, 2, src)
			return nil
		}
		a, _ := linop.Func("double", even, even, double, double)
		b, _ := linop.Func("double", uneven, uneven, double, double)
		ba, err := linop.Compose(b, a)
		if err != nil {
			return err
		}
		x, _ := dist.New[float64](ba.Domain())
		dist.Fill(x, 1)
		y, err := linop.Apply(ctx, ba, x)
		if err != nil {
			return err
		}
		if r.Rank() == 1 {
			fmt.Println("rank 1 holds", y.Local().Mem().Host)
		}
		return nil
	})
	// Output: rank 1 holds [4 4 4]
}
