package golops

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/solve"
)

// Function is a function of vectors with a value, a prox and a dual prox: a norm, a set,
// or what combines them. Solvers take it. Value, Prox and DualProx call it.
type Function[T Scalar] interface {
	prox.Function[T]
	World() *World
}

// SmoothFunction is a Function with a gradient. GradientOf calls it.
type SmoothFunction[T Scalar] interface {
	Function[T]
	solve.Smooth[T]
}

// fun is a function of package prox and its world.
type fun[T Scalar] struct {
	prox.Function[T]
	w *World
}

// World returns the world that the function is in.
func (f fun[T]) World() *World { return f.w }

// smoothFun is a fun with a gradient.
type smoothFun[T Scalar] struct {
	fun[T]
	s solve.Smooth[T]
}

// Gradient implements solve.Smooth.
func (f smoothFun[T]) Gradient(ctx context.Context, g, x dist.Array[T]) error {
	return f.s.Gradient(ctx, g, x)
}

// function returns f in a world.
func function[T Scalar](w *World, f prox.Function[T]) Function[T] {
	if s, ok := f.(solve.Smooth[T]); ok {
		return smoothFun[T]{fun[T]{f, w}, s}
	}
	return fun[T]{f, w}
}

// smooth returns f, which has a gradient, in a world.
func smooth[T Scalar](w *World, f prox.Function[T]) SmoothFunction[T] {
	return function(w, f).(SmoothFunction[T])
}

// worldOfAll returns the world of functions, which must be the same for all.
func worldOfAll[T Scalar](what string, fs ...Function[T]) *World {
	for i, f := range fs {
		switch {
		case f == nil:
			fail("%s: function %d is nil", what, i)
		case f.World() != fs[0].World():
			apart(what, fs[0], f)
		}
	}
	if len(fs) == 0 {
		fail("%s: no function given", what)
	}
	return fs[0].World()
}

// below returns functions as packages below take them.
func below[T Scalar](fs []Function[T]) (all []solve.Function[T]) {
	for _, f := range fs {
		all = append(all, f)
	}
	return all
}

// in returns the array of a vector, which must be in the world of a function or of a
// space.
func in[T Scalar](w *World, what string, x Vec[T]) dist.Array[T] {
	if x.World() != w {
		fail("%s: the vector belongs to another world: %v", what, x)
	}
	return x.a
}

// Value returns f(x): +Inf where x is outside of a set.
func Value[T Scalar](f Function[T], x Vec[T]) float64 {
	w := worldOfAll("value", f)
	return Must(f.Value(w.ctx, in(w, "value", x)))
}

// Prox returns the z that makes f(z) + ‖z - x‖²/(2τ) smallest.
func Prox[T Scalar](f Function[T], tau float64, x Vec[T]) Vec[T] {
	w := worldOfAll("prox", f)
	y := x.Clone()
	Check(f.Prox(w.ctx, y.a, tau, in(w, "prox", x)))
	return y
}

// DualProx returns the z that makes f*(z) + ‖z - x‖²/(2σ) smallest, where f* is the convex
// conjugate of f.
func DualProx[T Scalar](f Function[T], sigma float64, x Vec[T]) Vec[T] {
	w := worldOfAll("dual prox", f)
	y := x.Clone()
	Check(f.DualProx(w.ctx, y.a, sigma, in(w, "dual prox", x)))
	return y
}

// GradientOf returns ∇f(x).
func GradientOf[T Scalar](f SmoothFunction[T], x Vec[T]) Vec[T] {
	if f == nil {
		fail("gradient: the function is nil")
	}
	g := x.Clone()
	Check(f.Gradient(f.World().ctx, g.a, in(f.World(), "gradient", x)))
	return g
}

// FunctionKernel is a function of your own: Value returns f(x), Prox sets y to the prox
// of x, which may be y. All ranks call them together. One whose calls depend on earlier
// ones is a solve.Stateful, too. Package prox/proxtest checks it.
type FunctionKernel[T Scalar] interface {
	Value(x Vec[T]) float64
	Prox(y Vec[T], tau float64, x Vec[T])
}

// NewFunction returns the function of vectors of x that k computes.
func NewFunction[T Scalar](x Space[T], k FunctionKernel[T]) Function[T] {
	w := x.World()
	if k == nil {
		fail("new function: the FunctionKernel is nil")
	}
	return function(w, Must(prox.New("golops: "+typeName(k), x.s, prox.Definition[T]{
		Value: func(_ context.Context, x dist.Array[T]) (float64, error) { return k.Value(Vec[T]{w, x}), nil },
		Prox: func(_ context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			k.Prox(Vec[T]{w, y}, tau, Vec[T]{w, x})
			return nil
		},
		State: stateOf(k),
	})))
}

