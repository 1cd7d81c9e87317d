package golops_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golops/golops"
	"github.com/golops/golops/internal/mpirun"
)

// childVar names the program that a copy of this test binary runs as Main does:
//
//	GOLOPS_TEST_CHILD=programs GOLOPS_DEVICE=cuda ./golops.test
//	GOLOPS_TEST_CHILD=programs mpirun -n 2 ./golops.test
const childVar = "GOLOPS_TEST_CHILD"

func TestMain(m *testing.M) {
	name := os.Getenv(childVar)
	if name == "" {
		os.Exit(m.Run())
	}
	golops.Main(children()[name])
}

// children are the programs that a copy of this test binary runs as Main does.
func children() map[string]golops.Program {
	all := map[string]golops.Program{
		"programs":  programs,
		"tutorials": tutorials,
		"failing":   func(*golops.World) error { return errors.New("no luck") },
		"endless":   endless,
		"loop":      loop,
		"deaf":      deaf,
	}
	for _, p := range mistakes {
		all[p.name] = p.program
	}
	return all
}

// endless solves until it is stopped, and prints its process and how it ended.
func endless(w *golops.World) error {
	X := w.Real(40, 40)
	s := golops.CGLS(golops.Laplacian(X), X.Random(1), golops.Config{MaxIter: 1 << 40, PastRounding: true, OnIter: func(it golops.Iteration) error {
		if it.K == 3 {
			fmt.Println("process", w.Rank(), os.Getpid())
		}
		return nil
	}})
	fmt.Println("ended", s.Status, s.Iters)
	return nil
}

// loop is a program that asks by itself.
func loop(w *golops.World) error {
	n := 0
	for ; !w.Stopping(); n++ {
		if n == 3 {
			fmt.Println("process", w.Rank(), os.Getpid())
		}
	}
	fmt.Println("ended", "stopped", n)
	return nil
}

// deaf is a program that no signal stops but the second, which ends its context.
func deaf(w *golops.World) error {
	fmt.Println("process", w.Rank(), os.Getpid())
	<-w.Context().Done()
	return context.Cause(w.Context())
}

// child is this test binary as a program.
func child(t *testing.T, name string, env ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(append(os.Environ(), childVar+"="+name), env...)
	return c
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name, env, want string
		code            int
	}{
		{"programs", "GOLOPS_RANKS=2", "", 0},
		{"failing", "GOLOPS_RANKS=3", "rank 0: no luck\n", 1},
		{"compose", "GOLOPS_RANKS=3", "rank 0: wrong_test.go:", 1},
		{"programs", "GOLOPS_RANKS=three", "GOLOPS_RANKS=three is no number of ranks", 2},
		{"programs", "GOLOPS_RANKS=0", "GOLOPS_RANKS=0 is no number of ranks", 2},
		{"programs", "GOLOPS_DEVICE=abacus", `unknown device "abacus"`, 2},
		{"programs", "GOLOPS_TIMEOUT=soon", "GOLOPS_TIMEOUT=soon", 2},
		{"nothing", "GOLOPS_RANKS=1", "there is no program", 1},
	} {
		p := child(t, c.name, c.env)
		var stderr strings.Builder
		p.Stderr = &stderr
		err := p.Run()
		if code := p.ProcessState.ExitCode(); code != c.code || !strings.Contains(stderr.String(), c.want) || strings.Count(stderr.String(), "\n") > 1 {
			t.Errorf("%s, %s: exit code %d (%v), want %d; it said %q, want %q once", c.name, c.env, code, err, c.code, stderr.String(), c.want)
		}
	}
}

// A variable that is wrong is said once under a launcher, too.
func TestWrongVariableUnderMPI(t *testing.T) {
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		c := m.Command(t.Context(), 2, os.Args[0])
		c.Env = append(c.Env, childVar+"=programs", "GOLOPS_DEVICE=abacus")
		var stderr strings.Builder
		c.Stderr = &stderr
		if err := c.Run(); err == nil || strings.Count(stderr.String(), "abacus") != 1 {
			t.Errorf("%v; it said %q", err, stderr.String())
		}
	})
}

// One signal to one process stops solvers, and loops that ask, on all ranks after
// the same iteration.
func TestSignalStopsAllRanks(t *testing.T) {
	for _, name := range []string{"endless", "loop"} {
		t.Run(name, func(t *testing.T) {
			signalled(t, child(t, name, "GOLOPS_RANKS=3"), 3)
		})
	}
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		c := m.Command(t.Context(), 3, os.Args[0])
		c.Env = append(c.Env, childVar+"=endless")
		signalled(t, c, 3)
	})
}

// signalled starts a command, interrupts the process of rank 1 when all ranks are
// at work, and looks at how they end.
func signalled(t *testing.T, c *exec.Cmd, ranks int) {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ends := map[string]int{}
	working, target := 0, 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var rank, pid int
		if _, err := fmt.Sscanf(lines.Text(), "process %d %d", &rank, &pid); err != nil {
			ends[lines.Text()]++
			continue
		}
		if working++; rank == 1 {
			target = pid
		}
		if working == ranks {
			p, err := os.FindProcess(target)
			if err == nil {
				err = p.Signal(os.Interrupt)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	err = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 128+int(syscall.SIGINT) {
		t.Errorf("exit code %d (%v), want %d", code, err, 128+int(syscall.SIGINT))
	}
	for line, n := range ends {
		if len(ends) != 1 || n != ranks || !strings.HasPrefix(line, "ended stopped ") {
			t.Errorf("the ranks ended with %v, want all stopped at one iteration", ends)
		}
	}
	if len(ends) == 0 {
		t.Error("no rank has ended")
	}
}

// The second signal ends a program that does not ask.
func TestSecondSignalEndsTheRun(t *testing.T) {
	c := child(t, "deaf", "GOLOPS_RANKS=1")
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	if bufio.NewScanner(out).Scan() { // it listens
		go func() { ended <- c.Wait() }()
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-tick.C:
			_ = c.Process.Signal(os.Interrupt) // it may have ended meanwhile
		case <-ended:
			running = false
		}
	}
	said := stderr.String()
	if code := c.ProcessState.ExitCode(); code != 128+int(syscall.SIGINT) || !strings.Contains(said, "Ctrl-C again stops now") || !strings.Contains(said, "stopped by a signal") {
		t.Errorf("exit code %d, it said %q", code, said)
	}
}
