package golops

import (
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Vec is a vector of a Space. It is a header, passed by value like a slice.
type Vec[T Scalar] struct {
	w *World
	a dist.Array[T]
}

// Stack returns the vector of these vectors, over their memory.
func Stack[T Scalar](parts ...Vec[T]) Vec[T] {
	a := make([]dist.Array[T], len(parts))
	for i, p := range parts {
		a[i] = parts[0].with("stack", p)
	}
	s := Must(dist.StackOf(a...))
	return Vec[T]{parts[0].w, s}
}

// FromArray returns the vector of an array of package dist, over its memory, for packages
// that make their own.
func FromArray[T Scalar](w *World, a dist.Array[T]) Vec[T] {
	if w.made(); a.Space() == nil {
		fail("from array: the array was never made: use dist.New")
	}
	return Vec[T]{w, a}
}

// World returns the world that the vector is in.
func (x Vec[T]) World() *World {
	if x.w == nil {
		fail("the Vec was never made: use Zero, Func, Random, Block or Scatter of a Space")
	}
	return x.w
}

// with returns the array of y, which must be of the same world as x.
func (x Vec[T]) with(what string, y Vec[T]) dist.Array[T] {
	if x.World() != y.World() {
		apart(what, x.Space(), y.Space())
	}
	return y.a
}

// Space returns the space of x.
func (x Vec[T]) Space() Space[T] { return Space[T]{x.World(), x.a.Space()} }

// Array returns the vector as packages below this one take it.
func (x Vec[T]) Array() dist.Array[T] { x.World(); return x.a }

func (x Vec[T]) String() string { return "vector of " + Space[T]{x.w, x.a.Space()}.String() }

// NumParts returns the number of vectors in a stack, 0 for any other vector.
func (x Vec[T]) NumParts() int { x.World(); return x.a.NumParts() }

// Part returns vector i of a stack, over its memory.
func (x Vec[T]) Part(i int) Vec[T] { return Vec[T]{x.World(), x.a.Part(i)} }

// Plus returns x + y.
func (x Vec[T]) Plus(y Vec[T]) Vec[T] {
	b, z := x.with("plus", y), x.Space().Zero()
	dist.Add(z.a, x.a, b)
	return z
}

// Minus returns x - y.
func (x Vec[T]) Minus(y Vec[T]) Vec[T] {
	b, z := x.with("minus", y), x.Space().Zero()
	dist.Sub(z.a, x.a, b)
	return z
}

// Mul returns x·y, element by element.
func (x Vec[T]) Mul(y Vec[T]) Vec[T] {
	b, z := x.with("mul", y), x.Space().Zero()
	dist.Mul(z.a, x.a, b)
	return z
}

// Scaled returns c·x.
func (x Vec[T]) Scaled(c T) Vec[T] {
	z := x.Space().Zero()
	dist.Scale(z.a, c, x.a)
	return z
}

// Clone returns a copy of x.
func (x Vec[T]) Clone() Vec[T] {
	z := x.Space().Zero()
	dist.Copy(z.a, x.a)
	return z
}

// MapReal returns the vector of f of each element of a real vector, which f gets on the
// host.
func (x Vec[T]) MapReal(f func(float64) float64) Vec[T] {
	if f == nil {
		fail("map: the function is nil")
	}
	block := x.Host()
	for i, v := range block {
		block[i] = scalar.From[T](complex(f(real(scalar.Complex(v))), 0))
	}
	return x.Space().Block(block)
}

// Fill sets every element of x to v. It allocates nothing, as all that changes x
// in place.
func (x Vec[T]) Fill(v T) { dist.Fill(x.Array(), v) }

// Copy sets x = y.
func (x Vec[T]) Copy(y Vec[T]) { dist.Copy(x.a, x.with("copy", y)) }

// AddScaled sets x = x + c·y.
func (x Vec[T]) AddScaled(c T, y Vec[T]) { dist.Axpby(c, x.with("add", y), 1, x.a) }

// SetMul sets x = y·z, element by element.
func (x Vec[T]) SetMul(y, z Vec[T]) { dist.Mul(x.a, x.with("mul", y), x.with("mul", z)) }

// SetMulConj sets x = conj(y)·z, element by element.
func (x Vec[T]) SetMulConj(y, z Vec[T]) {
	dist.MulConj(x.a, x.with("mul conj", y), x.with("mul conj", z))
}

// Dot returns xᴴy. Dot, Norm, NormP, MinMax and Sum are collective, in one message.
func (x Vec[T]) Dot(y Vec[T]) T { b := x.with("dot", y); return Must(dist.Dot(x.w.ctx, x.a, b)) }

// Norm returns ‖x‖₂.
func (x Vec[T]) Norm() float64 { return Must(dist.Norm(x.World().ctx, x.a, 2)) }

// NormP returns the p-norm of x: the sum of all |x| for p = 1, the largest for
// math.Inf(1), how many elements are not zero for p = 0.
func (x Vec[T]) NormP(p float64) float64 { return Must(dist.Norm(x.World().ctx, x.a, p)) }

// MinMax returns the smallest and the largest element of a real vector.
func (x Vec[T]) MinMax() (lo, hi float64) {
	lo, hi, err := dist.MinMax(x.World().ctx, x.a)
	Check(err)
	return lo, hi
}

// Sum returns the sum of all elements.
func (x Vec[T]) Sum() T { return Must(dist.Sum(x.World().ctx, x.a)) }

// Gather returns all elements on every rank, the last axis running fastest.
func (x Vec[T]) Gather() []T { return Must(dist.AllGather(x.World().ctx, x.a)) }

// Host returns a copy of this rank's block, on the host.
func (x Vec[T]) Host() []T { return Must(x.Array().Host()) }

// Save writes x to a .npy file. Each rank writes its own block.
func (x Vec[T]) Save(path string) error { return data.Save(x.World().ctx, path, x.a) }
