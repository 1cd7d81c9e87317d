package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/internal/gpusim"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/launch"
)

// simulate provides simulated GPUs to commands.
func simulate(t *testing.T, gpus int) {
	t.Helper()
	dir, err := gpusim.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"GOLOPS_CUDA", "GOLOPS_HIP", "GOLOPS_NCCL"} {
		t.Setenv(v, dir)
	}
	t.Cleanup(gpusim.Reset)
	gpusim.Set("GPUSIM_DEVICES", fmt.Sprint(gpus))
}

// TestLSMOnGPUs gives the image of the host on simulated GPUs, on one, on two
// over NCCL, and on one that two ranks share.
func TestLSMOnGPUs(t *testing.T) {
	simulate(t, 2)
	small := config(t, `
grid: {nx: 31, nz: 21}
acquisition:
  sources: {number: 3, first: 50, last: 250}
  receivers: {number: 7, first: 0, last: 300}
time: {samples: 151}
wavelet: {half: 20}
solver: {iterations: 3}
`)
	out := func(name string) string { return filepath.Join(t.TempDir(), name) }
	host := out("host")
	if code, _, stderr := golops(t.Context(), fmt.Sprintf("lsm --config %s --type float32 --ranks 2 --quiet --out %s", small, host)); code != 0 {
		t.Fatal(stderr)
	}
	want := inverse(t, host)
	for i, tc := range []struct{ flags, comm, device string }{
		{"--ranks 1 --device cuda", "NCCL", "cuda:0"},
		{"--device gpu", "NCCL", "cuda:1"},
		{"--ranks 2 --device cuda --comm staged", "staged", "cuda:1"},
		{"--ranks 3 --device hip --share-gpu", "staged", "hip:1"},
	} {
		dir := out(fmt.Sprint(i))
		code, stdout, stderr := golops(t.Context(), fmt.Sprintf("lsm --config %s --type float32 --json --out %s %s", small, dir, tc.flags))
		if code != 0 {
			t.Errorf("%s: exit code %d: %s", tc.flags, code, stderr)
			continue
		}
		if d := apart(want, inverse(t, dir)); !(d < 1e-4) {
			t.Errorf("%s: the image is %g from that of the host", tc.flags, d)
		}
		var res struct {
			Communicator string
			Version      string
			Timings      []struct{ Device string }
		}
		if err := json.Unmarshal([]byte(stdout), &res); err != nil {
			t.Fatal(err)
		}
		last := ""
		for _, r := range res.Timings {
			last = max(last, r.Device)
		}
		if !strings.Contains(res.Communicator, tc.comm) || !strings.HasPrefix(last, tc.device) || res.Version == "" {
			t.Errorf("%s: got %+v", tc.flags, res)
		}
	}
	code, _, stderr := golops(t.Context(), fmt.Sprintf("lsm --config %s --type float32 --device cuda --out %s", small, out("shown")))
	if code != 0 || !strings.Contains(stderr, "rank 1: cuda:1") || !strings.Contains(stderr, "NCCL") {
		t.Errorf("exit code %d, want which GPU each rank has in %q", code, stderr)
	}
}

// TestGPUErrors asks for what is impossible: one line, code 2.
// TestPerfRegistered has the flag of nccl-tests, and its use in the table.
func TestPerfRegistered(t *testing.T) {
	simulate(t, 2)
	code, stdout, stderr := golops(t.Context(), "perf all_reduce --device cuda --comm nccl --ranks 2 -R 2 -b 8 -e 8 -n 2")
	if code != 0 || !strings.Contains(stdout, "; registration: symmetric windows\n") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

func TestGPUErrors(t *testing.T) {
	simulate(t, 1)
	bad := func(args, want string) {
		t.Helper()
		code, _, stderr := golops(t.Context(), args+" --device cuda")
		if code != 2 || !strings.HasPrefix(stderr, "golops: ") || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: got exit code %d and %q, want 2 and one line with %q", args, code, stderr, want)
		}
	}
	lsm := "lsm --out " + t.TempDir() + " --config " + config(t, quick)
	bad(lsm+" --ranks 2", "2 ranks on this machine, which has 1 GPU: start at most 1 there, or let ranks share GPUs (--share-gpu)")
	bad(lsm+" --ranks 2 --share-gpu --comm nccl", "share a GPU, which NCCL refuses")
	bad(lsm+" --comm carrier-pigeon", `unknown communicator "carrier-pigeon": have nccl, staged`)
	bad("perf all_reduce --ranks 2", "2 ranks on")
	t.Setenv("GOLOPS_CUDA", t.TempDir())
	bad(lsm, "no GPU for device cuda: cuda: no driver: libcuda.so.1 not found")
	bad("perf all_reduce --ranks 1", "libcuda.so.1 not found")
	bad("perf kernels", "libcuda.so.1 not found")
}

