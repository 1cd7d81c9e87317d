package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/perf"
	"github.com/golops/golops/scalar"
)

// golops runs the command in process.
func golops(ctx context.Context, args string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = newTool(&out, &err).run(ctx, strings.Fields(args))
	return code, out.String(), err.String()
}

func TestUsage(t *testing.T) {
	for _, tc := range []struct {
		args string
		want string // part of the one line
	}{
		{"nonsense", `unknown command "nonsense"`},
		{"--nonsense", "unknown flag: --nonsense"},
		{"info extra", `takes no argument "extra"`},
		{"perf", "no operation: name one of all_reduce, all_gather"},
		{"perf allreduce", `unknown operation "allreduce" (did you mean all_reduce?): have all_reduce, all_gather, reduce_scatter, broadcast, reduce, gather, scatter, alltoall, alltoallv, sendrecv, put, get, accumulate, or all`},
		{"perf all_reduce --nonsense", "unknown flag: --nonsense"},
		{"perf all_reduce -n", "flag needs an argument: 'n' in -n"},
		{"perf all_reduce -n x", `invalid argument "x"`},
		{"perf all_reduce -n 0", "-n is 0, must be at least 1"},
		{"perf all_reduce --ranks 0", "--ranks is 0, must be at least 1"},
		{"perf all_reduce --ranks -3", "--ranks is -3, must be at least 1"},
		{"perf all_reduce -b 1M -e 1K", "smallest size (-b) 1 MB is larger than largest size (-e) 1 KB"},
		{"perf all_reduce -b 12Q", `-b: size "12Q" is not a number of bytes`},
		{"perf all_reduce -b 0", "-b is 0 bytes"},
		{"perf all_reduce -f 1", "factor (-f) is 1"},
		{"perf all_reduce -f 0", "-f is 0"},
		{"perf all_reduce -f 2 -i 8", "exclude each other"},
		{"perf all_reduce -i 0", "-i is 0 bytes"},
		{"perf all_reduce -w -1", "-w is -1"},
		{"perf all_reduce -c 2", "-c is 2, must be 0 or 1"},
		{"perf all_reduce -a 4", "-a is 4"},
		{"perf all_reduce -R 3", "-R is 3, must be 0, 1 or 2"},
		{"perf all_reduce -R 1", "registration (-R) is of GPU memory with NCCL"},
		{"perf broadcast -r 4 --ranks 4", "root (-r) is 4, must be from 0 to 3"},
		{"perf broadcast -r -1", "root (-r) is -1"},
		{"perf all_reduce -o mean", `unknown reduction "mean"`},
		{"perf all_reduce -d quarter", `unknown element type "quarter"`},
		{"perf all_reduce -o min -d complex64", "min of complex64 makes no sense, complex numbers have no order"},
		{"perf all_reduce --algo fast", `unknown algorithm "fast"`},
		{"perf all_reduce --algo native", "communicator local has no algorithm native"},
		{"perf all_reduce --comm xmpi", `unknown communicator "xmpi": have local, mpi, nccl`},
		{"perf all_reduce --comm nccl", "communicator nccl needs GPU memory: set the device to cuda, hip or gpu"},
		{"perf all_reduce --device abacus", `unknown device "abacus"`},
		{"perf all_reduce --share-gpu", "GPUs are shared, but the device is the host"},
		{"perf all_reduce --device cuda --algo ring", "algorithms are for host memory"},
		{"perf all_reduce --comm mpi", "needs a launcher: run mpirun -n 4 golops perf all_reduce"},
		{"perf all_reduce --plot a.pdf", "must end in .svg or .png"},
		{"perf all_reduce --json /nowhere/at/all.json", "there is no folder /nowhere/at"},
		{"perf kernels --device abacus", `unknown device "abacus": have cpu, cuda, hip, gpu`},
		{"perf kernels -d int32", "not with int32"},
		{"perf kernels --shrink 0", "shrink is 0"},
		{"perf kernels --shrink 99", "shrink is 99, must be from 1 to 32"},
		{"perf kernels --csv /nowhere/at/all.csv", "there is no folder /nowhere/at"},
		{"perf kernels extra", `takes no argument "extra"`},
		{"perf all_reduce -n 0 -c 7", "-n is 0, must be at least 1; -c is 7"},
	} {
		t.Run(tc.args, func(t *testing.T) {
			code, stdout, stderr := golops(t.Context(), tc.args)
			if code != 2 || stdout != "" {
				t.Errorf("got exit code %d and output %q, want 2 and none", code, stdout)
			}
			if !strings.HasPrefix(stderr, "golops: ") || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, tc.want) {
				t.Errorf("got %q, want one line with %q", stderr, tc.want)
			}
		})
	}
}