// stateOf returns the State of a kernel, nil if it has none.
func stateOf(k any) func() ([]solve.NamedArray, []solve.NamedNumber) {
	if s, ok := k.(solve.Stateful); ok {
		return s.State
	}
	return nil
}

// L0 returns σ times the number of elements that are not zero: hard thresholds.
func L0[T Scalar](x Space[T], sigma float64) Function[T] {
	return function(x.World(), Must(prox.L0[T](x.ctx(), x.s, sigma)))
}

// L0Ball returns the set of vectors with at most radius elements that are not zero.
func L0Ball[T Scalar](x Space[T], radius int) Function[T] {
	return function(x.World(), Must(prox.L0Ball[T](x.ctx(), x.s, radius)))
}

// L1 returns σ·‖x‖₁: soft thresholds.
func L1[T Scalar](x Space[T], sigma float64) Function[T] {
	return function(x.World(), Must(prox.L1[T](x.ctx(), x.s, sigma)))
}

// L1Ball returns the set ‖x‖₁ ≤ radius.
func L1Ball[T Scalar](x Space[T], radius float64) Function[T] {
	return function(x.World(), Must(prox.L1Ball[T](x.ctx(), x.s, radius)))
}

// LHalf returns σ·Σ√|xᵢ|: half thresholds.
func LHalf[T Scalar](x Space[T], sigma float64) Function[T] {
	return function(x.World(), Must(prox.LHalf[T](x.ctx(), x.s, sigma)))
}

// L2 returns σ/2·‖x - b‖², with zeros for b if none is given. It keeps b.
func L2[T Scalar](x Space[T], sigma float64, b ...Vec[T]) SmoothFunction[T] {
	return smooth(x.World(), Must(prox.L2(x.ctx(), x.s, option(b, Vec[T]{}).a, sigma)))
}

// L2Diagonal returns σ/2·‖d·x - b‖², with one factor for each element. It keeps d.
func L2Diagonal[T Scalar](d, b Vec[T], sigma float64) SmoothFunction[T] {
	w := d.World()
	return smooth(w, Must(prox.L2Diagonal(w.ctx, d.a, in(w, "L2Diagonal", b), sigma)))
}

// L2Operator returns σ/2·‖A·x - b‖². Its prox solves a system. It keeps b.
func L2Operator[D, R Scalar](a Op[D, R], b Vec[R], sigma float64, o ...prox.Inner) SmoothFunction[D] {
	w := a.World()
	return smooth(w, Must(prox.L2Operator(w.ctx, a.m, in(w, "L2Operator", b), sigma, option(o, prox.InnerDefaults()))))
}

// Quadratic returns ½·Re xᴴAx + Re bᴴx + c for a Hermitian positive A. It keeps b.
func Quadratic[T Scalar](a Op[T, T], b Vec[T], c float64, o ...prox.Inner) SmoothFunction[T] {
	w := a.World()
	return smooth(w, Must(prox.Quadratic(w.ctx, a.m.Domain(), a.m, in(w, "Quadratic", b), c, option(o, prox.InnerDefaults()))))
}

// L21 returns σ·Σᵢ‖xᵢ‖ over the vectors that the parts of a stack make up, such as a
// gradient.
func L21[T Scalar](x Space[T], sigma float64) Function[T] {
	return function(x.World(), Must(prox.L21[T](x.ctx(), x.s, sigma)))
}

// Euclidean returns σ·‖x‖₂, without the square.
func Euclidean[T Scalar](x Space[T], sigma float64) Function[T] {
	return function(x.World(), Must(prox.Euclidean[T](x.ctx(), x.s, sigma)))
}

// EuclideanBall returns the set ‖x - center‖₂ ≤ radius, around zero if no center is
// given. It keeps the center.
func EuclideanBall[T Scalar](x Space[T], radius float64, center ...Vec[T]) Function[T] {
	return function(x.World(), Must(prox.EuclideanBall(x.ctx(), x.s, option(center, Vec[T]{}).a, radius)))
}

// Huber returns Σh(|xᵢ|) with h(r) = r²/(2α) for r ≤ α and r - α/2 beyond.
func Huber[T Scalar](x Space[T], alpha float64) SmoothFunction[T] {
	return smooth(x.World(), Must(prox.Huber[T](x.ctx(), x.s, alpha)))
}

