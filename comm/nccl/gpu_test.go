package nccl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/mpi"
	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cuda"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/internal/gpusim"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/soak"
)

// Variables that tell a copy of this program, started by mpirun, what to do.
const (
	childVar     = "GOLOPS_TEST_CHILD"
	sequencesVar = "GOLOPS_TEST_SEQUENCES" // random sequences, or rounds, on a GPU; they take long if ranks share it
)

// children are the programs that MPI ranks run, those of "sim" on a simulated GPU.
var children = map[string]program{
	"gpu suite":    gpuSuite,
	"gpu allocs":   allocs,
	"gpu register": gpuRegister,
	"gpu kill":     kill,
	"sim alone": func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
		if c.Rank() != 0 {
			return nil
		}
		return reduceDot(ctx, c, dev, false)
	},
	"sim suite": func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
		// Simulated GPUs of two processes cannot reach each other.
		return report(ctx, c, dev, commtest.Config{Sequences: 100, NoTruncation: true}, c.Size() == 1)
	},
}

// TestMain lets a copy of this program be a rank:
//
//	GOLOPS_TEST_CHILD='gpu suite' mpirun -n 4 ./nccl.test
func TestMain(m *testing.M) {
	name := os.Getenv(childVar)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := child(context.Background(), name); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL", err)
		os.Exit(1)
	}
}

// child runs one of children as this process's rank.
func child(ctx context.Context, name string) error {
	prog, ok := children[name]
	if !ok {
		return fmt.Errorf("%s is %q: no such program", childVar, name)
	}
	cfg := Config{Checked: true, Timeout: time.Minute}
	if name == "gpu kill" {
		cfg = Config{Timeout: 10 * time.Second} // some mpiruns do not end the other ranks
	}
	w, err := mpi.Init(ctx, mpi.Config{Checked: cfg.Checked, Timeout: cfg.Timeout})
	if err != nil {
		return err
	}
	return w.End(ctx, onGPU(ctx, w, strings.HasPrefix(name, "sim"), cfg, prog))
}

// onGPU runs a program on the GPU of this process.
func onGPU(ctx context.Context, w *mpi.World, simulated bool, c Config, p program) error {
	cfg := cuda.Config{}
	if simulated {
		dir, err := gpusim.Build()
		if err == nil {
			err = os.Setenv(EnvVar, dir)
		}
		if err != nil {
			return err
		}
		cfg.Folder = dir
	} else {
		n, err := cuda.Count()
		if err != nil {
			return err
		}
		if w.Launcher.LocalSize > n || w.Comm.Size() > n {
			// The library refuses two ranks of one machine on one GPU, so each rank
			// claims to be on another machine.
			id := fmt.Sprintf("golops-%d-%d", os.Getpid(), w.Comm.Rank())
			if err := errors.Join(dl.Setenv("NCCL_HOSTID", id), dl.Setenv("NCCL_SOCKET_IFNAME", "lo")); err != nil {
				return err
			}
		}
		cfg.Index = w.Comm.Rank() % n
	}
	dev, err := cuda.New(cfg)
	if err != nil {
		return err
	}
	return errors.Join(with(ctx, w.Comm, dev, c, p), dev.Close())
}

func gpuSuite(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
	cfg := commtest.Config{Sequences: 20, NoTruncation: true}
	if n, err := strconv.Atoi(os.Getenv(sequencesVar)); err == nil {
		cfg.Sequences = n
	}
	// Windows belong to the host's communicator. Open MPI 4.1.6 on our GPU machine
	// cannot make any, not even for C programs.
	w, err := c.Window(ctx, comm.Of(make([]float32, 1)))
	if err == nil {
		err = w.Close(ctx)
	}
	if cfg.NoWindows = comm.Agree(ctx, c, err) != nil; cfg.NoWindows && c.Rank() == 0 {
		fmt.Printf("NO WINDOWS: %v\n", err)
	}
	return report(ctx, c, dev, cfg, true)
}

func gpuRegister(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
	rounds := 40
	if n, err := strconv.Atoi(os.Getenv(sequencesVar)); err == nil {
		rounds = n
	}
	return registers(ctx, c, dev, rounds, 1<<20)
}

