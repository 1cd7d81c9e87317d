// Package golops lets programs over distributed arrays read like mathematics:
//
//	golops.Main(func(w *golops.World) error {
//		X := w.Real(60, 40)
//		D := golops.FirstDerivative(X, 0)
//		A := D.Plus(golops.Identity(X).Scaled(0.5))
//		y := A.Apply(X.Random(1))
//		s := golops.CGLS(A, y, golops.Config{MaxIter: 300, RelTol: 1e-6})
//		w.Printf("%v, %d iterations, |x| = %.3f\n", s.Status, s.Iters, s.X.Norm())
//		return nil
//	})
//
// A World is one rank's view of the run, a Space says which vectors there are, a
// Vec is one of them, and an Op takes vectors of one space to vectors of another.
// The space is the only place that names the element type.
//
// Everything is collective: all ranks evaluate the same expressions in the same
// order. Only Space.Alone and World.Alone give expressions of one rank.
//
// An expression that cannot be evaluated panics with *Error, which names file and
// line of the program. Main and Run turn it into the error of the program on all
// ranks. What touches files, starts ranks or tests an operator returns an error. A
// solver that does not converge says so in the Status of its Solution.
package golops
