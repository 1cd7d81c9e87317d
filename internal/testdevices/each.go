package testdevices

import (
	"context"
	"os"
	"testing"

	"github.com/golops/golops/launch"
)

// Place is a device that is not the host's.
type Place struct {
	Name string
	Slow bool // a suite takes few cases only
}

// Local runs prog on goroutine ranks there.
func (p Place) Local(ctx context.Context, ranks int, prog launch.Program) error {
	return On(ctx, p.Name, ranks, prog)
}

// Each runs a test on hidden memory, on simulated GPUs, and on GPUs where there
// are any. Simulated GPUs hide real ones from the tests after this one; Var sends whole
// suites to those. Where Var is set, Each runs nothing.
func Each(t *testing.T, f func(t *testing.T, p Place)) {
	if os.Getenv(Var) != "" {
		return
	}
	places := []Place{{"hidden", false}}
	if !simulated.Load() && GPUs(t.Context()) == nil {
		places = append(places, Place{launch.GPU, false})
	}
	// Simulated GPUs talk over NCCL, unless told otherwise.
	for _, p := range append(places, Place{"sim", true}, Place{"sim:staged", true}) {
		t.Run(p.Name, func(t *testing.T) { f(t, p) })
	}
}
