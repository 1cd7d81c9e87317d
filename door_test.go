package golops_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/solve"
)

// on runs a program on one rank and on three.
func on(t *testing.T, p golops.Program) {
	t.Helper()
	for _, n := range []int{1, 3} {
		if err := golops.Run(t.Context(), launch.Config{Ranks: n}, p); err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}

// invertAs is one program for all element types.
func invertAs[T golops.Scalar](w *golops.World) error {
	X := golops.NewSpace[T](w, dist.Layout{}, 30, 4)
	A := golops.FirstDerivative(X, 0).Plus(golops.Identity(X).Scaled(2))
	x := X.FuncReal(func(i []int) float64 { return float64(i[0] - 3*i[1]) })
	s := golops.CGLS(A, A.Apply(x), golops.Config{MaxIter: 100, RelTol: 1e-6})
	if e := s.X.Minus(x).Norm() / x.Norm(); s.Status != solve.Converged || e > 1e-5 {
		return fmt.Errorf("%v, error %g", s.Status, e)
	}
	return optest.All(w.Context(), A.Map())
}

func TestElementTypes(t *testing.T) {
	for _, p := range []golops.Program{invertAs[float32], invertAs[float64], invertAs[complex64], invertAs[complex128]} {
		on(t, p)
	}
}

// Vectors do what their methods say, in new memory or in place.
func TestVec(t *testing.T) {
	on(t, func(w *golops.World) error {
		X := w.Complex(5, 2)
		x, y := X.Random(1), X.Random(2)
		z := X.Zero()
		z.Copy(x)
		z.AddScaled(2i, y)
		want := x.Plus(y.Scaled(2i))
		mul, mulConj := X.Zero(), X.Zero()
		mul.SetMul(x, y)
		mulConj.SetMulConj(x, y)
		ones := X.Zero()
		ones.Fill(1)
		st := golops.Stack(x, golops.Stack(y, z))
		all := append(append(x.Gather(), y.Gather()...), z.Gather()...)
		switch {
		case z.Minus(want).Norm() != 0, mul.Minus(x.Mul(y)).Norm() != 0, x.Clone().Minus(x).Norm() != 0:
			return errors.New("a method in place differs from that which makes a new vector")
		case x.Dot(y) != mulConj.Sum(), ones.Sum() != 10, ones.Norm() != ones.Clone().Norm():
			return fmt.Errorf("the dot product is %v, the sum of the products %v", x.Dot(y), mulConj.Sum())
		case golops.FromArray(w, x.Array()).Minus(x).Norm() != 0:
			return errors.New("the vector of an array is another one")
		case st.NumParts() != 2 || len(st.Space().Parts()) != 2 || st.Part(1).Part(0).Minus(y).Norm() != 0:
			return fmt.Errorf("the parts of %v are wrong", st)
		case !slices.Equal(st.Gather(), all):
			return errors.New("a stack is not gathered part by part")
		case !slices.Equal(X.Scatter(onRank0(w, x.Gather())).Host(), x.Host()), !slices.Equal(X.Block(x.Host()).Gather(), x.Gather()):
			return errors.New("blocks do not come back")
		}
		return nil
	})
}

// Norms and extremes of all elements.
func TestNorms(t *testing.T) {
	on(t, func(w *golops.World) error {
		x := w.Real(2, 2).Scatter(onRank0(w, []float64{3, -4, 0, 0}))
		if lo, hi := x.MinMax(); lo != -4 || hi != 3 {
			return fmt.Errorf("extremes are %g and %g", lo, hi)
		}
		for _, c := range [][2]float64{{0, 2}, {1, 7}, {2, 5}, {math.Inf(1), 4}} {
			if got := x.NormP(c[0]); got != c[1] {
				return fmt.Errorf("norm %g is %g, want %g", c[0], got, c[1])
			}
		}
		return nil
	})
}

// MapReal changes elements one by one, and Normal numbers have their deviation.
func TestMapAndNormal(t *testing.T) {
	on(t, func(w *golops.World) error {
		X := golops.NewSpace[float32](w, dist.Layout{}, 40, 25)
		x := X.Normal(2, 1)
		if s := x.Norm() / math.Sqrt(1000); math.Abs(s-2) > 0.2 {
			return fmt.Errorf("the deviation is %g, want about 2", s)
		}
		if d := x.MapReal(func(v float64) float64 { return 3 * v }).Minus(x.Scaled(3)).Norm(); d > 1e-5 {
			return fmt.Errorf("three times x is off by %g", d)
		}
		err := golops.Try(func() error { x.MapReal(nil); return nil })
		if err == nil || !strings.Contains(err.Error(), "the function is nil") {
			return fmt.Errorf("no function: %v", err)
		}
		return nil
	})
}

// Ranks that something else has started have the front door too, and nobody tells them
// to stop.
func TestWorldOf(t *testing.T) {
	err := launch.Config{Ranks: 2}.Local(t.Context(), func(ctx context.Context, p dist.Proc) error {
		w := golops.WorldOf(ctx, p)
		s := golops.CGLS(golops.Identity(w.Real(7)), w.Real(7).Random(1), golops.Defaults())
		if w.Size() != 2 || w.Rank() != p.Rank() || w.Stopping() || s.Status != solve.Converged || w.Alone().Size() != 1 {
			return fmt.Errorf("rank %d of %d, stopping %t, %v", w.Rank(), w.Size(), w.Stopping(), s.Status)
		}
		return golops.Try(func() error { golops.FromArray(w, dist.Array[float64]{}); return nil })
	})
	if err == nil || !strings.Contains(err.Error(), "door_test.go:") || !strings.Contains(err.Error(), "the array was never made") {
		t.Errorf("got %v", err)
	}
}

func onRank0[T any](w *golops.World, x []T) []T {
	if w.Rank() != 0 {
		return nil
	}
	return x
}

// The layout of a space can be given to another one, whatever it is.
func TestLayout(t *testing.T) {
	on(t, func(w *golops.World) error {
		for _, l := range []dist.Layout{{}, dist.Split(1), dist.Replicated, {Replicate: dist.Checked}, {Grid: []int{1, w.Size()}}, {Counts: [][]int{dist.Balanced(4, w.Size())}}} {
			X := golops.NewSpace[float32](w, l, 4, 6)
			for _, Y := range []golops.Space[float32]{X.With(X.Layout()), golops.NewSpace[float32](w, X.Layout(), 4, 6), golops.As[float32](w.Complex(4, 6).With(X.Layout()))} {
				if !X.Dist().Equal(Y.Dist()) {
					return fmt.Errorf("the layout of %v gives %v", X, Y)
				}
			}
		}
		return nil
	})
}

func TestSaveAndLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.npy")
	on(t, func(w *golops.World) error {
		x := w.Real(7, 3).Random(1)
		golops.Check(x.Save(file))
		y, err := w.Real(7, 3).With(dist.Split(1)).Load(file)
		if err != nil {
			return err
		}
		if !slices.Equal(x.Gather(), y.Gather()) {
			return errors.New("another vector comes back")
		}
		if _, err = w.Real(3, 7).Load(file); err == nil {
			return errors.New("a file of another shape is read")
		}
		return nil
	})
}

