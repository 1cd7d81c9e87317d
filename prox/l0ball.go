package prox

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// L0Ball returns the indicator of arrays with at most radius elements that are not
// zero. It is not convex. The prox keeps the largest elements. Bisection finds their
// threshold, with one message per step, some 20 to 60. Of elements that are equal in
// size it keeps the first ones, which takes one more message.
func L0Ball[T scalar.Scalar](ctx context.Context, x *dist.Space, radius int) (Function[T], error) {
	var err error
	if radius < 0 {
		err = fmt.Errorf("radius is %d, must not be negative", radius)
	}
	f := &l0Ball[T]{radius: float64(radius)}
	if x != nil {
		f.red, f.owner = dist.NewReduction(x, 2), owners(x)
	}
	return build(ctx, "L0Ball", x, err, Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			n, err := dist.Norm(ctx, x, 0)
			return indicator(n - f.radius), err
		},
		Prox: f.prox,
	}, "radius ", radius)
}

type l0Ball[T scalar.Scalar] struct {
	radius float64
	red    *dist.Reduction
	ties   []dist.Slot
	owner  []int // of each leaf: the rank of the group that counts this rank's block
}

// owners returns the first rank of the group that holds the same elements of each leaf
// as this rank.
func owners(x *dist.Space) (all []int) {
	mask, me := x.Layout().Mask, x.Comm().Rank()
	for _, leaf := range x.Leaves() {
		at := 0
		for r := range me + 1 {
			if mask != nil && mask[r] != mask[me] {
				continue
			}
			if leaf.Box(r) == leaf.Box(me) {
				break
			}
			at++
		}
		all = append(all, at)
	}
	return all
}

// beyond returns a Shrinkage that keeps what is larger than t.
func beyond(t float64) device.Shrinkage { return device.Shrinkage{Kind: device.ShrinkKeep, T: t} }

func (f *l0Ball[T]) prox(ctx context.Context, y dist.Array[T], _ float64, x dist.Array[T]) error {
	sum, count := dist.AddShrinkSum(f.red, x, beyond(0))
	most := dist.AddNorm(f.red, x, math.Inf(1))
	if err := f.red.Do(ctx); err != nil {
		return err
	}
	if n := sum.Float(); math.IsNaN(n) || math.IsInf(n, 0) {
		return fmt.Errorf("the sum of the sizes is %g: %w", n, solve.ErrNotFinite)
	}
	if count.Float() <= f.radius {
		dist.Copy(y, x)
		return nil
	}
	// More than radius elements are larger than lo, and fewer are larger than hi.
	lo, hi, kept := uint64(0), math.Float64bits(most.Float()), 0.0
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		_, count := dist.AddShrinkSum(f.red, x, beyond(math.Float64frombits(mid)))
		if err := f.red.Do(ctx); err != nil {
			return err
		}
		switch n := count.Float(); {
		case n == f.radius:
			dist.Shrink(y, x, beyond(math.Float64frombits(mid)))
			return nil
		case n > f.radius:
			lo = mid
		default:
			hi, kept = mid, n
		}
	}
	return f.keepFirst(ctx, y, x, math.Float64frombits(lo), math.Float64frombits(hi), f.radius-kept)
}

// keepFirst keeps all elements that are larger than hi, and the first so many of
// those between lo and hi, which are equal in size. Their order is by leaf, by the rank
// that counts them, and by their place in its block.
func (f *l0Ball[T]) keepFirst(ctx context.Context, y, x dist.Array[T], lo, hi, many float64) error {
	ranks := x.Space().Group().Size()
	f.ties = f.ties[:0]
	for i, owner := range f.owner {
		leaf := x.Leaf(i)
		n, err := equals(leaf.Local(), lo, hi)
		if err != nil {
			return err
		}
		for r := range ranks {
			v := 0.0
			if r == owner && (leaf.Space().Primary() || ranks == 1) {
				v = n
			}
			f.ties = append(f.ties, f.red.AddNumber(v))
		}
	}
	if err := f.red.Do(ctx); err != nil {
		return err
	}
	for i, owner := range f.owner {
		left := many
		for _, s := range f.ties[:i*ranks+owner] {
			left -= s.Float()
		}
		if err := keepHere(y.Leaf(i).Local(), x.Leaf(i).Local(), lo, hi, left); err != nil {
			return err
		}
	}
	return nil
}

// equals counts the elements of a block that are larger than lo and not than hi.
func equals[T scalar.Scalar](x array.Array[T], lo, hi float64) (float64, error) {
	b := [1]array.Array[T]{x}
	_, more, err := array.ShrinkSum(b[:], beyond(lo))
	if err != nil {
		return 0, err
	}
	_, less, err := array.ShrinkSum(b[:], beyond(hi))
	return more - less, err
}

// keepHere keeps the elements of a block that are larger than hi and the first so many
// of those between lo and hi. Bisection finds where these end.
func keepHere[T scalar.Scalar](y, x array.Array[T], lo, hi, many float64) error {
	total, err := equals(x, lo, hi)
	if err != nil {
		return err
	}
	end, to := 0, x.Len() // the first so many end in between
	for end < to {
		mid := (end + to) / 2
		n, err := equals(x.Slice(0, mid), lo, hi)
		if err != nil {
			return err
		}
		if n < min(many, total) {
			end = mid + 1
		} else {
			to = mid
		}
	}
	head, tail := [2]array.Array[T]{y.Slice(0, end), x.Slice(0, end)}, [2]array.Array[T]{y.Slice(end, x.Len()), x.Slice(end, x.Len())}
	array.Shrink(head[:1], head[1:], beyond(lo))
	array.Shrink(tail[:1], tail[1:], beyond(hi))
	return nil
}
