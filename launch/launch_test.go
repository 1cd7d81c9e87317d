package launch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/trace"
)

// programs are run by goroutine ranks and by MPI ranks. Each prints or fails in a way that
// the tests look for.
var programs = map[string]launch.Program{
	"sum": func(ctx context.Context, c dist.Proc) error {
		x := []int64{int64(c.Rank() + 1)}
		r := trace.Begin(ctx, "sum")
		defer r.End()
		r.Mark("Begin all_reduce")
		err := c.AllReduce(ctx, comm.Of(x), comm.Of(x), comm.Sum)
		r.Mark("Finish all_reduce")
		if want := int64(c.Size() * (c.Size() + 1) / 2); err == nil && x[0] != want {
			return fmt.Errorf("sum is %d, want %d", x[0], want)
		}
		return err
	},
	"error": func(ctx context.Context, c dist.Proc) error {
		if c.Rank() == 2 {
			return errors.New("boom")
		}
		return c.Barrier(ctx)
	},
	"panic": func(ctx context.Context, c dist.Proc) error {
		if c.Rank() == 2 {
			var p *int
			*p = 1 // a library that handles SIGSEGV would end the process
		}
		return c.Barrier(ctx)
	},
	"abort": func(ctx context.Context, c dist.Proc) error {
		if c.Rank() == 2 {
			c.Abort(errors.New("boom"))
		}
		return c.Recv(ctx, comm.Of(make([]byte, 1)), (c.Rank()+1)%c.Size())
	},
	"mismatch": func(ctx context.Context, c dist.Proc) error {
		x := comm.Of([]float32{1})
		if c.Rank() == 2 {
			return c.Broadcast(ctx, x, 1)
		}
		return c.AllReduce(ctx, x, x, comm.Sum)
	},
	"late": func(ctx context.Context, c dist.Proc) error { // fails when the others have finished
		if c.Rank() != 2 {
			return nil
		}
		return errors.New("boom")
	},
	"loop": func(ctx context.Context, c dist.Proc) error {
		fmt.Printf("rank %d pid %d\n", c.Rank(), os.Getpid())
		x := comm.Of(make([]float32, 1000))
		for {
			if err := c.AllReduce(ctx, x, x, comm.Max); err != nil {
				return err
			}
		}
	},
	"goexit": func(ctx context.Context, c dist.Proc) error {
		if c.Rank() == 2 {
			runtime.Goexit()
		}
		return c.Barrier(ctx)
	},
	"usage": func(ctx context.Context, c dist.Proc) error { // only rank 2 fails
		var err error
		if c.Rank() == 2 {
			err = errors.New("no such file")
		}
		if err := comm.Agree(ctx, c.Comm, err); err != nil {
			return &launch.UsageError{Err: err}
		}
		return nil
	},
	"gpu": onGPUs,
	"wait": func(ctx context.Context, c dist.Proc) error {
		if c.Rank() == 2 {
			<-ctx.Done()
			return nil
		}
		return c.Barrier(ctx)
	},
}

const (
	childVar   = "GOLOPS_TEST_CHILD"
	timeoutVar = "GOLOPS_TEST_TIMEOUT"
	gpuVar     = "GOLOPS_TEST_GPU" // device, communicator and "share", with commas between them
)

func config() launch.Config {
	t, _ := time.ParseDuration(os.Getenv(timeoutVar))
	c := launch.Config{Checked: true, Timeout: t, Log: slog.New(slog.DiscardHandler)}
	if gpu := strings.Split(os.Getenv(gpuVar), ","); len(gpu) == 3 {
		c.Device, c.Comm, c.ShareGPU = gpu[0], gpu[1], gpu[2] == "share"
		c.Log = slog.New(slog.NewTextHandler(os.Stdout, nil))
	}
	return c
}

// TestMain lets a copy of this program, started by mpirun, be a rank.
func TestMain(m *testing.M) {
	name := os.Getenv(childVar)
	if name == "" {
		os.Exit(m.Run())
	}
	err := config().World(context.Background(), func(ctx context.Context, c dist.Proc) error {
		defer func() {
			if p := recover(); p != nil {
				fmt.Fprintf(os.Stderr, "ERROR rank %d: %v\n", c.Rank(), p)
				panic(p)
			}
		}()
		err := programs[name](ctx, c)
		if err != nil {
			fmt.Fprintf(os.Stderr, "ERROR rank %d: %v\n", c.Rank(), err)
		}
		return err
	})
	if err != nil {
		// A rank whose program ended long before sees the failure only here.
		fmt.Fprintln(os.Stderr, "FAILED", err)
		if u := new(launch.UsageError); errors.As(err, &u) {
			fmt.Fprintln(os.Stderr, "USAGE", err)
			os.Exit(2)
		}
		os.Exit(1)
	}
}

