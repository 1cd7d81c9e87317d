package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// script is the peer. It needs CuPy, and no mpi4py.
const script = "perf/peer/py/nccl.py"

// iterations of a timed loop, the same on both sides.
func iterations(bytes int) int { return min(40, max(4, (128<<20)/bytes)) }

// loops are timed, of which the median counts.
const loops = 3

// allReduce is a rank of golops: it prints bytes and microseconds of one sum, out
// of place and waited for.
func (o options) allReduce(ctx context.Context, w io.Writer) error {
	c := launch.Config{Device: o.device, Comm: launch.NCCL, ShareGPU: true}
	return c.World(ctx, func(ctx context.Context, r dist.Proc) error {
		k, err := device.KernelsFor[float32](r.Device)
		if err != nil {
			return err
		}
		n := slices.Max(o.sizes) / 4
		x, err := k.Alloc(n)
		if err != nil {
			return err
		}
		y, err := k.Alloc(n)
		if err != nil {
			return err
		}
		k.Fill(x, 1)
		for _, bytes := range o.sizes {
			us, err := timeReduce(ctx, r, comm.OfMem(k.Slice(y, 0, bytes/4)), comm.OfMem(k.Slice(x, 0, bytes/4)))
			if err != nil {
				return err
			}
			if r.Rank() == 0 {
				fmt.Fprintln(w, bytes, us)
			}
		}
		last := make([]float32, 1)
		if err := k.CopyOut(last, k.Slice(y, n-1, n)); err != nil {
			return err
		}
		if last[0] != float32(r.Size()) {
			return fmt.Errorf("a sum of %d ones is %g", r.Size(), last[0])
		}
		return nil
	})
}

func timeReduce(ctx context.Context, r dist.Proc, dst, src comm.Buf) (float64, error) {
	sum := func(n int) error {
		for range n {
			if err := r.AllReduce(ctx, dst, src, comm.Sum); err != nil {
				return err
			}
		}
		return nil
	}
	if err := sum(3); err != nil {
		return 0, err
	}
	n := iterations(src.Bytes())
	var us []float64
	for range loops {
		if err := r.Barrier(ctx); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := sum(n); err != nil {
			return 0, err
		}
		us = append(us, 1e6*time.Since(start).Seconds()/float64(n))
	}
	return median(us), nil
}

// compare lets golops and Python take turns and prints a table of ratios.
func (o options) compare(ctx context.Context, w io.Writer) error {
	launcher, err := o.launcher()
	if err != nil {
		fmt.Fprintf(w, "\nno comparison of all_reduce: %v\n", err)
		return nil
	}
	if path, err := exec.LookPath(o.python); err == nil {
		o.python = path // launchers change the path, and so which interpreter a name means
	}
	where, err := exec.CommandContext(ctx, o.python, script, "--where").Output()
	if err != nil {
		fmt.Fprintf(w, "\nno comparison of all_reduce: %s %s --where: %v\n%s", o.python, script, err, stderrOf(err))
		return nil
	}
	library, version, _ := strings.Cut(strings.TrimSpace(string(where)), " ")
	fmt.Fprintf(w, "\nall_reduce, float32 sums out of place, ranks share one GPU; NCCL %s of Python, %s; %d turns\n\n", version, library, o.turns)
	fmt.Fprintln(w, "| ranks | bytes | golops us, median | Python us, median | ratio | golops us, best | Python us, best | ratio | within 3 % |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	for _, ranks := range []int{2, 4} {
		ours, theirs := map[int][]float64{}, map[int][]float64{}
		for turn := range o.turns {
			for _, who := range order(turn) {
				to, cmd := ours, []string{os.Args[0], "-child", "-device", o.device, "-sizes", o.sizesText()}
				if who == "Python" {
					to, cmd = theirs, []string{o.python, script, "--sizes", o.sizesText()}
				}
				got, err := o.turn(ctx, launcher, ranks, library, cmd)
				if err != nil {
					return fmt.Errorf("%s on %d ranks: %w", who, ranks, err)
				}
				for size, us := range got {
					to[size] = append(to[size], us)
				}
			}
		}
		for _, size := range o.sizes {
			a, b := median(ours[size]), median(theirs[size])
			c, d := slices.Min(ours[size]), slices.Min(theirs[size])
			holds := "yes"
			if min(a/b, c/d) > 1.03 {
				holds = "no"
			}
			fmt.Fprintf(w, "| %d | %d | %.1f | %.1f | %.3f | %.1f | %.1f | %.3f | %s |\n", ranks, size, a, b, a/b, c, d, c/d, holds)
		}
	}
	return nil
}

// order lets each go first in turn.
func order(turn int) []string {
	if turn%2 == 0 {
		return []string{"golops", "Python"}
	}
	return []string{"Python", "golops"}
}

func (o options) sizesText() string {
	var parts []string
	for _, s := range o.sizes {
		parts = append(parts, strconv.Itoa(s>>20))
	}
	return strings.Join(parts, ",")
}

// turn runs one side once and returns microseconds by bytes.
func (o options) turn(ctx context.Context, launcher []string, ranks int, library string, cmd []string) (map[int]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "golops-nccl-") // where the ranks of Python meet
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	args := append(slices.Concat(launcher[1:], []string{"-n", strconv.Itoa(ranks)}), cmd...)
	c := exec.CommandContext(ctx, launcher[0], args...)
	c.Env = append(os.Environ(), "GOLOPS_NCCL="+library, "NCCL_MEET="+filepath.Join(dir, "id"))
	var out, text bytes.Buffer
	c.Stdout, c.Stderr = &out, &text
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s%s", err, out.String(), text.String())
	}
	got := map[int]float64{}
	for line := range strings.Lines(out.String()) {
		var size int
		var us float64
		if n, _ := fmt.Sscan(line, &size, &us); n == 2 {
			got[size] = us
		}
	}
	if len(got) != len(o.sizes) {
		return nil, fmt.Errorf("%d sizes of %d in %q", len(got), len(o.sizes), out.String())
	}
	return got, nil
}

// launcher returns the start of a command line, with what Open MPI wants.
func (o options) launcher() ([]string, error) {
	names := []string{"mpirun", "mpiexec", "mpirun.openmpi"}
	if o.mpirun != "" {
		names = []string{o.mpirun}
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := exec.Command(path, "--version").CombinedOutput()
		if err != nil {
			continue
		}
		if strings.Contains(string(out), "Open MPI") || strings.Contains(string(out), "OpenRTE") {
			return []string{path, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"}, nil
		}
		return []string{path}, nil
	}
	return nil, fmt.Errorf("none of %s runs here", strings.Join(names, ", "))
}

func stderrOf(err error) string {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return string(e.Stderr)
	}
	return ""
}
