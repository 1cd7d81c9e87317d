package dist_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
)

// programs are what ranks run here, as goroutines and as MPI processes alike.
// All ranks get the same seed.
var programs = map[string]func(ctx context.Context, r dist.Proc, seed uint64) error{
	"properties": runProperties,
	"bad input":  runBadInput,
	"messages":   runMessages,
	"labels":     runLabels,
	"alone":      runAlone,
	"one-sided":  runOneSided,
	"no windows": runNoWindows,
}

const (
	childVar = "GOLOPS_DIST_CHILD"
	seedVar  = "GOLOPS_DIST_SEED"
)

// TestMain lets a copy of this program, started by mpirun, be a rank.
func TestMain(m *testing.M) {
	name := os.Getenv(childVar)
	if name == "" {
		os.Exit(m.Run())
	}
	seed, err := strconv.ParseUint(os.Getenv(seedVar), 10, 64)
	if err == nil {
		err = testdevices.World(context.Background(), launch.Config{Checked: true}, func(ctx context.Context, r dist.Proc) error {
			if r.Size() == 1 {
				return fmt.Errorf("%s: one rank only", name)
			}
			return programs[name](ctx, r, seed)
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAILED", err)
		os.Exit(1)
	}
}

// TestUnderMPI runs every program on three ranks of each MPI.
func TestUnderMPI(t *testing.T) {
	for name := range programs {
		if name == "alone" || name == "no windows" { // TestReductionOfOneRank and TestNoWindows run them
			continue
		}
		t.Run(name, func(t *testing.T) {
			mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
				seed := rand.Uint64()
				if out, err := underMPI(t, m, name, seed); err != nil {
					t.Errorf("seed %d: %v\n%s", seed, err, out)
				}
			})
		})
	}
}

// underMPI runs a program on three ranks of an MPI and returns what they print.
func underMPI(t *testing.T, m mpirun.MPI, name string, seed uint64) (string, error) {
	c := m.Command(t.Context(), 3, os.Args[0])
	c.Env = append(c.Env, childVar+"="+name, fmt.Sprintf("%s=%d", seedVar, seed))
	out, err := c.CombinedOutput()
	return string(out), err
}

// onRanks runs p on n goroutine ranks and fails the test with their errors.
func onRanks(t testing.TB, n int, p launch.Program) {
	t.Helper()
	if err := testdevices.Local(t.Context(), n, p); err != nil {
		t.Errorf("%d ranks: %v", n, err)
	}
}
