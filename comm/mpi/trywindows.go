package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/golops/golops/comm"
)

// TryWindows starts the library at path as one of the ranks of a launcher and lets each
// rank put a number into the memory of the next. It returns why that does not work. A
// process can call it once. A library may never come back or may end the process, so
// call it in a child.
func TryWindows(ctx context.Context, path string) error {
	if err := os.Setenv(EnvVar, path); err != nil {
		return err
	}
	w, err := Init(ctx, Config{})
	if err != nil {
		return err
	}
	if w.Comm.Size() == 1 {
		return errors.Join(errors.New("mpi: the launcher started one rank, two are needed"), w.End(ctx, nil))
	}
	err = tryPut(ctx, w.Comm)
	if !errors.Is(err, errors.ErrUnsupported) {
		return w.End(ctx, err)
	}
	return errors.Join(err, w.End(ctx, nil))
}

// tryPut lets each rank put a number into the window of the next.
func tryPut(ctx context.Context, c *comm.Comm) error {
	mem, n := make([]float64, 1), c.Size()
	w, err := c.Window(ctx, comm.Of(mem))
	if err != nil {
		return err
	}
	if err := w.Fence(ctx); err != nil {
		return err
	}
	if err := w.Put(ctx, (c.Rank()+1)%n, 0, comm.Of([]float64{float64(c.Rank() + 1)})); err != nil {
		return err
	}
	if err := errors.Join(w.Fence(ctx), w.Close(ctx)); err != nil {
		return err
	}
	if want := float64((c.Rank()+n-1)%n + 1); mem[0] != want {
		return fmt.Errorf("mpi: %v: rank %d finds %g in its window, where %g was put", c, c.Rank(), mem[0], want)
	}
	return nil
}

// runners are the launchers of each family.
var runners = map[Family][]string{
	OpenMPI:  {"mpirun.openmpi", "mpirun"},
	MPICH:    {"mpirun.mpich", "mpiexec.hydra", "mpirun"},
	Standard: {"mpirun"},
}

// MPIRun returns the launcher of the library: the one beside its folder, or one on the
// path. It is "" if there is none.
func (f *Found) MPIRun() string {
	for _, name := range append([]string{filepath.Join(filepath.Dir(filepath.Dir(f.Path)), "bin", "mpirun")}, runners[f.Family]...) {
		if exe, err := exec.LookPath(name); err == nil {
			return exe
		}
	}
	return ""
}