// Log returns σ/log(γ+1)·Σlog(γ|xᵢ|+1).
func Log[T Scalar](x Space[T], sigma, gamma float64) Function[T] {
	return function(x.World(), Must(prox.Log[T](x.ctx(), x.s, sigma, gamma)))
}

// Box returns the set lower ≤ xᵢ ≤ upper. Bounds may be infinite.
func Box[T Scalar](x Space[T], lower, upper float64) Function[T] {
	return function(x.World(), Must(prox.Box[T](x.ctx(), x.s, lower, upper)))
}

// HalfSpace returns the set Re wᴴx ≤ b. It keeps w.
func HalfSpace[T Scalar](w Vec[T], b float64) Function[T] {
	return function(w.World(), Must(prox.HalfSpace(w.World().ctx, w.a, b)))
}

// AffineSet returns the set A·x = b. Its prox solves a system. It keeps b.
func AffineSet[D, R Scalar](a Op[D, R], b Vec[R], o ...prox.Inner) Function[D] {
	w := a.World()
	return function(w, Must(prox.AffineSet(w.ctx, a.m, in(w, "AffineSet", b), option(o, prox.InnerDefaults()))))
}

// Simplex returns the set xᵢ ≥ 0, Σxᵢ = radius of real vectors.
func Simplex[T Scalar](x Space[T], radius float64) Function[T] {
	return function(x.World(), Must(prox.Simplex[T](x.ctx(), x.s, radius)))
}

// TV returns the total variation σ·Σᵢ‖∇xᵢ‖ of a vector of 1 to 3 axes.
func TV[T Scalar](x Space[T], sigma float64, o ...prox.Inner) Function[T] {
	return function(x.World(), Must(prox.TV[T](x.ctx(), x.s, sigma, option(o, prox.InnerDefaults()))))
}

// Nuclear returns σ times the sum of all singular values of the matrices that the last
// two axes are.
func Nuclear[T Scalar](x Space[T], sigma float64) Function[T] {
	return function(x.World(), Must(prox.Nuclear[T](x.ctx(), x.s, sigma)))
}

// NuclearBall returns the set where the singular values of each of these matrices add up
// to radius at most.
func NuclearBall[T Scalar](x Space[T], radius float64) Function[T] {
	return function(x.World(), Must(prox.NuclearBall[T](x.ctx(), x.s, radius)))
}

// Orthogonal returns f(Q·x) for an operator with Q·Qᴴ = α·I, such as a Fourier
// transform.
func Orthogonal[D, R Scalar](f Function[R], q Op[D, R], alpha float64) Function[D] {
	if w := worldOfAll("Orthogonal", f); w != q.World() {
		apart("Orthogonal", f, q)
	}
	return function(q.w, Must(prox.Orthogonal[D, R](q.w.ctx, f, q.m, dist.Array[R]{}, alpha)))
}

// ScaleFunction returns σ·f: the postcomposition.
func ScaleFunction[T Scalar](sigma float64, f Function[T]) Function[T] {
	w := worldOfAll("ScaleFunction", f)
	return function(w, Must(prox.Scale[T](w.ctx, sigma, f)))
}

// Precompose returns f(a·x + b): the precomposition. It keeps b.
func Precompose[T Scalar](f Function[T], a float64, b Vec[T]) Function[T] {
	w := worldOfAll("Precompose", f)
	return function(w, Must(prox.Precompose(w.ctx, f, a, in(w, "Precompose", b))))
}

// Translate returns f(x - b). It keeps b.
func Translate[T Scalar](f Function[T], b Vec[T]) Function[T] {
	w := worldOfAll("Translate", f)
	return function(w, Must(prox.Translate(w.ctx, f, in(w, "Translate", b))))
}

// AddLinear returns f(x) + Re vᴴx. It keeps v.
func AddLinear[T Scalar](f Function[T], v Vec[T]) Function[T] {
	w := worldOfAll("AddLinear", f)
	return function(w, Must(prox.AddLinear(w.ctx, f, in(w, "AddLinear", v))))
}

// SumFunctions returns the sum of convex functions. Its prox is iterative.
func SumFunctions[T Scalar](fs ...Function[T]) Function[T] {
	w := worldOfAll("SumFunctions", fs...)
	return function(w, Must(prox.Sum(w.ctx, prox.InnerDefaults(), below(fs)...)))
}

// StackFunctions returns Σfₖ(xₖ) over the parts of a stack.
func StackFunctions[T Scalar](fs ...Function[T]) Function[T] {
	w := worldOfAll("StackFunctions", fs...)
	return function(w, Must(prox.Stack(w.ctx, below(fs)...)))
}
