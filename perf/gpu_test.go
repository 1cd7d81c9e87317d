package perf

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/golops/golops/internal/gpusim"
)

// simulate provides simulated GPUs, each with the given bytes of memory.
func simulate(t *testing.T, gpus, bytes int) {
	t.Helper()
	dir, err := gpusim.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"GOLOPS_CUDA", "GOLOPS_NCCL"} {
		t.Setenv(v, dir)
	}
	t.Cleanup(gpusim.Reset)
	gpusim.Set("GPUSIM_DEVICES", fmt.Sprint(gpus))
	gpusim.Set("GPUSIM_MEMORY", fmt.Sprint(bytes))
}

func onGPU(ranks int) Config {
	cfg := quick(ranks)
	cfg.Device, cfg.Log = "cuda", slog.New(slog.DiscardHandler)
	return cfg
}

// TestRunOnGPUs has host memory, GPU memory and NCCL side by side, verified.
func TestRunOnGPUs(t *testing.T) {
	simulate(t, 2, 1<<30)
	for _, ranks := range []int{1, 2} {
		res, err := Run(t.Context(), onGPU(ranks), nil)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]int{}
		for _, tab := range res.Tables {
			kinds[tab.Memory+", "+tab.Comm]++
			if tab.Wrong != 0 || len(tab.Rows) == 0 {
				t.Errorf("%d ranks: got %+v", ranks, tab)
			}
		}
		windows := len(operations) - 3
		if len(kinds) != 3 || kinds["host memory, goroutines"] != len(operations) || kinds["GPU memory, goroutines, staged through pinned host memory"] != windows {
			t.Errorf("%d ranks: got %v", ranks, kinds)
		}
		if err := Plot(io.Discard, "svg", sampleMachine, res.Tables); err != nil {
			t.Error(err)
		}
	}
}

// TestRegistered registers the buffers with NCCL. No registration may remain.
func TestRegistered(t *testing.T) {
	simulate(t, 2, 1<<30)
	for _, ranks := range []int{1, 2} {
		for _, how := range []Registration{RegisterLocal, RegisterSymmetric} {
			cfg := onGPU(ranks)
			cfg.Register, cfg.Root = how, ranks-1
			var out strings.Builder
			res, err := Run(t.Context(), cfg, NewText(&out, sampleMachine))
			if err != nil {
				t.Fatal(err)
			}
			registered := 0
			for _, tab := range res.Tables {
				if tab.Registration == how.String() && strings.HasPrefix(tab.Comm, "NCCL") {
					registered++
				} else if tab.Registration != "" {
					t.Errorf("%s over %s: registration is %q", tab.Operation, tab.Comm, tab.Registration)
				}
				if tab.Wrong != 0 || len(tab.Rows) == 0 {
					t.Errorf("%d ranks: got %+v", ranks, tab)
				}
			}
			if want := len(operations) - 4; registered != want || strings.Count(out.String(), "; registration: "+how.String()) != want {
				t.Errorf("%d ranks: %d tables with %v, want %d:\n%s", ranks, registered, how, want, out.String())
			}
			if n := gpusim.Registrations(); n != 0 {
				t.Errorf("%d ranks: %d registrations are left", ranks, n)
			}
		}
	}
}

func TestRunOnGPUsRefuses(t *testing.T) {
	simulate(t, 1, 64<<20)
	large := onGPU(1)
	large.Max, large.Operations = 1<<30, []string{"all_reduce"}
	many := onGPU(2)
	shared := onGPU(2)
	shared.ShareGPU = true
	hosts := onGPU(1)
	hosts.Register, hosts.Comms = RegisterLocal, []string{Local}
	messages := onGPU(1)
	messages.Register, messages.Operations = RegisterLocal, []string{"sendrecv"}
	for _, tc := range []struct {
		cfg  Config
		want []string
	}{
		{large, []string{"take 2 GB", "MB free", "-e"}},
		{many, []string{"2 ranks", "1 GPU", "--share-gpu"}},
		{shared, []string{"communicator nccl", "share a GPU"}},
		{hosts, []string{"registration (-R)", "with NCCL"}},
		{messages, []string{"registration (-R)", "leave out sendrecv"}},
	} {
		_, err := Run(t.Context(), tc.cfg, nil)
		var c *ConfigError
		if !errors.As(err, &c) {
			t.Errorf("got %v, want a *ConfigError", err)
		}
		for _, w := range tc.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("got %v, want %q", err, w)
			}
		}
	}
	window := onGPU(1)
	window.Operations, window.Comms = []string{"put"}, []string{NCCL}
	if res, err := Run(t.Context(), window, nil); err != nil || len(res.Missing()) != 1 || !strings.Contains(res.Missing()[0], "GPU memory") {
		t.Errorf("put: got %q, %v", res.Missing(), err)
	}
	gpusim.Set("GPUSIM_DEVICES", "2")
	gpusim.Set("GPUSIM_NCCL_WINDOWS", "null")
	windows := onGPU(2)
	windows.Register = RegisterSymmetric
	_, err := Run(t.Context(), windows, nil)
	var c *ConfigError
	if !errors.As(err, &c) || !strings.Contains(err.Error(), "registration (-R)") || !strings.Contains(err.Error(), "gives no window") {
		t.Errorf("got %v, want a *ConfigError that says that there are no windows", err)
	}
	shared.Comms = []string{Local}
	if res, err := Run(t.Context(), shared, nil); err != nil || res.Wrong() != 0 {
		t.Errorf("shared: %v, %d wrong", err, res.Wrong())
	}
}