func TestPerf(t *testing.T) {
	for _, tc := range []struct {
		args         string
		tables, rows int
	}{
		{"perf all_reduce --ranks 2 -b 8 -e 64 -f 2 -n 2 -w 0", 1, 4},
		{"perf all_reduce --ranks 2 -b 8 -e 32 -i 8 -n 2 -a 3", 1, 4},
		{"perf all --ranks 3 -b 64 -e 64 -n 2 -r 2", 13, 13},
		{"perf put get --ranks 2 -b 8 -e 8 -n 2 -d double -c 0", 2, 2},
		{"perf put accumulate --mode messages,onesided --ranks 2 -b 8 -e 8 -n 2", 4, 4},
		{"perf all_reduce --ranks 2 -b 8 -e 8 -n 2 --algo direct,ring,tree", 3, 3},
		{"perf all_reduce --ranks 2 -b 16 -e 16 -n 2 -o all -d all", 1, 41},
		{"perf all_reduce --ranks 2 -b 16 -e 16 -n 2 -d half", 1, 1},
		{"perf sendrecv --ranks 2 -b 16 -e 16 -n 2 -d bfloat16", 1, 1},
	} {
		t.Run(tc.args, func(t *testing.T) {
			code, stdout, stderr := golops(t.Context(), tc.args)
			if code != 0 || stderr != "" {
				t.Fatalf("got exit code %d and %q", code, stderr)
			}
			rows := 0
			for line := range strings.Lines(stdout) {
				if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
					rows++
				}
			}
			if tables := strings.Count(stdout, "# Avg bus bandwidth"); tables != tc.tables || rows != tc.rows {
				t.Errorf("got %d tables and %d rows, want %d and %d:\n%s", tables, rows, tc.tables, tc.rows, stdout)
			}
		})
	}
}