// Operators show how they were made.
func TestString(t *testing.T) {
	on(t, func(w *golops.World) error {
		X := w.Real(6, 4)
		D, I := golops.FirstDerivative(X, 0), golops.Identity(X)
		K := golops.NewOp(X, X, Demean{})
		for _, c := range []struct {
			A    fmt.Stringer
			want string
		}{
			{D.Plus(I.Scaled(0.5)), "FirstDerivative + 0.5·Identity"},
			{D.Minus(I.Plus(K)), "FirstDerivative - (Identity + Demean)"},
			{D.Plus(I).Times(K).Scaled(-2), "-2·(FirstDerivative + Identity)·Demean"},
			{D.Scaled(-2).H(), "(-2·FirstDerivative)ᴴ"},
			{D.H().H(), "FirstDerivative"},
			{D.Times(I).T(), "(FirstDerivative·Identity)ᵀ"},
			{D.Power(12).Conj(), "conj(FirstDerivative¹²)"},
			{golops.VStack(D, I.Scaled(2)), "VStack(FirstDerivative, 2·Identity)"},
			{golops.BlockDiagRanks(w, golops.Identity(X.Alone())), "BlockDiagRanks(Identity)"},
			{golops.Identity(w.Complex(6)).Scaled(1i), "(0+1i)·Identity"},
		} {
			if got, _, _ := strings.Cut(c.A.String(), ": "); got != c.want {
				return fmt.Errorf("%q, want %q", got, c.want)
			}
		}
		if s := I.String(); !strings.Contains(s, "float64") || !strings.Contains(s, " → ") || !strings.Contains(s, "[6 4]") {
			return fmt.Errorf("the spaces are not in %q", s)
		}
		return nil
	})
}

