package launch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/gpusim"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/trace"
)

// simulate shows simulated GPUs to the test. It returns the environment with which other
// processes see them too.
func simulate(t *testing.T, gpus int) (env []string) {
	t.Helper()
	dir, err := gpusim.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"GOLOPS_CUDA", "GOLOPS_HIP", "GOLOPS_NCCL"} {
		t.Setenv(v, dir)
		env = append(env, v+"="+dir)
	}
	t.Cleanup(gpusim.Reset)
	gpusim.Set("GPUSIM_DEVICES", fmt.Sprint(gpus))
	return append(env, fmt.Sprint("GPUSIM_DEVICES=", gpus))
}

// onGPUs sums numbers on the ranks' GPUs.
func onGPUs(ctx context.Context, r dist.Proc) error {
	d := r.Device.Info()
	if d.Platform == "" {
		return fmt.Errorf("the device is %v", r.Device)
	}
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, 1000)
	if err != nil {
		return err
	}
	x, err := dist.FromFunc(ctx, s, func(i []int) float32 { return float32(i[0]) })
	if err != nil {
		return err
	}
	got, err := dist.Dot(ctx, x, x)
	if want := float32(999 * 1000 * 1999 / 6); err == nil && got != want {
		return fmt.Errorf("rank %d on %s %d: dot is %g, want %g", r.Rank(), d.Platform, d.Index, got, want)
	}
	return err
}

func logged(c launch.Config) (launch.Config, *bytes.Buffer) {
	b := new(bytes.Buffer)
	c.Log = slog.New(slog.NewTextHandler(b, nil))
	return c, b
}

// TestGPUs runs goroutine ranks with one GPU each, and with shared GPUs.
func TestGPUs(t *testing.T) {
	simulate(t, 4)
	for _, tc := range []struct {
		c    launch.Config
		want []string // in the log
	}{
		{launch.Config{Ranks: 1, Device: "cuda"}, []string{"rank 0: cuda:0", "NCCL 2."}},
		{launch.Config{Ranks: 2, Device: "gpu"}, []string{"rank 0: cuda:0", "rank 1: cuda:1", "NCCL 2.", "each rank has its own GPU"}},
		{launch.Config{Device: "cuda"}, []string{"rank 3: cuda:3", "NCCL 2."}},
		{launch.Config{Ranks: 2, Device: "hip", Comm: "nccl"}, []string{"rank 1: hip:1", "RCCL 2.", "it was asked for"}},
		{launch.Config{Ranks: 4, Device: "cuda", Comm: "staged"}, []string{"rank 3: cuda:3", "staged", "it was asked for"}},
		{launch.Config{Ranks: 6, Device: "cuda", ShareGPU: true}, []string{"rank 5: cuda:1", "staged", "ranks 0 and 4 of one process share a GPU"}},
	} {
		c, log := logged(tc.c)
		ranks := 0
		err := c.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
			if r.Rank() == 0 {
				ranks = r.Size()
			}
			return onGPUs(ctx, r)
		})
		if err != nil {
			t.Errorf("%+v: %v", tc.c, err)
		}
		if want := max(tc.c.Ranks, 1); tc.c.Ranks > 0 && ranks != want || tc.c.Ranks == 0 && ranks != 4 {
			t.Errorf("%+v: %d ranks", tc.c, ranks)
		}
		for _, w := range tc.want {
			if !strings.Contains(log.String(), w) {
				t.Errorf("%+v: log %q, want %q", tc.c, log, w)
			}
		}
	}
}

// TestPlatforms finds simulated GPUs and their libraries.
func TestPlatforms(t *testing.T) {
	simulate(t, 3)
	p := launch.Platforms()[0]
	if p.Name != "cuda" || len(p.GPUs) != 3 || p.GPUs[2].Index != 2 || p.GPUs[2].Name == "" || p.GPUs[2].Memory == 0 {
		t.Errorf("got %+v", p)
	}
	for _, l := range p.Libraries {
		if l.Missing != "" || l.Path == "" {
			t.Errorf("got %+v", l)
		}
	}
}

