package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golops/golops/data"
	"github.com/golops/golops/internal/soak"
)

// Runs are killed at random moments, from the start of the process to the last
// file. After each kill the older results are whole, wherever they are, and a
// resumed run ends with the very image of a run that nobody disturbed.
func TestKilledAnywhere(t *testing.T) {
	t.Run("lsm", func(t *testing.T) {
		killAnywhere(t, soak.Or(3, 60), "lsm", "inverse.npy", `
grid: {nx: 21, nz: 15}
acquisition:
  sources: {number: 3, first: 50, last: 150}
  receivers: {number: 5, first: 0, last: 200}
time: {samples: 101}
wavelet: {half: 20}
`)
	})
	for _, a := range disturbed {
		t.Run(a.name, func(t *testing.T) { killAnywhere(t, soak.Or(1, 20), a.name, a.array, a.config) })
	}
}

func killAnywhere(t *testing.T, kills int, name, image, survey string) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	survey += "checkpoint: {every: 1}\n"
	before, after := config(t, survey+"solver: {iterations: 3, tolerance: 0}\n"), config(t, survey+"solver: {iterations: 20, tolerance: 0}\n")
	dir := t.TempDir()
	finish := func(cfg, out string, more ...string) {
		t.Helper()
		args := fmt.Sprintf("%s --quiet --ranks 2 --config %s --out %s %s", name, cfg, out, strings.Join(more, " "))
		if code, stdout, stderr := golops(t.Context(), args); code != 0 {
			t.Fatalf("seed %d: %s: exit code %d: %s%s", seed, args, code, stdout, stderr)
		}
	}
	finish(before, filepath.Join(dir, "older"))
	finish(after, filepath.Join(dir, "newer"))
	older, newer := contents(t, filepath.Join(dir, "older")), contents(t, filepath.Join(dir, "newer"))

	// The time of a whole run in a child process says when to kill.
	start := time.Now()
	whole := child(t, name, "--quiet", "--ranks", "2", "--config", after, "--out", filepath.Join(dir, "timed"), "--checkpoint", filepath.Join(dir, "timed-state"))
	if err := whole.Run(); err != nil {
		t.Fatal(err)
	}
	takes := time.Since(start)

	killed, at := 0, map[string]int{}
	for round := 0; killed < kills; round++ { // a run may end before it is killed
		here := filepath.Join(dir, fmt.Sprint(round))
		out, state := filepath.Join(here, "out"), filepath.Join(here, "state")
		if err := os.CopyFS(out, os.DirFS(filepath.Join(dir, "older"))); err != nil {
			t.Fatal(err)
		}
		c := child(t, name, "--ranks", "2", "--config", after, "--out", out, "--checkpoint", state, "--resume")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		wait := time.Duration(rnd.Int64N(int64(takes)))
		<-time.After(wait)
		_ = c.Process.Signal(syscall.SIGKILL)
		if err := c.Wait(); err != nil {
			killed++
		}
		states, _ := filepath.Glob(filepath.Join(state, "*.checkpoint"))
		partial, _ := filepath.Glob(filepath.Join(here, ".golops-out.partial-*", "*"))
		switch {
		case len(partial) > 0:
			at["writing results"]++
		case len(states) > 0:
			at["inverting or done"]++
		default:
			at["before"]++
		}
		check := func(when string) {
			t.Helper()
			if bad := lost(t, here, older, newer); bad != "" {
				t.Fatalf("seed %d, round %d, %v after the start, %s: %s", seed, round, wait, when, bad)
			}
		}
		check("killed")
		finish(after, out, "--checkpoint", state, "--resume")
		check("resumed")
		if got := contents(t, out); got[image] != newer[image] {
			t.Fatalf("seed %d, round %d: the image differs", seed, round)
		}
		if err := os.RemoveAll(here); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d: %d runs were killed, within %v: %v", seed, killed, takes.Round(time.Millisecond), at)
}

// child is this program as the command.
func child(t *testing.T, args ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), childVar+"=1")
	return c
}

// contents returns the files of a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range all {
		files[e.Name()] = mustRead(t, filepath.Join(dir, e.Name()))
	}
	return files
}

// lost says what is damaged or missing in a folder in which a run was killed.
func lost(t *testing.T, dir string, older, newer map[string]string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, e := range all {
		if !e.IsDir() || e.Name() == "state" {
			continue
		}
		files, same := contents(t, filepath.Join(dir, e.Name())), 0
		for n, text := range files {
			if text == older[n] {
				same++
			}
			if !strings.HasSuffix(n, ".npy") || strings.HasPrefix(n, ".") {
				continue
			}
			if _, _, err := data.ReadNPY[float64](filepath.Join(dir, e.Name(), n)); err != nil || text != older[n] && text != newer[n] {
				return fmt.Sprintf("%s of %s is damaged: %v", n, e.Name(), err)
			}
		}
		if same == len(older) {
			kept++
		} else if !strings.HasPrefix(e.Name(), ".") && len(files) != len(newer) {
			return fmt.Sprintf("%s has only %d files", e.Name(), len(files))
		}
	}
	if kept != 1 {
		return fmt.Sprintf("%d folders have the older results: %v", kept, all)
	}
	return ""
}
