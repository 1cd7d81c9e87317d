package golops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops"
	"github.com/golops/golops/data"
	"github.com/golops/golops/solve"
)

// Functions of no world, of another world or of nothing are errors that say so.
func TestFunctionMistakes(t *testing.T) {
	on(t, func(w *golops.World) error {
		X, alone := w.Real(4), w.Alone().Real(4)
		f := golops.L1(X, 1)
		for _, c := range []struct { // in the same order on all ranks
			want string
			f    func()
		}{
			{"function 0 is nil", func() { golops.Value(nil, X.Zero()) }},
			{"function 1 is nil", func() { golops.SumFunctions(f, nil) }},
			{"no function given", func() { golops.StackFunctions[float64]() }},
			{"the function is nil", func() { golops.GradientOf(nil, X.Zero()) }},
			{"another world", func() { golops.Prox(f, 1, alone.Zero()) }},
			{"different worlds", func() { golops.SumFunctions(f, golops.L1(alone, 1)) }},
			{"the step is -1", func() { golops.Prox(f, -1, X.Zero()) }},
			{"sigma is -1", func() { golops.L1(X, -1) }},
			{"the FunctionKernel is nil", func() { golops.NewFunction(X, nil) }},
			{"give one or none", func() { golops.L2(X, 1, X.Zero(), X.Zero()) }},
		} {
			err := golops.Try(func() error { c.f(); return nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		}
		return nil
	})
}

// counting is ½‖x‖², but steps grow with the number of calls, which is its state.
type counting struct{ calls *float64 }

func (counting) Value(x golops.Vec[float64]) float64 { n := x.Norm(); return n * n / 2 }

func (k counting) Prox(y golops.Vec[float64], tau float64, x golops.Vec[float64]) {
	*k.calls++
	y.Copy(x.Scaled(1 / (1 + tau**k.calls)))
}

func (k counting) State() ([]solve.NamedArray, []solve.NamedNumber) {
	return nil, []solve.NamedNumber{{Name: "calls", Value: k.calls}}
}

// A function of your own keeps its state over a resume, inside of others, too.
func TestFunctionKeepsItsState(t *testing.T) {
	dir := t.TempDir()
	on(t, func(w *golops.World) error {
		cp := solve.Checkpoint{Saver: data.Checkpoints{Dir: fmt.Sprint(dir, "/", w.Size()), Keep: 1, Resume: true}}
		X := w.Real(5)
		run := func(iters int, cp solve.Checkpoint) golops.Solution[float64] {
			f := golops.ScaleFunction(2, golops.NewFunction(X, counting{new(float64)}))
			return golops.ProximalPoint(f, 0.3, golops.Config{MaxIter: iters, Checkpoint: cp}, ramp(X))
		}
		want := run(6, solve.Checkpoint{})
		run(2, cp)
		got := run(6, cp)
		if got.Resumed != 2 || got.Cost != want.Cost {
			t.Errorf("resumed at %d, the cost is %g, want %g", got.Resumed, got.Cost, want.Cost)
		}
		return nil
	})
}