var main = []string{"openmpi", "mpich"}

// either returns the libraries of a test that does the same with each of them. make soak
// takes both.
func either(name string) []string { return soak.Or([]string{name}, main) }

func TestSumBothWays(t *testing.T) {
	for _, n := range []int{1, 2, 4, 7} {
		if err := (launch.Config{Ranks: n}).Local(t.Context(), programs["sum"]); err != nil {
			t.Errorf("%d goroutine ranks: %v", n, err)
		}
	}
	mpirun.Each(t, main, func(t *testing.T, m mpirun.MPI) {
		if out, err := run(t, m, 3, "sum"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

func run(t *testing.T, m mpirun.MPI, n int, child string, env ...string) (string, error) {
	t.Helper()
	c := m.Command(t.Context(), n, os.Args[0])
	c.Env = append(append(c.Env, childVar+"="+child), env...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.String(), err
}

// TestFaultsBothWays lets rank 2 of 4 fail. Every rank ends with the cause.
func TestFaultsBothWays(t *testing.T) {
	for name, want := range map[string][]string{
		"error":    {"rank 2", "boom"},
		"panic":    {"rank 2", "nil pointer"},
		"abort":    {"rank 2", "boom"},
		"mismatch": {"rank 0 is in AllReduce(sum, 1 float32)", "rank 2 is in Broadcast(1 float32, root 1)"},
		"late":     {"rank 2", "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			err := launch.Config{Ranks: 4}.Local(t.Context(), programs[name])
			for _, w := range want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("goroutines: %v, want it to say %q", err, w)
				}
			}
			mpirun.Each(t, main, func(t *testing.T, m mpirun.MPI) {
				out, err := run(t, m, 4, name)
				if err == nil {
					t.Errorf("mpirun ended without an error")
				}
				ranks, word := 0, "ERROR "
				if name == "late" {
					word = "FAILED "
					ranks = 3 // the launcher may end the other three before they speak
				}
				for part := range strings.SplitSeq(out, word) {
					all := true
					for _, w := range want {
						all = all && strings.Contains(part, w)
					}
					if all {
						ranks++
					}
				}
				// On busy cores MPICH's launcher may kill ranks before they speak.
				killed := m.Name == "mpich" && strings.Contains(out, "EXIT CODE: 9")
				if ranks < 4 && !(killed && ranks > 0) {
					t.Errorf("%d of 4 ranks say %q\n%s", ranks, want, out)
				}
			})
		})
	}
}

// TestKill kills one MPI rank of four. The rest must end with a code other
// than 0 and a message; the log shows how soon.
func TestKill(t *testing.T) {
	mpirun.Each(t, main, func(t *testing.T, m mpirun.MPI) {
		c := m.Command(t.Context(), 4, os.Args[0])
		c.Env = append(c.Env, childVar+"=loop")
		out := &watcher{found: make(chan int, 4)}
		c.Stdout, c.Stderr = out, out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		victim := 0
		for range 4 { // all ranks are in their loops, and one is to die
			victim = <-out.found
		}
		killed := time.Now()
		p, err := os.FindProcess(victim)
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err == nil {
			t.Error("mpirun ended without an error")
		}
		t.Logf("all ranks ended %v after one was killed", time.Since(killed).Round(time.Millisecond))
		if text := out.text.String(); !strings.Contains(text, "signal 9") && !strings.Contains(text, "EXIT CODE: 9") && !strings.Contains(text, "KILLED") {
			t.Errorf("no message about the death of a rank:\n%s", text)
		}
	})
}

// watcher keeps output and finds process numbers in it.
type watcher struct {
	text  bytes.Buffer // not embedded: its ReadFrom would pass Write by
	at    int
	found chan int
}

func (w *watcher) Write(p []byte) (int, error) {
	w.text.Write(p)
	for {
		line, _, ok := bytes.Cut(w.text.Bytes()[w.at:], []byte("\n"))
		if !ok {
			return len(p), nil
		}
		w.at += len(line) + 1
		if _, pid, ok := strings.Cut(string(line), " pid "); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(pid)); err == nil {
				w.found <- n
			}
		}
	}
}

