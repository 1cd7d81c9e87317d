// Package mpirun finds the MPI launchers of this machine, so that tests can
// start themselves again as MPI ranks.
package mpirun

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// MPI is an installed MPI.
type MPI struct {
	Name    string   // for names of tests: openmpi, mpich, ...
	Program string   // its mpirun
	Args    []string // before -n
	Env     []string // such as GOLOPS_MPI
	Install string   // what to do when it is missing
}

// known lists the MPIs of Debian's packages and those that scripts/mpi-wheels
// unpacks from PyPI for the interfaces that Debian does not have.
func known() []MPI {
	root := moduleRoot()
	open := []string{"--allow-run-as-root", "--oversubscribe"}
	wheel := func(parts ...string) string {
		return filepath.Join(append([]string{root, "build", "mpi"}, parts...)...)
	}
	return []MPI{
		{Name: "openmpi", Program: "mpirun.openmpi", Args: open, Install: "apt-get install openmpi-bin libopenmpi-dev"},
		{Name: "mpich", Program: "mpirun.mpich", Install: "apt-get install mpich libmpich-dev"},
		{Name: "openmpi5", Program: wheel("openmpi5", "bin", "mpirun"), Args: open, Install: "scripts/mpi-wheels",
			Env: []string{"OPAL_PREFIX=" + wheel("openmpi5"), "PRTE_MCA_prte_silence_shared_fs=1"}},
		{Name: "mpich5abi", Program: wheel("mpich5", "bin", "mpirun"), Install: "scripts/mpi-wheels",
			Env: []string{"GOLOPS_MPI=" + wheel("mpich5", "lib", "libmpi_abi.so.1")}},
	}
}

func moduleRoot() string {
	dir, _ := os.Getwd()
	for ; len(dir) > 1; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	return dir
}

// Required names the MPIs whose absence fails a test, separated by commas. It
// is what make test installs; elsewhere their tests are skipped with a word on
// what to install.
const Required = "GOLOPS_TEST_MPI"

// Each runs f as a subtest for each MPI of this machine called one of names.
func Each(t *testing.T, names []string, f func(t *testing.T, m MPI)) {
	for _, m := range known() {
		for _, n := range names {
			if m.Name != n {
				continue
			}
			t.Run(n, func(t *testing.T) {
				if _, err := exec.LookPath(m.Program); err != nil {
					for _, must := range strings.Split(os.Getenv(Required), ",") {
						if must == n {
							t.Fatalf("%s is missing: %s", m.Program, m.Install)
						}
					}
					t.Skipf("no %s here: %s", m.Program, m.Install)
				}
				f(t, m)
			})
		}
	}
}

// Command is mpirun for n ranks of a program. The limit is for a test that
// hangs: far beyond what it takes, so that only a hang meets it.
func (m MPI) Command(ctx context.Context, n int, program string, args ...string) *exec.Cmd {
	all := append(append([]string{}, m.Args...), "-n", fmt.Sprint(n), program)
	c := exec.CommandContext(ctx, m.Program, append(all, args...)...)
	c.Env = append(os.Environ(), m.Env...)
	c.WaitDelay = 10 * time.Second
	return c
}
