//go:build !race

package golops_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/golops/golops"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/solve"
)

// scaling is a Kernel that uses all that changes a vector in place.
type scaling[T golops.Scalar] struct{ d, work golops.Vec[T] }

func (k scaling[T]) Forward(y, x golops.Vec[T]) {
	k.work.SetMul(k.d, x)
	y.Fill(x.Dot(k.d))
	y.Copy(k.work)
	y.AddScaled(2, x)
}

func (k scaling[T]) Adjoint(x, y golops.Vec[T]) {
	k.work.SetMulConj(k.d, y)
	x.Copy(k.work)
	x.AddScaled(2, y)
}

// Kernels, operators made of them, and steps of solvers allocate nothing.
func TestNothingIsAllocated(t *testing.T) {
	on(t, allocates[float32])
	on(t, allocates[complex128])
}

func allocates[T golops.Scalar](w *golops.World) error {
	X := golops.NewSpace[T](w, dist.Layout{}, 12, 5)
	K := golops.NewOp(X, X, scaling[T]{X.Random(1), X.Zero()})
	A := golops.VStack(K.Times(golops.FirstDerivative(X, 0)), golops.Identity(X).Scaled(0.5))
	if err := optest.All(w.Context(), A.Map()); err != nil {
		return err
	}
	if err := optest.Refuses(w.Context(), K.Map()); err != nil {
		return err
	}
	x, y := X.Random(2), X.Zero()
	m := &solve.CGLS[T, T]{}
	b := A.Apply(x)
	work, err := solve.NewWorkspace(solve.Problem[T, T]{A: A.Map(), B: b.Array()}, y.Array(), 0)
	if err != nil {
		return err
	}
	if _, err := work.Start(w.Context(), m); err != nil {
		return err
	}
	const steps = 20
	for _, c := range []struct {
		name string
		step func() error
	}{
		{"ApplyTo", func() error { K.ApplyTo(y, x); return nil }},
		{"Step", func() error { _, err := m.Step(w.Context(), work); return err }},
	} {
		least := ^uint64(0)
		for range 5 { // other goroutines may allocate meanwhile
			before, err := mallocs(w)
			for range steps {
				if err == nil {
					err = c.step()
				}
			}
			if err != nil {
				return err
			}
			after, err := mallocs(w)
			if err != nil {
				return err
			}
			least = min(least, after-before)
		}
		if least >= steps {
			return fmt.Errorf("%s allocates: %d times in %d", c.name, least, steps)
		}
	}
	return nil
}

// mallocs returns the number of allocations of the process so far, while no rank
// allocates.
func mallocs(w *golops.World) (uint64, error) {
	var s runtime.MemStats
	if err := w.Proc().Barrier(w.Context()); err != nil {
		return 0, err
	}
	runtime.ReadMemStats(&s)
	return s.Mallocs, w.Proc().Barrier(w.Context())
}
