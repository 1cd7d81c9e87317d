package golops_test

import (
	"strings"
	"testing"

	"github.com/golops/golops"
)

// Functions of no world, of another world or of nothing are errors that say so.
func TestFunctionMistakes(t *testing.T) {
	on(t, func(w *golops.World) error {
		X, alone := w.Real(4), w.Alone().Real(4)
		f := golops.L1(X, 1)
		for want, p := range map[string]func(){
			"function 0 is nil":         func() { golops.Value(nil, X.Zero()) },
			"function 1 is nil":         func() { golops.SumFunctions(f, nil) },
			"no function given":         func() { golops.StackFunctions[float64]() },
			"the function is nil":       func() { golops.GradientOf(nil, X.Zero()) },
			"another world":             func() { golops.Prox(f, 1, alone.Zero()) },
			"different worlds":          func() { golops.SumFunctions(f, golops.L1(alone, 1)) },
			"the step is -1":            func() { golops.Prox(f, -1, X.Zero()) },
			"sigma is -1":               func() { golops.L1(X, -1) },
			"the FunctionKernel is nil": func() { golops.NewFunction(X, nil) },
			"give one or none":          func() { golops.L2(X, 1, X.Zero(), X.Zero()) },
		} {
			err := golops.Try(func() error { p(); return nil })
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		}
		return nil
	})
}
