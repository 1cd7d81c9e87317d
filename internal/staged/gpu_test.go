package staged

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/local"
	"github.com/golops/golops/comm/mpi"
	"github.com/golops/golops/device/cuda"
	"github.com/golops/golops/internal/gpusim"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/soak"
)

// open returns a GPU for a rank: a real one if there is any, else a simulated one.
func open(rank int) (*cuda.Device, error) {
	if n, err := cuda.Count(); err == nil && n > 0 {
		return cuda.New(cuda.Config{Index: rank % n})
	}
	dir, err := gpusim.Build()
	if err != nil {
		return nil, err
	}
	return cuda.New(cuda.Config{Folder: dir, Cache: filepath.Join(dir, "kernels"), Index: rank % 4})
}

// withGPU runs prog with a communicator over host for the memory of a GPU.
func withGPU(ctx context.Context, host *comm.Comm, prog func(context.Context, *comm.Comm, *cuda.Device) error) error {
	dev, err := open(host.Rank())
	if err != nil {
		return err
	}
	c, err := New(host, dev)
	if err != nil {
		return errors.Join(err, dev.Close())
	}
	if err := prog(ctx, c, dev); err != nil {
		return err // after a failure the host communicator may still use the memory
	}
	return errors.Join(c.Close(), dev.Close())
}

// TestGPU runs the suite on GPU memory, with small chunks, which the suite exceeds, and in
// make soak with chunks of the default size too. TestSuite has those in make test.
func TestGPU(t *testing.T) {
	type run struct{ ranks, chunk, above int }
	for _, run := range append(soak.Or(nil, []run{{1, chunkBytes, chunkAbove}, {3, chunkBytes, chunkAbove}, {2, 4096, 4096}}), run{3, 4096, 4096}) {
		t.Run(fmt.Sprintf("ranks=%d/chunk=%d", run.ranks, run.chunk), func(t *testing.T) {
			err := local.Run(t.Context(), run.ranks, func(ctx context.Context, host *comm.Comm) error {
				runtime.LockOSThread()
				return withGPU(ctx, host, func(ctx context.Context, c *comm.Comm, dev *cuda.Device) error {
					s := inside(c).s
					s.chunk, s.above = run.chunk, run.above
					return suite(ctx, c, commtest.Config{Sequences: soak.Or(20, 50), Device: dev, FewTypes: !soak.On()}, t.Errorf)
				})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// childVar tells a copy of the test program, started by mpirun, what to do. By
// hand:
//
//	go test -c ./internal/staged && GOLOPS_TEST_CHILD=suite mpirun -n 2 ./staged.test
const childVar = "GOLOPS_TEST_CHILD"

// children are the programs that ranks run.
var children = map[string]struct {
	cfg   mpi.Config
	suite commtest.Config
}{
	"suite":   {mpi.Config{}, commtest.Config{NoFaults: true, Sequences: soak.Or(20, 200), FewTypes: !soak.On()}},
	"native":  {mpi.Config{Algo: driver.Native}, commtest.Config{NoFaults: true, Sequences: soak.Or(20, 200), FewTypes: !soak.On()}},
	"checked": {mpi.Config{Checked: true}, commtest.Config{Sequences: soak.Or(20, 200), FewTypes: !soak.On()}},
}

// TestMain lets a copy of this program be a rank.
func TestMain(m *testing.M) {
	name := os.Getenv(childVar)
	if name == "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread()
	ctx, child := context.Background(), children[name]
	w, err := mpi.Init(ctx, child.cfg)
	if err == nil {
		err = w.End(ctx, withGPU(ctx, w.Comm, func(ctx context.Context, c *comm.Comm, dev *cuda.Device) error {
			cfg := child.suite
			cfg.Device, cfg.NoTruncation = dev, strings.HasPrefix(c.String(), "Open MPI")
			n := 0
			err := commtest.Run(ctx, c, cfg, func(name string, err error) {
				n++
				if err != nil {
					fmt.Printf("FAIL %s: %v\n", name, err)
				}
			})
			if c.Rank() == 0 {
				fmt.Printf("SUITE %v, %v: %d ranks, %d cases\n", c, dev, c.Size(), n)
			}
			return err
		}))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestMPI runs the suite on GPU memory over MPI: staged, and as if MPI were GPU-aware. It can
// reach the memory of the simulator.
func TestMPI(t *testing.T) {
	real := false
	if n, err := cuda.Count(); err == nil && n > 0 {
		real = true
	}
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		for _, run := range []struct{ child, gpu, how string }{
			{"suite", "off", "staged"},
			{"checked", "off", "staged"},
			{"native", "on", "GPU-aware"},
		} {
			if run.gpu == "on" && real {
				continue // with real GPU memory, MPI reports its support itself
			}
			if m.Name == "mpich" && run.child == "checked" {
				continue // its calls spin with more ranks than cores, and Open MPI has the same checks
			}
			if (m.Name == "openmpi") == (run.child == "suite") && !soak.On() {
				continue // make test has checked and native with Open MPI, and suite with MPICH
			}
			t.Run(fmt.Sprintf("%s/gpu=%s", run.child, run.gpu), func(t *testing.T) {
				c := m.Command(t.Context(), 2, os.Args[0])
				c.Env = append(c.Env, childVar+"="+run.child, mpi.GPUVar+"="+run.gpu)
				var out bytes.Buffer
				c.Stdout, c.Stderr = &out, &out
				err := c.Run()
				text := out.String()
				_, line, _ := strings.Cut(text, "SUITE ")
				line, _, _ = strings.Cut(line, "\n")
				if err != nil || !strings.Contains(line, run.how) || strings.Contains(text, "FAIL") {
					t.Fatalf("%v\n%s", err, text)
				}
				t.Log(line)
			})
		}
	})
}