// TestTimeoutUnderMPI lets ranks wait for one that never comes.
func TestTimeoutUnderMPI(t *testing.T) {
	mpirun.Each(t, either("mpich"), func(t *testing.T, m mpirun.MPI) {
		out, err := run(t, m, 3, "wait", timeoutVar+"=200ms")
		if err == nil || !strings.Contains(out, "waited 200ms in") {
			t.Errorf("%v, want a timeout\n%s", err, out)
		}
	})
}

// TestGoexit lets rank 2 of 4 end the way t.Fatal does.
func TestGoexit(t *testing.T) {
	err := launch.Config{Ranks: 4}.Local(t.Context(), programs["goexit"])
	if err == nil || !strings.Contains(err.Error(), "rank 2") || !strings.Contains(err.Error(), "runtime.Goexit") {
		t.Errorf("goroutines: %v, want it to say what rank 2 did", err)
	}
	mpirun.Each(t, either("mpich"), func(t *testing.T, m mpirun.MPI) {
		out, err := run(t, m, 4, "goexit")
		if err == nil || strings.Count(out, "aborted by rank 2: the program of this rank ended in runtime.Goexit") < 3 {
			t.Errorf("%v, want the reason of three ranks\n%s", err, out)
		}
	})
}

// TestUsageIsAgreed has a fault on one rank, which ends all ranks with code 2.
func TestUsageIsAgreed(t *testing.T) {
	mpirun.Each(t, either("openmpi"), func(t *testing.T, m mpirun.MPI) {
		out, err := run(t, m, 3, "usage")
		var exit *exec.ExitError // launchers may end the others once the first has ended with 2
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || strings.Count(out, "ERROR ") != 3 || !strings.Contains(out, "USAGE") {
			t.Errorf("%v, want code 2 and the fault on three ranks\n%s", err, out)
		}
	})
}

// TestTimeoutVariable sets the timeout from outside.
func TestTimeoutVariable(t *testing.T) {
	wait := func(ctx context.Context, c dist.Proc) error {
		if c.Rank() == 1 {
			<-ctx.Done()
			return nil
		}
		return c.Barrier(ctx)
	}
	t.Setenv(launch.TimeoutVar, "150ms")
	if err := (launch.Config{Ranks: 2}).Local(t.Context(), wait); err == nil || !strings.Contains(err.Error(), "waited 150ms in Barrier") {
		t.Errorf("got %v, want the timeout of the variable", err)
	}
	err := launch.Config{Ranks: 2, Timeout: 100 * time.Millisecond}.Local(t.Context(), wait)
	if err == nil || !strings.Contains(err.Error(), "waited 100ms in Barrier") {
		t.Errorf("got %v, want the timeout of the Config", err)
	}
	for _, bad := range []string{"soon", "5", "-3s"} {
		t.Setenv(launch.TimeoutVar, bad)
		var u *launch.UsageError
		if err := (launch.Config{Ranks: 1}).Local(t.Context(), wait); !errors.As(err, &u) || !strings.Contains(err.Error(), launch.TimeoutVar+"="+bad) {
			t.Errorf("%s: got %v, want a *UsageError", bad, err)
		}
	}
}

// TestTooManyRanks asks for more goroutine ranks than the machine has memory for.
func TestTooManyRanks(t *testing.T) {
	for _, n := range []int{10000000, math.MaxInt} {
		var u *launch.UsageError
		if err := (launch.Config{Ranks: n}).Local(t.Context(), programs["sum"]); !errors.As(err, &u) || !strings.Contains(err.Error(), fmt.Sprint(n)) {
			t.Errorf("%d ranks: got %v, want a *UsageError", n, err)
		}
	}
}