func TestInfoOnGPUs(t *testing.T) {
	simulate(t, 2)
	code, stdout, stderr := golops(t.Context(), "info --quick")
	if code != 0 || !strings.Contains(stdout, "cuda:1") || !strings.Contains(stdout, "Simulated") || !strings.Contains(stdout, "libnccl.so.2") {
		t.Errorf("exit code %d: %s\n%s", code, stdout, stderr)
	}
}

// TestInfoAsksMPI asks MPIs whether they reach memory of GPUs: those of this
// machine, which do not, one that says that it does, one that does not start,
// and one that never comes back. They leave nothing behind.
func TestInfoAsksMPI(t *testing.T) {
	simulate(t, 1)
	homes, tmp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	patience := time.Minute
	note := func(t *testing.T, name, want string) (found bool) {
		t.Helper()
		var stdout, stderr strings.Builder
		a := newTool(&stdout, &stderr)
		a.patience = patience
		code := a.run(t.Context(), []string{"info", "--json"})
		var i info
		if err := json.Unmarshal([]byte(stdout.String()), &i); code != 0 || err != nil {
			t.Fatalf("exit code %d, %v: %s", code, err, &stderr)
		}
		for _, l := range i.Libraries {
			if l.Name == name && l.Found {
				found = true
				if !strings.Contains(l.Note, want) {
					t.Errorf("%s at %s: %s, want %s", name, l.Path, l.Note, want)
				}
			}
		}
		if left, err := os.ReadDir(tmp); len(left) != 0 || err != nil {
			t.Errorf("%s: left behind: %v, %v", name, left, err)
		}
		return found
	}
	note(t, "MPICH", "GPU memory: staged")
	mpirun.Each(t, []string{"openmpi"}, func(t *testing.T, _ mpirun.MPI) {
		if !note(t, "Open MPI", "GPU memory: staged") {
			t.Error("it was not found")
		}
		real := ""
		for _, l := range launch.Libraries() {
			if l.Name == "Open MPI" {
				real = l.Path
			}
		}
		t.Setenv("GOLOPS_MPI_GPU", "on")
		note(t, "Open MPI", "GPU-aware in messages, staged in collectives (CUDA, HIP), as GOLOPS_MPI_GPU=on says")
		t.Setenv("GOLOPS_MPI_GPU", "yes")
		note(t, "Open MPI", "not known: mpi: GOLOPS_MPI_GPU=yes: use on or off")
		t.Setenv("GOLOPS_MPI_GPU", "")
		for name, k := range map[string]struct{ code, want string }{
			"aware": {"int MPIX_Query_cuda_support(void) { return 1; }", "GPU-aware in messages, staged in collectives (CUDA)"},
			"ends":  {"#include <stdlib.h>\nint MPI_Init_thread() { abort(); }", "not known: it did not start: "},
			"stuck": {"#include <unistd.h>\nint MPI_Init_thread() { for (;;) pause(); }", "not known: it did not start within"},
		} {
			t.Run(name, func(t *testing.T) {
				home := filepath.Join(homes, name) // with an mpirun, beside which a library is found
				source, so := filepath.Join(home, "mpi.c"), filepath.Join(home, "lib", "libmpi.so.40")
				if err := errors.Join(os.MkdirAll(filepath.Join(home, "bin"), 0o755), os.Mkdir(filepath.Dir(so), 0o755),
					os.WriteFile(source, []byte(k.code), 0o644), os.WriteFile(filepath.Join(home, "bin", "mpirun"), nil, 0o755)); err != nil {
					t.Fatal(err)
				}
				cc := exec.Command("cc", "-w", "-shared", "-fPIC", "-Wl,--no-as-needed", "-o", so, source, real)
				if out, err := cc.CombinedOutput(); err != nil {
					t.Fatalf("cc: %v\n%s", err, out)
				}
				t.Setenv("PATH", filepath.Join(home, "bin")+":"+os.Getenv("PATH"))
				if name == "stuck" {
					patience = time.Second
					defer func() { patience = time.Minute }()
				}
				if !note(t, "Open MPI", k.want) {
					t.Error("it was not found")
				}
			})
		}
	})
}
