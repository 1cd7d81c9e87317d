package dist

import (
	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Element-wise operations work on each rank's own block, or on all blocks of a
// stack. They send nothing and return no error; arrays that lie differently
// are a bug and panic with LayoutError. Redistribute makes them alike.

// Copy sets dst = src.
func Copy[T scalar.Scalar](dst, src Array[T]) {
	mustMatch("Copy", dst, src)
	for i := range dst.space.leaves {
		array.Copy(*dst.block(i), *src.block(i))
	}
}

// Fill sets every element of dst to v.
func Fill[T scalar.Scalar](dst Array[T], v T) {
	dst.given("Fill")
	for i := range dst.space.leaves {
		array.Fill(*dst.block(i), v)
	}
}

// Zero sets every element of dst to 0.
func Zero[T scalar.Scalar](dst Array[T]) { Fill(dst, 0) }

// Axpby sets y = a·x + b·y. With b = 0, y is not read.
func Axpby[T scalar.Scalar](a T, x Array[T], b T, y Array[T]) {
	mustMatch("Axpby", x, y)
	if y.blocks == nil { // the loop costs a tenth of the time of a short vector
		array.Axpby(a, x.local, b, y.local)
		return
	}
	for i := range y.space.leaves {
		array.Axpby(a, *x.block(i), b, *y.block(i))
	}
}

// Combine sets dst = a·x + b·y. dst may be x or y.
func Combine[T scalar.Scalar](dst Array[T], a T, x Array[T], b T, y Array[T]) {
	mustMatch("Combine", dst, x)
	mustMatch("Combine", dst, y)
	for i := range dst.space.leaves {
		array.Combine(*dst.block(i), a, *x.block(i), b, *y.block(i))
	}
}

// Add sets dst = x + y. dst may be x or y.
func Add[T scalar.Scalar](dst, x, y Array[T]) { Combine(dst, 1, x, 1, y) }

// Sub sets dst = x - y. dst may be x or y.
func Sub[T scalar.Scalar](dst, x, y Array[T]) { Combine(dst, 1, x, -1, y) }

// Scale sets dst = a·x. dst may be x.
func Scale[T scalar.Scalar](dst Array[T], a T, x Array[T]) { Axpby(a, x, 0, dst) }

// Neg sets dst = -x. dst may be x.
func Neg[T scalar.Scalar](dst, x Array[T]) { Axpby(-1, x, 0, dst) }

// Mul sets dst = x·y, element by element. dst may be x or y.
func Mul[T scalar.Scalar](dst, x, y Array[T]) { mul("Mul", dst, x, y, array.Mul[T]) }

// MulConj sets dst = conj(x)·y, element by element. dst may be x or y.
func MulConj[T scalar.Scalar](dst, x, y Array[T]) { mul("MulConj", dst, x, y, array.MulConj[T]) }

func mul[T scalar.Scalar](op string, dst, x, y Array[T], f func(dst, x, y array.Array[T])) {
	mustMatch(op, dst, x)
	mustMatch(op, dst, y)
	for i := range dst.space.leaves {
		f(*dst.block(i), *x.block(i), *y.block(i))
	}
}

// Conj sets dst = conj(x). dst may be x.
func Conj[T scalar.Scalar](dst, x Array[T]) {
	mustMatch("Conj", dst, x)
	for i := range dst.space.leaves {
		array.Conj(*dst.block(i), *x.block(i))
	}
}

// Threshold shrinks each element of x towards zero. dst may be x.
func Threshold[T scalar.Scalar](dst, x Array[T], kind device.ThresholdKind, t float64) {
	mustMatch("Threshold", dst, x)
	for i := range dst.space.leaves {
		array.Threshold(*dst.block(i), *x.block(i), kind, t)
	}
}
