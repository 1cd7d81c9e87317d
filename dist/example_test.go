package dist_test

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// Seven rows over three ranks: the first holds one more.
func ExampleNewSpace() {
	launch.Config{Ranks: 3}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 7, 4)
		if err != nil {
			return err
		}
		if r.Rank() == 0 {
			fmt.Println(s.Shape(), s.LocalShape())
			fmt.Println(s.SplitBy(0))
		}
		return nil
	})
	// Output:
	// [7 4] [3 4]
	// 0 [3 2 2]
}

// A grid of 2 × 2 ranks splits the last two axes of a cube.
func ExampleNewSpace_grid() {
	launch.Config{Ranks: 4}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{Grid: []int{2, 2}, Axes: []int{1, 2}}, 8, 6, 4)
		if err != nil {
			return err
		}
		if r.Rank() == 3 {
			b := s.Box(3)
			fmt.Println(s.LocalShape(), "from", b.Lo[:3])
		}
		return nil
	})
	// Output: [8 3 2] from [0 3 2]
}

// Rows become columns: each element goes straight to the rank that wants it.
func ExampleRedistribute() {
	launch.Config{Ranks: 2}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		rows, err := dist.NewSpace(ctx, r, dist.Split(0), 2, 4)
		if err != nil {
			return err
		}
		a, err := dist.FromFunc(ctx, rows, func(i []int) float64 { return float64(10*i[0] + i[1]) })
		if err != nil {
			return err
		}
		columns, err := rows.Like(dist.Split(1), 2, 4)
		if err != nil {
			return err
		}
		b, err := dist.Redistribute(ctx, a, columns)
		if err == nil && r.Rank() == 1 {
			fmt.Println(a.Local().Mem().Host, "became", b.Local().Mem().Host)
		}
		return err
	})
	// Output: [10 11 12 13] became [2 3 12 13]
}

func ExampleDot() {
	launch.Config{Ranks: 3}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 1000)
		if err != nil {
			return err
		}
		x, err := dist.FromFunc(ctx, s, func(i []int) complex64 { return 1i })
		if err != nil {
			return err
		}
		dot, err := dist.Dot(ctx, x, x) // conjugates the first
		if err == nil && r.Rank() == 0 {
			fmt.Println(dot)
		}
		return err
	})
	// Output: (1000+0i)
}

// Each block gets the last row of the one before it, and gives back what was
// added there.
func ExampleNewHalo() {
	launch.Config{Ranks: 2}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 4)
		if err != nil {
			return err
		}
		h, err := dist.NewHalo[float64](s, []int{1}, []int{0}, false)
		if err != nil {
			return err
		}
		u, err := dist.FromFunc(ctx, s, func(i []int) float64 { return float64(i[0] + 1) })
		if err != nil {
			return err
		}
		v, err := dist.New[float64](h.Range())
		if err != nil {
			return err
		}
		if err := h.Forward(ctx, v, u); err != nil {
			return err
		}
		if r.Rank() == 1 {
			fmt.Println(v.Local().Mem().Host)
		}
		if err := h.Adjoint(ctx, u, v); err != nil {
			return err
		}
		all, err := dist.Gather(ctx, u, 1)
		if r.Rank() == 1 {
			fmt.Println(all)
		}
		return err
	})
	// Output:
	// [2 3 4]
	// [1 4 3 4]
}
