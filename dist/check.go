package dist

import (
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/scalar"
)

// LayoutError is the value of a panic over arrays that lie differently, or that
// were never made.
type LayoutError string

func (e LayoutError) Error() string { return string(e) }

// Check returns an error unless dst is an array of to, src is an array of from,
// and they share no memory. Forward and Adjoint of an operator call it first,
// because kernels check nothing. what names the operator and how names the call.
// Check sends nothing, and allocates only if it fails. It takes arrays by address
// because copying their headers takes longer than the check.
func Check[R, D scalar.Scalar](what, how string, dst *Array[R], to *Space, src *Array[D], from *Space) error {
	if dst.space == to && src.space == from && to != nil && from != nil && dst.blocks == nil && src.blocks == nil &&
		!array.Overlap(&dst.local, &src.local) {
		return nil
	}
	return checkAll(what, how, dst, to, src, from)
}

// checkAll is Check for stacks and for spaces that were made twice, and says
// what is wrong.
func checkAll[R, D scalar.Scalar](what, how string, dst *Array[R], to *Space, src *Array[D], from *Space) error {
	switch {
	case dst.space == nil:
		return fmt.Errorf("%s: %s: dst is no array: make one with dist.New", what, how)
	case src.space == nil:
		return fmt.Errorf("%s: %s: src is no array: make one with dist.New", what, how)
	case !dst.space.Equal(to):
		why, _ := dst.space.Difference(to)
		return fmt.Errorf("%s: %s: %s: dst is of %v, the operator gives %v", what, how, why, dst.space, to)
	case !src.space.Equal(from):
		why, _ := src.space.Difference(from)
		return fmt.Errorf("%s: %s: %s: src is of %v, the operator takes %v", what, how, why, src.space, from)
	case share(dst, src):
		return fmt.Errorf("%s: %s: dst and src share memory: give dst other memory", what, how)
	}
	return nil
}

// share reports whether any part of one array lies in the memory of another.
func share[R, D scalar.Scalar](a *Array[R], b *Array[D]) bool {
	for i := range a.space.leaves {
		for j := range b.space.leaves {
			if array.Overlap(a.block(i), b.block(j)) {
				return true
			}
		}
	}
	return false
}

// given returns the space of a. An array that was never made has none, which is
// a bug and panics.
func (a *Array[T]) given(op string) *Space {
	if a.space == nil {
		neverMade(op)
	}
	return a.space
}

// neverMade panics. It is a separate function so that given is inlined: hot paths
// ask arrays for their blocks.
func neverMade(op string) {
	panic(LayoutError("dist: " + op + ": the array was never made: use New, FromFunc, FromBlock or Scatter"))
}

// given panics if there is no space.
func given(op string, s *Space) {
	if s == nil {
		panic(LayoutError("dist: " + op + ": no space given: make one with NewSpace"))
	}
}

// mustMatch panics unless x and y lie on the same ranks in the same way.
func mustMatch[T scalar.Scalar](op string, x, y Array[T]) {
	if x.space != y.space {
		mustEqual(op, x.space, y.space)
	}
	x.given(op)
}

func mustEqual(op string, s, t *Space) {
	why, bridged := s.Difference(t)
	if why == "" {
		return
	}
	if s == nil || t == nil {
		neverMade(op)
	}
	todo := ""
	if bridged {
		todo = ": Redistribute one of them"
	}
	panic(LayoutError(fmt.Sprintf("dist: %s: %s: one array is of %v, the other of %v%s", op, why, s, t, todo)))
}