// TestGPUTrace checks that regions wait for the GPU while it is open, and not afterwards.
func TestGPUTrace(t *testing.T) {
	simulate(t, 2)
	t.Setenv("GOLOPS_TRACE", "tree")
	var text bytes.Buffer
	c, _ := logged(launch.Config{Ranks: 2, Device: "cuda", Trace: &text})
	err := c.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
		reg := trace.Begin(ctx, "on the GPU")
		defer reg.End()
		return onGPUs(ctx, r)
	})
	if err != nil || !strings.Contains(text.String(), "on the GPU") {
		t.Errorf("%v: %s", err, text.String())
	}
}

// TestNoGPU asks for GPUs and libraries that are missing. The error says what was looked for
// and what to do.
func TestNoGPU(t *testing.T) {
	simulate(t, 2)
	bad := func(c launch.Config, want ...string) {
		t.Helper()
		err := c.Local(t.Context(), onGPUs)
		var de *launch.DeviceError
		if !errors.As(err, &de) {
			t.Errorf("%+v: got %v, want a *DeviceError", c, err)
			return
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: got %v, want %q", c, err, w)
			}
		}
	}
	bad(launch.Config{Ranks: 3, Device: "cuda"}, "3 ranks", "2 GPUs", "at most 2", "--share-gpu")
	bad(launch.Config{Ranks: 4, Device: "cuda", ShareGPU: true, Comm: "nccl"}, "ranks 0 and 2 of one process share a GPU")
	gpusim.Set("GPUSIM_DEVICES", "0")
	bad(launch.Config{Ranks: 1, Device: "cuda"}, "no GPU for device cuda")
	t.Setenv("GOLOPS_CUDA", t.TempDir())
	t.Setenv("GOLOPS_HIP", t.TempDir())
	bad(launch.Config{Ranks: 1, Device: "gpu"}, "libcuda.so.1", "GOLOPS_CUDA", "libamdhip64.so", "GOLOPS_HIP")
}

// TestGPUFault lets a kernel of one rank fail. All ranks end with the error of the kernel.
func TestGPUFault(t *testing.T) {
	simulate(t, 4)
	t.Run("staged", func(t *testing.T) { gpuFault(t, "staged") })
	t.Run("nccl", func(t *testing.T) { gpuFault(t, "nccl") })
}

func gpuFault(t *testing.T, name string) {
	defer gpusim.Reset()
	gpusim.Reset()
	c, _ := logged(launch.Config{Ranks: 3, Device: "cuda", Comm: name})
	err := c.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
		if err := onGPUs(ctx, r); err != nil {
			return err
		}
		if r.Rank() == 1 {
			gpusim.FailLaunch("*", gpusim.IllegalAddress)
			return onGPUs(ctx, r.Alone())
		}
		return onGPUs(ctx, r)
	})
	if err == nil || !strings.Contains(err.Error(), "700") {
		t.Errorf("got %v, want the failure of the kernel", err)
	}
}

// TestGPUsUnderMPI gives each process a GPU by its number on the machine.
func TestGPUsUnderMPI(t *testing.T) {
	env := simulate(t, 2)
	mpirun.Each(t, either("openmpi"), func(t *testing.T, m mpirun.MPI) {
		for _, tc := range []struct {
			ranks  int
			gpu    string
			failed bool
			want   []string
		}{
			{2, "cuda,staged,", false, []string{"rank 0: cuda:0", "rank 1: cuda:1", "staged"}},
			{3, "gpu,staged,share", false, []string{"rank 2: cuda:0", "staged"}},
			{3, "cuda,,", true, []string{"3 ranks on", "2 GPUs", "--share-gpu"}},
		} {
			out, err := run(t, m, tc.ranks, "gpu", append(env, gpuVar+"="+tc.gpu)...)
			if (err != nil) != tc.failed {
				t.Errorf("%d ranks, %s: %v\n%s", tc.ranks, tc.gpu, err, out)
			}
			for _, w := range tc.want {
				if !strings.Contains(out, w) {
					t.Errorf("%d ranks, %s: want %q in\n%s", tc.ranks, tc.gpu, w, out)
				}
			}
		}
	})
}
