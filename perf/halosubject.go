package perf

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// haloRows are the rows of a rank's block. There is one ghost row at each side, so that
// as much is exchanged as is copied.
const haloRows = 2

// haloSubject is the exchange of one row with each neighbour, in messages of size bytes.
func haloSubject[T scalar.Scalar](ctx context.Context, r dist.Proc, size int64, oneSided bool) (s subject[T], err error) {
	layout := dist.Layout{}
	if oneSided {
		layout.Way = dist.OneSided
	}
	columns := max(1, int(size)/scalar.Of[T]().Size())
	n := haloRows * r.Size()
	x, err := dist.NewSpace(ctx, r, layout, n, columns)
	if err != nil {
		return s, err
	}
	if s.op, err = ops.Halo[T](ctx, x, ops.HaloOptions{Front: []int{1, 0}, Back: []int{1, 0}}); err != nil {
		return s, err
	}
	s.layout = fmt.Sprintf("%d x %d", n, columns)
	s.amount = float64(min(2, r.Size()-1) * columns * scalar.Of[T]().Size())
	value := func(row, column int) T { return scalar.From[T](complex(float64((31*row+7*column)%97), 0)) }
	s.check = func(ctx context.Context) error {
		v, err := dist.FromFunc(ctx, x, func(i []int) T { return value(i[0], i[1]) })
		if err != nil {
			return err
		}
		y, err := dist.New[T](s.op.Range())
		if err != nil {
			return err
		}
		if err := s.op.Forward(ctx, y, v); err != nil {
			return err
		}
		got := make([]T, y.Local().Len())
		if err := y.Local().CopyOut(got); err != nil {
			return err
		}
		for row := max(0, haloRows*r.Rank()-1); row < min(n, haloRows*(r.Rank()+1)+1); row++ {
			for c := range columns {
				if got[0] != value(row, c) {
					return fmt.Errorf("element %d, %d on rank %d is %v, want %v", row, c, r.Rank(), got[0], value(row, c))
				}
				got = got[1:]
			}
		}
		return nil
	}
	return s, nil
}
