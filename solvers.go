package golops

import (
	"math/cmplx"

	"github.com/golops/golops/data"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// Config says when a solver ends and what it leaves behind.
type Config = solve.Config

// Defaults returns limits that suit most problems: 100 iterations, and a residual of
// a millionth of that of the start.
func Defaults() Config { return solve.Defaults() }

// Checkpoint says how often a solver saves its state, and where: Config.Checkpoint is
// Checkpoint{Saver: Checkpoints{Dir: "states", Keep: 2}, Every: 10}, for example.
type Checkpoint = solve.Checkpoint

// Checkpoints is a folder for the states of a solver.
type Checkpoints = data.Checkpoints

// Iteration is what Config.OnIter sees.
type Iteration = solve.Iteration

// Solution is what a solver found, by which method, and how it ended.
type Solution[T Scalar] struct {
	X      Vec[T]
	Method string
	solve.Result
}

// CG solves A·x = b for a Hermitian positive definite A. It starts from zero, or
// from the start given, which it improves in place. So do all solvers.
func CG[T Scalar](a Op[T, T], b Vec[T], c Config, start ...Vec[T]) Solution[T] {
	return Iterate(&solve.CG[T]{}, a, b, c, start...)
}

// MINRES solves A·x = b for a Hermitian A, which need not be definite.
func MINRES[T Scalar](a Op[T, T], b Vec[T], c Config, start ...Vec[T]) Solution[T] {
	return Iterate(&solve.MINRES[T]{}, a, b, c, start...)
}

// CGLS minimises ‖A·x - b‖² + damp²·‖x‖² by conjugate gradients.
func CGLS[D, R Scalar](a Op[D, R], b Vec[R], c Config, start ...Vec[D]) Solution[D] {
	return Iterate(&solve.CGLS[D, R]{}, a, b, c, start...)
}

// LSQR minimises what CGLS does, with less rounding for operators of poor condition.
func LSQR[D, R Scalar](a Op[D, R], b Vec[R], c Config, start ...Vec[D]) Solution[D] {
	return Iterate(&solve.LSQR[D, R]{}, a, b, c, start...)
}

// Iterate solves by a method of package solve with choices of its own, or by a
// method of yours.
func Iterate[D, R Scalar](m solve.Method[D, R], a Op[D, R], b Vec[R], c Config, start ...Vec[D]) Solution[D] {
	if m == nil {
		fail("solve: the method is nil")
	}
	if a.World() != b.World() {
		apart("solve", a, b)
	}
	x := option(start, Vec[D]{})
	if len(start) == 0 {
		x = a.Domain().Zero()
	}
	if x.World() != a.w {
		apart("solve", a, x)
	}
	if w := a.w; w.stop != nil {
		c.OnIter = stopping(w, c.OnIter)
	}
	r := Must(solve.Run(a.w.ctx, m, solve.Problem[D, R]{A: a.m, B: b.a}, x.a, c))
	return Solution[D]{x, m.Name(), r}
}

// stopping returns the callback that also stops the run when somebody asked for it.
func stopping(w *World, f func(Iteration) error) func(Iteration) error {
	return func(it Iteration) error {
		if w.stop.Load() != 0 {
			return solve.ErrStop
		}
		if f == nil {
			return nil
		}
		return f(it)
	}
}

// LeastSquares minimises ‖A·x - b‖² + damp²·‖x‖² for any A. It takes LSQR, which
// copes best with operators of poor condition.
func LeastSquares[D, R Scalar](a Op[D, R], b Vec[R], c Config, start ...Vec[D]) Solution[D] {
	return LSQR(a, b, c, start...)
}

// Precondition minimises ‖A·P·z - b‖² + damp²·‖z‖² over z as LeastSquares does, and
// returns x = P·z.
func Precondition[D, R Scalar](a Op[D, R], p Op[D, D], b Vec[R], c Config) Solution[D] {
	s := LeastSquares(a.Times(p), b, c)
	s.X = p.Apply(s.X)
	return s
}

// Solve solves A·x = b for a square A and picks the method. It takes LSQR if two
// random vectors show that A is not Hermitian. Otherwise it takes CG and, where that
// finds A indefinite, MINRES. It keeps no checkpoints: ask for those of a method by
// name.
func Solve[T Scalar](a Op[T, T], b Vec[T], c Config, start ...Vec[T]) Solution[T] {
	switch x, y := a.Domain(), a.Range(); {
	case x.Size() != y.Size():
		fail("Solve: the operator is not square: it takes %v and gives %v: use LeastSquares", x, y)
	case c.Damp != 0:
		fail("Solve: Damp is %v, which is for least squares only: use LeastSquares", c.Damp)
	case c.Checkpoint.Saver != nil:
		fail("Solve: checkpoints belong to a method: use CG, MINRES or LSQR")
	case !hermitian(a):
		return LSQR(a, b, c, start...)
	}
	x := option(start, Vec[T]{})
	if len(start) > 0 {
		x = x.Clone() // for MINRES to start from
	}
	s := CG(a, b, c, start...)
	if s.Status != solve.Indefinite {
		return s
	}
	if len(start) > 0 {
		s.X.Copy(x)
	} else {
		s.X.Fill(0)
	}
	return MINRES(a, b, c, s.X)
}

// hermitian reports whether ⟨A·u, v⟩ = ⟨u, A·v⟩ for two random vectors, up to the
// rounding of the element type.
func hermitian[T Scalar](a Op[T, T]) bool {
	if !a.m.Domain().Equal(a.m.Range()) {
		return false
	}
	u, v := a.Domain().Random(1), a.Domain().Random(2)
	au, av := a.Apply(u), a.Apply(v)
	tol := 1e-10
	if t := scalar.Of[T](); t == scalar.Float32 || t == scalar.Complex64 {
		tol = 1e-4
	}
	differ := cmplx.Abs(scalar.Complex(au.Dot(v)) - scalar.Complex(u.Dot(av)))
	return differ <= tol*(au.Norm()*v.Norm()+u.Norm()*av.Norm())
}

// PowerIteration returns the eigenvalue of A of largest magnitude and the number of
// iterations. It starts from x, which it makes the eigenvector.
func PowerIteration[T Scalar](a Op[T, T], x Vec[T], maxIter int, tol float64) (eig T, iters int) {
	if a.World() != x.World() {
		apart("power iteration", a, x)
	}
	eig, iters, err := solve.PowerIteration(a.w.ctx, a.m, x.a, maxIter, tol)
	Check(err)
	return eig, iters
}