func TestPerfFiles(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	args := "perf all_reduce --ranks 2 -e 1K -n 2 --algo ring,tree --json " + in("a.json") + " --csv " + in("a.csv")
	for _, plot := range []string{in("a.svg"), in("a.png")} {
		if code, _, stderr := golops(t.Context(), args+" --plot "+plot); code != 0 {
			t.Fatalf("got exit code %d and %q", code, stderr)
		}
	}
	f, err := os.Open(in("a.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	report, err := perf.ReadJSON(f)
	if err != nil || len(report.Tables) != 2 || report.Machine.CPU == "" || report.Version != fullVersion() || report.Command[1] != "perf" || len(report.Units) == 0 {
		t.Errorf("got %+v, %v", report, err)
	}
	p, err := os.Open(in("a.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := png.Decode(p); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(in("a.svg")); err != nil || !bytes.Contains(text, []byte("</svg>")) {
		t.Errorf("the SVG is cut off: %v", err)
	}
	if text, err := os.ReadFile(in("a.csv")); err != nil || bytes.Count(text, []byte("\n")) != 1+2*8 {
		t.Errorf("the CSV has %d lines: %v", bytes.Count(text, []byte("\n")), err)
	}
}

// corrupt changes one element of each float32 AllReduce on rank 1.
type corrupt struct{ driver.Conn }

func (c corrupt) Do(ctx context.Context, q *driver.Call) error {
	err := c.Conn.Do(ctx, q)
	if err == nil && q.Kind == driver.KindAllReduce && q.DType == scalar.Float32 && c.Info().Rank == 1 {
		comm.As[float32](q.Dst)[q.Dst.N/2]++
	}
	return err
}

func TestWrongDataFails(t *testing.T) {
	var out, err bytes.Buffer
	a := newTool(&out, &err)
	a.wrap = func(c *comm.Comm) *comm.Comm { return comm.New(corrupt{c.Conn()}) }
	code := a.run(t.Context(), strings.Fields("perf all_reduce --ranks 3 -b 64 -e 128 -n 1"))
	if want := "golops: 4 wrong values, see #wrong\n"; code != 1 || err.String() != want {
		t.Errorf("got exit code %d and %q, want 1 and %q", code, err.String(), want)
	}
	if !strings.Contains(out.String(), "# Out of bounds values : 4 FAILED") {
		t.Errorf("got\n%s", &out)
	}
}

// broken fails on one rank.
type broken struct{ driver.Conn }

func (c broken) Do(ctx context.Context, q *driver.Call) error {
	if q.Kind == driver.KindAllGather && c.Info().Rank == 1 {
		return os.ErrDeadlineExceeded
	}
	return c.Conn.Do(ctx, q)
}

func TestRankError(t *testing.T) {
	var out, err bytes.Buffer
	a := newTool(&out, &err)
	a.wrap = func(c *comm.Comm) *comm.Comm { return comm.New(broken{c.Conn()}) }
	code := a.run(t.Context(), strings.Fields("perf all_gather --ranks 2"))
	if got := err.String(); code != 1 || !strings.HasPrefix(got, "golops: rank 1: perf: all_gather of 8 B of float32: ") {
		t.Errorf("got exit code %d and %q", code, got)
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(app.StopError{Signal: syscall.SIGTERM})
	code, _, stderr := golops(ctx, "perf all_reduce --ranks 2")
	if code != 143 || stderr != "golops: stopped by SIGTERM\n" {
		t.Errorf("got exit code %d and %q", code, stderr)
	}
}

func TestTrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.json")
	t.Setenv("GOLOPS_TRACE", file)
	if code, _, stderr := golops(t.Context(), "perf all_reduce --ranks 2 -e 16 -n 1"); code != 0 || stderr != "" {
		t.Fatalf("got exit code %d and %q", code, stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil || !json.Valid(data) {
		t.Fatalf("no valid trace: %v", err)
	}
	if n := bytes.Count(data, []byte("all_reduce float32 16 B")); n < 2 {
		t.Errorf("a region is there %d times, want one for each rank", n)
	}
}

func TestVersion(t *testing.T) {
	for _, args := range []string{"version", "--version"} {
		code, stdout, stderr := golops(t.Context(), args)
		if code != 0 || !strings.HasPrefix(stdout, "golops 0.") || stderr != "" {
			t.Errorf("%s: got exit code %d, %q and %q", args, code, stdout, stderr)
		}
	}
	got := revision([]debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}})
	if got != " (0123456789ab, changed since)" {
		t.Errorf("revision is %q", got)
	}
}

func TestInfo(t *testing.T) {
	code, stdout, _ := golops(t.Context(), "info --quick")
	if code != 0 || !strings.Contains(stdout, "CPU") || !strings.Contains(stdout, "SIMD") {
		t.Errorf("got exit code %d and\n%s", code, stdout)
	}
	code, stdout, _ = golops(t.Context(), "info --quick --json")
	var i info
	if err := json.Unmarshal([]byte(stdout), &i); code != 0 || err != nil || i.Machine.CPU == "" {
		t.Errorf("got exit code %d and %+v, %v", code, i, err)
	}
	for _, l := range i.Libraries {
		if l.Found == (l.Missing != "") || l.Name == "" {
			t.Errorf("got %+v", l)
		}
	}
}

func TestHelpNamesCommands(t *testing.T) {
	_, stdout, _ := golops(t.Context(), "--help")
	for _, name := range []string{"lsm", "mdd", "view", "perf", "info", "version"} {
		if !strings.Contains(stdout, "\n  "+name+" ") {
			t.Errorf("help has no %s:\n%s", name, stdout)
		}
	}
	if strings.Contains(stdout, "completion") {
		t.Errorf("help names what is not for users:\n%s", stdout)
	}
}