// TestWrongLibrary starts ranks with one MPI's launcher and another's library.
func TestWrongLibrary(t *testing.T) {
	var paths = map[string]string{}
	for _, l := range launch.Libraries() {
		paths[l.Name] = l.Path
	}
	for launcher, library := range map[string]string{"mpich": paths["Open MPI"], "openmpi": paths["MPICH"]} {
		mpirun.Each(t, []string{launcher}, func(t *testing.T, m mpirun.MPI) {
			if library == "" {
				t.Skip("only one MPI here: make test installs two")
			}
			out, err := run(t, m, 2, "sum", "GOLOPS_MPI="+library)
			if err == nil || !strings.Contains(out, "belongs to another MPI than the launcher") {
				t.Errorf("%v, want an explanation\n%s", err, out)
			}
			out, err = run(t, m, 2, "sum", "GOLOPS_MPI=/no/such/libmpi.so")
			if err == nil || !strings.Contains(out, "GOLOPS_MPI=/no/such/libmpi.so") {
				t.Errorf("%v, want the name of the file\n%s", err, out)
			}
		})
	}
}

// TestWorldAlone runs without a launcher: one rank, and the log says so.
func TestWorldAlone(t *testing.T) {
	if launch.Launched() {
		t.Fatal("this test runs under a launcher")
	}
	var log bytes.Buffer
	c := launch.Config{Log: slog.New(slog.NewTextHandler(&log, nil))}
	err := c.World(t.Context(), func(ctx context.Context, c dist.Proc) error {
		if c.Size() != 1 {
			return fmt.Errorf("%d ranks", c.Size())
		}
		return nil
	})
	if err != nil || !strings.Contains(log.String(), "one rank") {
		t.Errorf("%v, log %q", err, log.String())
	}
}

func TestBadConfig(t *testing.T) {
	for _, err := range []error{
		launch.Config{Ranks: -1}.Local(t.Context(), programs["sum"]),
		launch.Config{Timeout: -1}.World(t.Context(), programs["sum"]),
		launch.Config{Ranks: -1}.Run(t.Context(), programs["sum"]),
	} {
		if err == nil {
			t.Error("no error")
		}
	}
	t.Setenv("GOLOPS_TRACE", "maybe")
	if err := (launch.Config{Ranks: 1}).Local(t.Context(), programs["sum"]); err == nil || !strings.Contains(err.Error(), "maybe") {
		t.Errorf("%v, want an error that names the value", err)
	}
}

// TestTrace looks for one track per rank, both ways, and for what a failed run
// leaves behind.
func TestTrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.json")
	t.Setenv("GOLOPS_TRACE", file)
	if err := config().Local(t.Context(), programs["sum"]); err != nil {
		t.Fatal(err)
	}
	if err := (launch.Config{Ranks: 3}).Local(t.Context(), programs["sum"]); err != nil {
		t.Fatal(err)
	}
	tracks(t, file, 3)
	if err := (launch.Config{Ranks: 4}).Local(t.Context(), programs["error"]); err == nil {
		t.Error("no error")
	}
	tracks(t, file, 4)
	mpirun.Each(t, either("openmpi"), func(t *testing.T, m mpirun.MPI) {
		if out, err := run(t, m, 2, "sum"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		tracks(t, file, 2)
	})
	t.Setenv("GOLOPS_TRACE", "tree")
	var text bytes.Buffer
	if err := (launch.Config{Ranks: 2, Trace: &text}).Local(t.Context(), programs["sum"]); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "Begin all_reduce-->Finish all_reduce") {
		t.Errorf("tree:\n%s", &text)
	}
}

func tracks(t *testing.T, file string, want int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		TraceEvents []struct {
			Name string
			Ph   string
			Tid  int
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	named := map[int]bool{}
	for _, e := range doc.TraceEvents {
		if e.Ph == "M" && e.Name == "thread_name" {
			named[e.Tid] = true
		}
	}
	if len(named) != want {
		t.Errorf("%d tracks, want %d", len(named), want)
	}
}

func TestLibraries(t *testing.T) {
	libs := launch.Libraries()
	for _, p := range launch.Platforms() {
		libs = append(libs, p.Libraries...)
		if len(p.Libraries) != 5 {
			t.Errorf("%s has %d libraries, want driver, compiler, BLAS, FFT and communicator", p.Name, len(p.Libraries))
		}
	}
	for _, l := range libs {
		if (l.Path == "") == (l.Missing == "") || l.Missing != "" && l.Hint == "" {
			t.Errorf("%+v: want a path, or why not and what to install", l)
		}
	}
}
