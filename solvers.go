package golops

import (
	"time"

	"github.com/golops/golops/solve"
)

// Config says when a solver ends; its fields are those of solve.Config.
type Config struct {
	MaxIter                          int
	RelTol, AbsTol, GradTol, Diverge float64
	Damp                             float64 // least squares: adds damp²·‖x‖²
	Budget                           time.Duration
	OnIter                           func(Iteration) error
	Checkpoint                       solve.Checkpoint
}

// Iteration is what a callback sees.
type Iteration struct {
	K int
	solve.Norms
	Elapsed time.Duration
}

// Solution is what a solver found, which method it took and how it ended.
type Solution[T Scalar] struct {
	X      Vec[T]
	Method string
	solve.Result
}

// CG solves A·x = b for a Hermitian positive definite A. It starts from zero, or
// from the start given, which it improves in place.
func CG[T Scalar](a Op[T, T], b Vec[T], c Config, start ...Vec[T]) Solution[T] {
	return Iterate(&solve.CG[T]{}, a, b, c, start...)
}

// MINRES solves A·x = b for a Hermitian A, which need not be definite.
func MINRES[T Scalar](a Op[T, T], b Vec[T], c Config, start ...Vec[T]) Solution[T] {
	return Iterate(&solve.MINRES[T]{}, a, b, c, start...)
}

// CGLS minimises ‖A·x - b‖² + damp²·‖x‖². It starts from zero, or from the start
// given, which it improves in place.
func CGLS[T Scalar](a Op[T, T], b Vec[T], c Config, start ...Vec[T]) Solution[T] {
	return Iterate(&solve.CGLS[T]{}, a, b, c, start...)
}

// LSQR is CGLS with less rounding.
func LSQR[T Scalar](a Op[T, T], b Vec[T], c Config, start ...Vec[T]) Solution[T] {
	return Iterate(&solve.LSQR[T]{}, a, b, c, start...)
}

// Iterate solves with any method of package solve, or with one of your own.
func Iterate[T Scalar](m solve.Method[T], a Op[T, T], b Vec[T], c Config, start ...Vec[T]) Solution[T] {
	if a.World() != b.World() {
		apart("solve", a, b)
	}
	var x Vec[T]
	if len(start) == 0 {
		x = a.Domain().Zero()
	} else if x = option(start, x); x.World() != a.w {
		apart("solve", a, x)
	}
	sc := solve.Config[T]{MaxIter: c.MaxIter, RelTol: c.RelTol, AbsTol: c.AbsTol, GradTol: c.GradTol,
		Diverge: c.Diverge, Budget: c.Budget, Checkpoint: c.Checkpoint}
	if c.OnIter != nil || a.w.stop != nil {
		sc.OnIter = func(it solve.Iteration[T]) error {
			if a.w.stop != nil && a.w.stop.Load() != 0 {
				return solve.ErrStop
			}
			if c.OnIter == nil {
				return nil
			}
			return c.OnIter(Iteration{it.K, it.Norms, it.Elapsed})
		}
	}
	return Solution[T]{x, m.Name(), Must(solve.Run(a.w.ctx, m, solve.Problem[T]{A: a.m, B: b.a, Damp: c.Damp}, x.a, sc))}
}