// The algebra does what it does to matrices.
func TestAlgebra(t *testing.T) {
	on(t, func(w *golops.World) error {
		X := w.Complex(4)
		A := golops.Diagonal(X.Random(1)).Plus(golops.Roll(X, 0, 1).Scaled(2i))
		a := A.Dense()
		for _, c := range []struct {
			name string
			B    golops.Op[complex128, complex128]
			want func(i, j int) complex128
		}{
			{"H", A.H(), func(i, j int) complex128 { return complex(real(a[j][i]), -imag(a[j][i])) }},
			{"T", A.T(), func(i, j int) complex128 { return a[j][i] }},
			{"Conj", A.Conj(), func(i, j int) complex128 { return complex(real(a[i][j]), -imag(a[i][j])) }},
			{"Minus", A.Minus(A.Scaled(2)), func(i, j int) complex128 { return -a[i][j] }},
			{"Power", A.Power(2), func(i, j int) (s complex128) {
				for k := range a {
					s += a[i][k] * a[k][j]
				}
				return s
			}},
		} {
			for i, row := range c.B.Dense() {
				for j, v := range row {
					if d := v - c.want(i, j); real(d)*real(d)+imag(d)*imag(d) > 1e-24 {
						return fmt.Errorf("%s: element %d, %d is %v, want %v", c.name, i, j, v, c.want(i, j))
					}
				}
			}
		}
		return A.DotTest()
	})
}

// Solve takes CG, MINRES or LSQR.
func TestSolve(t *testing.T) {
	on(t, func(w *golops.World) error {
		X := w.Real(20, 3)
		I, L := golops.Identity(X), golops.Laplacian(X, ops.LaplacianOptions{Axes: []int{0}})
		S := L.Plus(L.H()) // Hermitian, eigenvalues of both signs
		for _, c := range []struct {
			A    golops.Op[float64, float64]
			want string
		}{
			{I.Scaled(9).Minus(S), "CG"},
			{S.Plus(I.Scaled(1.1)), "MINRES"},
			{golops.FirstDerivative(X, 0).Plus(I), "LSQR"},
			{golops.Redistribute(X, X.With(dist.Split(1))), ""},
		} {
			x := X.Random(1)
			b := c.A.Apply(x)
			start := X.Random(2)
			for _, s := range []golops.Solution[float64]{golops.Solve(c.A, b, golops.Config{MaxIter: 500, RelTol: 1e-11}), golops.Solve(c.A, b, golops.Config{MaxIter: 500, RelTol: 1e-11}, start),
				golops.LeastSquares(c.A, b, golops.Config{MaxIter: 500, RelTol: 1e-11})} {
				if e := s.X.Minus(x).Norm() / x.Norm(); e > 1e-8 {
					return fmt.Errorf("%v by %s: %v, error %g", c.A, s.Method, s.Status, e)
				}
			}
			if s := golops.Solve(c.A, b, golops.Config{MaxIter: 500, RelTol: 1e-11}); c.want != "" && s.Method != c.want {
				return fmt.Errorf("%v was solved by %s, want %s", c.A, s.Method, c.want)
			}
		}
		return nil
	})
}

// A preconditioner leaves the solution as it is.
func TestPrecondition(t *testing.T) {
	on(t, func(w *golops.World) error {
		d := w.Real(50).Func(func(i []int) float64 { return 1 + float64(i[0]*i[0]) })
		A, P := golops.Diagonal(d), golops.Diagonal(d.Space().Func(func(i []int) float64 { return 1 / (1 + float64(i[0]*i[0])) }))
		x := A.Domain().Random(1)
		c := golops.Defaults()
		c.RelTol = 1e-12
		if s := golops.Precondition(A, P, A.Apply(x), c); s.Iters > 2 || s.X.Minus(x).Norm() > 1e-10 {
			return fmt.Errorf("%d iterations, error %g", s.Iters, s.X.Minus(x).Norm())
		}
		eig, _ := golops.PowerIteration(A, A.Domain().Random(2), 1000, 1e-12)
		if e := eig - (1 + 49*49); e > 1e-6 || e < -1e-6 {
			return fmt.Errorf("the largest eigenvalue is %v", eig)
		}
		return nil
	})
}

