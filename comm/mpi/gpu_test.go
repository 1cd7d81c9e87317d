package mpi

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/mpirun"
)

func TestGPUSetting(t *testing.T) {
	for value, ok := range map[string]bool{"": true, "on": true, "off": true, "yes": false} {
		t.Setenv(GPUVar, value)
		got, err := GPUSetting()
		if ok != (err == nil) || ok && got != value {
			t.Errorf("%s=%s: got %q, %v", GPUVar, value, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), GPUVar+"="+value) {
			t.Errorf("%s=%s: error does not name them: %v", GPUVar, value, err)
		}
	}
}

// TestGPUAware asks libraries that are built without GPU support, with each value of
// GPUVar.
func TestGPUAware(t *testing.T) {
	mpirun.Each(t, every, func(t *testing.T, m mpirun.MPI) {
		for value, want := range map[string]string{"": "cuda false hip false", "off": "cuda false hip false", "on": "cuda true hip true"} {
			out, err := ranks(t, m, 1, "reaches", GPUVar+"="+value)
			if err != nil || !strings.Contains(out, want) {
				t.Errorf("%s=%s: want %s: %v\n%s", GPUVar, value, want, err, out)
			}
		}
	})
}

func reaches(_ context.Context, c *comm.Comm) error {
	aware, call := c.Conn().Info().GPUAware, &driver.Signature{Kind: driver.KindSend}
	_, err := fmt.Println("cuda", aware("cuda", call), "hip", aware("hip", call))
	return err
}
