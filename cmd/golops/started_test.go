package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golops/golops/internal/mpirun"
)

// Surveys whose travel times take long, or whose data and adjoint take a while.
const (
	slowTimes = `
grid: {nx: 801, nz: 601}
acquisition:
  sources: {number: 20, first: 50, last: 7950}
  receivers: {number: 60, first: 0, last: 8000}
`
	slowData = `
grid: {nx: 201, nz: 151}
acquisition:
  sources: {number: 60, first: 50, last: 1950}
  receivers: {number: 60, first: 0, last: 2000}
operator: {dynamic: false}
`
)

// long is a survey whose iterations are short and many.
const long = `
grid: {nx: 61, nz: 41}
acquisition:
  sources: {number: 7, first: 50, last: 550}
  receivers: {number: 15, first: 0, last: 600}
time: {samples: 251}
wavelet: {half: 30}
solver: {iterations: 1000000, tolerance: 0}
checkpoint: {every: 1}
`

// started is the command in a child process, or under mpirun.
type started struct {
	*exec.Cmd
	t      *testing.T
	name   string // of its folder, by which its ranks are found
	stdout bytes.Buffer
	stderr *bufio.Scanner
	said   []string // on standard error so far
}

// begin starts the command, on two ranks under m unless that is nil.
func begin(t *testing.T, m *mpirun.MPI, args ...string) *started {
	t.Helper()
	c := &started{t: t, name: t.TempDir()}
	if m != nil {
		c.Cmd = m.Command(t.Context(), 2, os.Args[0], args...)
	} else {
		c.Cmd = exec.CommandContext(t.Context(), os.Args[0], args...)
	}
	c.launch()
	return c
}

// launch starts the process.
func (c *started) launch() {
	c.t.Helper()
	if c.Env == nil {
		c.Env = os.Environ()
	}
	c.Env = append(c.Env, childVar+"="+c.name)
	c.Stdout = &c.stdout
	pipe, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.stderr = bufio.NewScanner(pipe)
}

// hearSIGHUP lets processes that a test starts hear SIGHUP also where the tests
// themselves run under nohup: a signal that is ignored stays so in children.
func hearSIGHUP(t *testing.T) {
	if !signal.Ignored(syscall.SIGHUP) {
		return
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	t.Cleanup(func() { signal.Ignore(syscall.SIGHUP) })
}

// await reads standard error until a line has the text.
func (c *started) await(text string) {
	c.t.Helper()
	for c.stderr.Scan() {
		c.said = append(c.said, c.stderr.Text())
		if strings.Contains(c.stderr.Text(), text) {
			return
		}
	}
	c.Wait()
	c.t.Fatalf("%v: it ended before it said %q:\n%s", c.ProcessState, text, strings.Join(c.said, "\n"))
}

// iterating waits until iterations are being made.
func (c *started) iterating(state string) {
	c.t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for range look.C {
		if names, _ := filepath.Glob(filepath.Join(state, "*.checkpoint")); len(names) > 0 {
			return
		}
		if c.t.Context().Err() != nil || c.Process.Signal(syscall.Signal(0)) != nil {
			c.t.Fatal("it ended before the first checkpoint")
		}
	}
}

// end waits and returns the exit code.
func (c *started) end() int {
	c.t.Helper()
	for c.stderr.Scan() {
		c.said = append(c.said, c.stderr.Text())
	}
	c.Wait()
	return c.ProcessState.ExitCode()
}

// times counts the lines of standard error that are exactly this.
func (c *started) times(line string) (n int) {
	for _, s := range c.said {
		if s == line {
			n++
		}
	}
	return n
}

// rank returns the process of a rank.
func (c *started) rank(n int) *os.Process {
	c.t.Helper()
	p := c.find(n)
	if p == nil {
		c.t.Fatalf("there is no process of rank %d", n)
	}
	return p
}

// find looks for the process of a rank.
func (c *started) find(n int) *os.Process {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		env := strings.Split(string(b), "\x00")
		is := func(name string) bool { return slices.Contains(env, fmt.Sprintf("%s=%d", name, n)) }
		exe, _ := os.Readlink(filepath.Join(filepath.Dir(f), "exe"))
		if slices.Contains(env, childVar+"="+c.name) && (is("OMPI_COMM_WORLD_RANK") || is("PMI_RANK")) && exe == os.Args[0] {
			var pid int
			fmt.Sscan(filepath.Base(filepath.Dir(f)), &pid)
			if p, err := os.FindProcess(pid); err == nil {
				return p
			}
		}
	}
	return nil
}

// older makes a folder with an older image, and returns a check that nothing
// has touched it.
func older(t *testing.T) (out string, check func()) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(out, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "inverse.npy"), []byte("older"), 0o666); err != nil {
		t.Fatal(err)
	}
	return out, func() {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(out, "inverse.npy"))
		if string(b) != "older" {
			t.Errorf("the older image is %q, %v", b, err)
		}
		names, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "[^.]*")) // the next run removes what is hidden
		if len(names) != 1 {
			t.Errorf("beside it are %v", names)
		}
	}
}

const (
	nothingYet = "stopping: nothing has been computed yet"
	afterThis  = "stopping after this iteration; Ctrl-C again stops now"
)