// report runs the suite and prints how long its cases took.
func report(ctx context.Context, c *comm.Comm, dev device.Accelerator, cfg commtest.Config, onDevice bool) error {
	start := time.Now()
	last, cases := start, 0
	if onDevice {
		cfg.Device = dev
	}
	err := commtest.Run(ctx, c, cfg, func(name string, err error) {
		cases++
		if took := time.Since(last); took > time.Second || os.Getenv("GOLOPS_TEST_VERBOSE") != "" {
			fmt.Printf("%s: %v\n", name, took.Round(time.Millisecond))
		}
		last = time.Now()
		if err != nil {
			fmt.Printf("FAIL %s: %v\n", name, err)
		}
	})
	if c.Rank() == 0 {
		fmt.Printf("SUITE %v on %v: %d ranks, %d cases in %v\n", c, dev, c.Size(), cases, time.Since(start).Round(time.Millisecond))
	}
	return err
}

// kill lets the last rank die in the middle of a run.
func kill(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
	m, err := newMemory(dev, make([]float32, 1<<20)...)
	if err != nil {
		return err
	}
	var at time.Time
	for round := 0; err == nil; round++ {
		if round == 50 {
			if err = c.Barrier(ctx); err == nil && c.Rank() == c.Size()-1 {
				fmt.Printf("KILLED rank %d\n", c.Rank())
				self, err := os.FindProcess(os.Getpid())
				return errors.Join(err, self.Kill())
			}
			at = time.Now()
		}
		if err == nil {
			err = c.AllReduce(ctx, m.buf(), m.buf(), comm.Sum)
		}
	}
	fmt.Printf("ERROR rank %d, %v after the kill: %v\n", c.Rank(), time.Since(at).Round(time.Millisecond), err)
	return err
}

// ranks runs a child on n ranks and returns what it printed.
func ranks(t *testing.T, m mpirun.MPI, n int, child string) (string, error) {
	t.Helper()
	c := m.Command(t.Context(), n, os.Args[0])
	c.Env = append(c.Env, childVar+"="+child)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.String(), err
}

var launchers = []string{"openmpi", "mpich"}

// TestMPI runs the suite with MPI as the control plane: in GPU memory on one
// rank, in host memory on two.
func TestMPI(t *testing.T) {
	mpirun.Each(t, launchers, func(t *testing.T, m mpirun.MPI) {
		for _, n := range soak.Or([]int{2}, []int{1, 2}) {
			if out, err := ranks(t, m, n, "sim suite"); err != nil || !strings.Contains(out, "SUITE") || strings.Contains(out, "FAIL") {
				t.Errorf("%d ranks: %v\n%s", n, err, out)
			}
		}
	})
}

// TestAlone has one rank of two reduce, while the program of the other has ended. The error
// must name the reduction.
func TestAlone(t *testing.T) {
	mpirun.Each(t, launchers[:1], func(t *testing.T, m mpirun.MPI) {
		const want = `rank 0 is in AllReduce(sum, 1 float64, "dot"), rank 1 is in `
		if out, err := ranks(t, m, 2, "sim alone"); err == nil || strings.Count(out, want) < 2 {
			t.Errorf("%v, want both ranks to say %q\n%s", err, want, out)
		}
	})
}

// TestGPU runs the suite on real GPUs, with the ranks that mpirun has started
// or, without it, with those that it starts itself.
func TestGPU(t *testing.T) {
	if n, err := cuda.Count(); err != nil || n == 0 {
		t.Skipf("no GPU here: %v", err)
	}
	if mpi.FindLauncher().Name != "" {
		if err := child(t.Context(), "gpu suite"); err != nil {
			t.Error(err)
		}
		return
	}
	mpirun.Each(t, launchers[:1], func(t *testing.T, m mpirun.MPI) {
		for _, n := range []int{1, 2, 4} {
			for _, child := range []string{"gpu suite", "gpu allocs", "gpu register"} {
				out, err := ranks(t, m, n, child)
				if err != nil || strings.Contains(out, "FAIL") {
					t.Errorf("%s on %d ranks: %v\n%s", child, n, err, out)
				}
				t.Log(out)
			}
		}
		start := time.Now()
		out, err := ranks(t, m, 4, "gpu kill")
		if err == nil || !strings.Contains(out, "KILLED") {
			t.Errorf("a rank that dies: %v\n%s", err, out)
		}
		t.Logf("a run with a rank that dies took %v\n%s", time.Since(start), out)
	})
}