// A solver goes on from the checkpoint of an earlier run, on other ranks.
func TestCheckpoints(t *testing.T) {
	dir := t.TempDir()
	on(t, func(w *golops.World) error {
		X, resumed := w.Real(20, 20), 0
		if w.Size() == 3 {
			resumed = 3 // where one rank has ended
		}
		s := golops.CGLS(golops.Laplacian(X), X.Random(1), golops.Config{MaxIter: 2 + w.Size(),
			Checkpoint: golops.Checkpoint{Saver: golops.Checkpoints{Dir: dir, Keep: 2, Resume: true}, Every: 2}})
		if s.Resumed != resumed || s.Iters != 2+w.Size() {
			return fmt.Errorf("from iteration %d to %d", s.Resumed, s.Iters)
		}
		return nil
	})
}

// A callback of any rank stops all ranks after the same iteration.
func TestStopByCallback(t *testing.T) {
	on(t, func(w *golops.World) error {
		X := w.Real(50, 50)
		s := golops.CGLS(golops.Laplacian(X), X.Random(1), golops.Config{MaxIter: 100, OnIter: func(it golops.Iteration) error {
			if w.Rank() == w.Size()-1 && it.K == 3 {
				return solve.ErrStop
			}
			return nil
		}})
		if s.Status != solve.Stopped || s.Iters != 3 {
			return fmt.Errorf("%v after %d iterations", s.Status, s.Iters)
		}
		return nil
	})
}

// Try is for mistakes that all ranks make: they stay in step.
func TestTry(t *testing.T) {
	on(t, func(w *golops.World) error {
		X, Y := w.Real(8), w.Real(9)
		for _, f := range []func(){func() { golops.Identity(X).Plus(golops.Identity(Y)) }, func() { X.Zero().Plus(Y.Zero()) }} {
			var e *golops.Error
			if err := golops.Try(func() error { f(); return nil }); !errors.As(err, &e) || !strings.HasPrefix(e.At, "door_test.go:") {
				return fmt.Errorf("the error is %v, want one with file and line", err)
			}
		}
		if X.Random(1).Norm() == 0 {
			return errors.New("the ranks are out of step")
		}
		return golops.Try(func() error { return nil })
	})
}

// outOfRange is a Kernel with a bug.
type outOfRange struct{ n int }

func (k outOfRange) Forward(y, x golops.Vec[float64]) { y.Fill(make([]float64, k.n)[x.World().Rank()]) }
func (k outOfRange) Adjoint(x, y golops.Vec[float64]) { x.Copy(y) }

// A bug in a Kernel keeps its stack and ends all ranks.
func TestBugKeepsItsStack(t *testing.T) {
	err := golops.Run(t.Context(), launch.Config{Ranks: 3}, func(w *golops.World) error {
		X := w.Real(8)
		golops.CGLS(golops.NewOp(X, X, outOfRange{2}), X.Random(1), golops.Config{MaxIter: 10})
		return nil
	})
	var e *golops.Error
	if err == nil || errors.As(err, &e) {
		t.Fatalf("the error is %v, want a panic", err)
	}
	for _, want := range []string{"rank 2: panic: ", "index out of range [2] with length 2", "outOfRange", "door_test.go:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

// Nothing that is nil is taken for something.
func TestNil(t *testing.T) {
	if err := golops.Run(t.Context(), launch.Config{Ranks: 2}, nil); err == nil || !strings.Contains(err.Error(), "no program") {
		t.Errorf("the error is %v", err)
	}
	on(t, func(w *golops.World) error {
		X := w.Real(4)
		I := golops.Identity(X)
		for i, f := range []func(){
			func() { X.Func(nil) }, func() { X.FuncReal(nil) }, func() { golops.NewOp[float64, float64](X, X, nil) },
			func() { golops.FromMap[float64, float64](w, nil) }, func() { golops.Iterate(nil, I, X.Zero(), golops.Config{}) },
			func() { golops.BlockDiagRanks[float64](nil) }, func() { golops.FromMap(nil, I.Map()) }, func() { new(golops.World).Rank() },
			func() { golops.Stack[float64]() },
		} {
			var e *golops.Error
			if err := golops.Try(func() error { f(); return nil }); !errors.As(err, &e) {
				return fmt.Errorf("case %d: the error is %v, want an *Error", i, err)
			}
		}
		return golops.Try(func() error { return nil })
	})
	if err := golops.Try(nil); err == nil {
		t.Error("a nil function is tried without an error")
	}
}
