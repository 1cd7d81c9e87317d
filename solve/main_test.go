package solve_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/solve"
)

const (
	childVar = "GOLOPS_SOLVE_CHILD" // what a copy of this program is to do
	dirVar   = "GOLOPS_SOLVE_DIR"
)

// TestMain lets a copy of this program be a rank of MPI.
func TestMain(m *testing.M) {
	var err error
	switch dir := os.Getenv(dirVar); os.Getenv(childVar) {
	case "":
		os.Exit(m.Run())
	case "mpi":
		err = testdevices.World(context.Background(), launch.Config{Checked: true}, func(ctx context.Context, r dist.Proc) error {
			return underMPI(ctx, r, dir)
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAILED", err)
		os.Exit(1)
	}
}

// underMPI solves everything, and leaves a state after four iterations.
func underMPI(ctx context.Context, r dist.Proc, dir string) error {
	if r.Size() != 3 {
		return fmt.Errorf("%d ranks, want 3", r.Size())
	}
	types := soak.Or(twoTypes, allTypes)
	if err := types(ctx, r); err != nil {
		return err
	}
	m := methods[complex128]()[3]
	p, x, err := at(ctx, r, m, 0, 0.5)
	if err != nil {
		return err
	}
	_, err = p.run(ctx, m.method(), x, solve.Config{RelTol: 1e-6, MaxIter: 4, Checkpoint: solve.Checkpoint{Saver: data.Checkpoints{Dir: dir, Keep: 2}}})
	return err
}

// MPI ranks solve the same, and goroutine ranks go on where they left off.
func TestMPI(t *testing.T) {
	m := methods[complex128]()[3]
	want, _ := whole(t, m, 0, 0.5, solve.Config{RelTol: 1e-6, MaxIter: 9})
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, mpi mpirun.MPI) {
		dir := t.TempDir()
		c := mpi.Command(t.Context(), 3, os.Args[0])
		c.Env = append(c.Env, childVar+"=mpi", dirVar+"="+dir)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Run(); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		on(t, 2, func(ctx context.Context, r dist.Proc) error {
			p, x, err := at(ctx, r, m, 1, 0.5)
			if err != nil {
				return err
			}
			res, err := p.run(ctx, m.method(), x, solve.Config{RelTol: 1e-6, MaxIter: 9, Checkpoint: solve.Checkpoint{Saver: data.Checkpoints{Dir: dir, Resume: true, Keep: 2}}})
			if err != nil || res.Resumed != 4 {
				return fmt.Errorf("resumed from %d: %w", res.Resumed, err)
			}
			return compare(ctx, x, want, 1e-12)
		})
	})
}
