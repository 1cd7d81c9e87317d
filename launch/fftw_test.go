package launch_test

import (
	"context"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// GOLOPS_FFTW reaches the device of each rank.
func TestFFTWVariable(t *testing.T) {
	t.Setenv("GOLOPS_FFTW", "sometimes")
	err := launch.Config{Ranks: 2}.Local(t.Context(), func(context.Context, dist.Proc) error { return nil })
	if err == nil || !strings.Contains(err.Error(), `"sometimes"`) || !strings.Contains(err.Error(), "off") {
		t.Errorf("got error %v", err)
	}
}
