package dist

import (
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Shrink maps each element of x by its size; see device.ShrinkKind. dst may be x.
func Shrink[T scalar.Scalar](dst, x Array[T], by device.Shrinkage) {
	mustMatch("Shrink", dst, x)
	for i := range dst.space.leaves {
		d, s := [1]array.Array[T]{*dst.block(i)}, [1]array.Array[T]{*x.block(i)}
		array.Shrink(d[:], s[:], by)
	}
}

// ShrinkParts is Shrink for a stack of arrays that lie alike, such as a gradient:
// element i of all parts is one vector, which shrinks by its length. There are 1 to
// device.MaxTuple parts. dst may be x.
func ShrinkParts[T scalar.Scalar](dst, x Array[T], by device.Shrinkage) {
	mustMatch("ShrinkParts", dst, x)
	if x.blocks == nil {
		Shrink(dst, x, by)
		return
	}
	x.space.mustBeTuple("ShrinkParts")
	array.Shrink(dst.blocks, x.blocks, by)
}

// Tuple returns an error unless s is one array, or a stack of at most device.MaxTuple
// arrays of one shape that lie alike.
func (s *Space) Tuple() error {
	given("Tuple", s)
	if n := len(s.leaves); n > device.MaxTuple {
		return fmt.Errorf("dist: %v has %d parts: at most %d can be one vector", s, n, device.MaxTuple)
	}
	for _, leaf := range s.leaves[1:] {
		if why, _ := s.leaves[0].Difference(leaf); why != "" {
			return fmt.Errorf("dist: the parts of %v are not alike: %s", s, why)
		}
	}
	return nil
}

func (s *Space) mustBeTuple(op string) {
	if err := s.Tuple(); err != nil {
		panic(LayoutError(fmt.Sprintf("dist: %s: %v", op, err)))
	}
}

// AddShrinkSum returns slots for the two sums of a Shrinkage over the elements of x.
func AddShrinkSum[T scalar.Scalar](r *Reduction, x Array[T], by device.Shrinkage) (sum, count Slot) {
	sum, count = r.over(x.given("AddShrinkSum"), realSum, labelShrink, 'k'), r.over(x.space, realSum, labelShrink, 'c')
	for i, leaf := range x.space.leaves {
		if leaf.counts() {
			b := [1]array.Array[T]{*x.block(i)}
			addShrinkSum(sum, count, b[:], by)
		}
	}
	return sum, count
}

// AddShrinkSumParts is AddShrinkSum over the vectors of ShrinkParts.
func AddShrinkSumParts[T scalar.Scalar](r *Reduction, x Array[T], by device.Shrinkage) (sum, count Slot) {
	if x.given("AddShrinkSumParts"); x.blocks == nil {
		return AddShrinkSum(r, x, by)
	}
	x.space.mustBeTuple("AddShrinkSumParts")
	sum, count = r.over(x.space, realSum, labelShrink, 'k'), r.over(x.space, realSum, labelShrink, 'c')
	if x.space.leaves[0].counts() {
		addShrinkSum(sum, count, x.blocks, by)
	}
	return sum, count
}

func addShrinkSum[T scalar.Scalar](sum, count Slot, x []array.Array[T], by device.Shrinkage) {
	s, c, err := array.ShrinkSum(x, by)
	sum.add(complex(s, 0), err)
	count.add(complex(c, 0), nil)
}
