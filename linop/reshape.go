package linop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// Reshape returns a as an operator from dom to rng: spaces of other shapes whose
// arrays hold the same elements on the same ranks, in the same order. Nothing is
// copied and nothing is sent; all ranks see a mismatch of any rank. A space that
// is a stack has no shape: give that of a itself.
func Reshape[D, R scalar.Scalar](a Map[D, R], dom, rng *dist.Space) (Map[D, R], error) {
	err := valid(a)
	if err == nil && (dom == nil || rng == nil) {
		err = errors.New("a space is nil")
	}
	if err == nil {
		if err = sameElements(a.Domain(), dom); err != nil {
			err = fmt.Errorf("the domain: %w", err)
		} else if err = sameElements(a.Range(), rng); err != nil {
			err = fmt.Errorf("the range: %w", err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("linop: reshape: %w", err)
	}
	if dom.Equal(a.Domain()) && rng.Equal(a.Range()) {
		return a, nil
	}
	return &reshaped[D, R]{Spaces{dom, rng}, a}, nil
}

// sameElements says why the arrays of two spaces do not hold the same elements on
// every rank. Indices count elements in the order of memory.
func sameElements(have, want *dist.Space) error {
	why, _ := have.Difference(want)
	switch {
	case why == "":
		return nil
	case have.Comm() != want.Comm() || have.Device() != want.Device():
	case have.Parts() != nil || want.Parts() != nil:
		why = "a stack cannot be reshaped"
	case !slices.Equal(have.Layout().Mask, want.Layout().Mask):
		why = "the masks differ"
	case have.Size() != want.Size():
		why = fmt.Sprintf("%d elements are not %d", have.Size(), want.Size())
	default:
		k := 0
		for k < have.Comm().Size() && slices.Equal(runs(have, k), runs(want, k)) {
			k++
		}
		if k == have.Comm().Size() {
			return nil
		}
		why = fmt.Sprintf("rank %d does not hold the same elements of both: Redistribute first", k)
	}
	return mismatch(why, "the operator has", have, "Reshape was given", want)
}

// runs describes which elements a rank holds, in the order of memory: the first
// one, and pairs of a number and a stride for nested loops, the outermost first.
// Loops that make one together are joined, so that equal runs mean equal elements.
func runs(s *dist.Space, rank int) []int {
	sh, b := s.Shape(), s.Box(rank)
	st := sh.Strides()
	r := []int{0}
	for a := range sh.NDim() {
		n := b.Hi[a] - b.Lo[a]
		r[0] += b.Lo[a] * st[a]
		switch last := len(r) - 1; {
		case n == 0:
			return nil
		case n == 1:
		case last > 0 && r[last] == n*st[a]:
			r[last-1], r[last] = r[last-1]*n, st[a]
		default:
			r = append(r, n, st[a])
		}
	}
	return r
}

type reshaped[D, R scalar.Scalar] struct {
	Spaces
	a Map[D, R]
}

func (o *reshaped[D, R]) Forward(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error {
	if err := dist.Check("linop: reshaped operator", "forward", &dst, o.Rng, &src, o.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: reshaped operator", "forward").End()
	return o.a.Forward(ctx, as(o.a.Range(), dst), as(o.a.Domain(), src))
}

func (o *reshaped[D, R]) Adjoint(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error {
	if err := dist.Check("linop: reshaped operator", "adjoint", &dst, o.Dom, &src, o.Rng); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: reshaped operator", "adjoint").End()
	return o.a.Adjoint(ctx, as(o.a.Domain(), dst), as(o.a.Range(), src))
}

// as returns x as an array of s, over the same memory. A stack is as it should be.
func as[T scalar.Scalar](s *dist.Space, x dist.Array[T]) dist.Array[T] {
	if x.NumParts() > 0 {
		return x
	}
	return dist.Wrap(s, x.Local())
}
