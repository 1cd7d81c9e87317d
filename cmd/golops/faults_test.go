package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/app/ct"
	"github.com/golops/golops/app/mdd"
	"github.com/golops/golops/app/poststack"
	"github.com/golops/golops/app/prestack"
	"github.com/golops/golops/app/reflectivity"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/launch"
)

// disturbed are the applications whose runs these tests stop, kill and give a full disk:
// with small examples, in the words of their configuration, and the array that matters.
// golops lsm has tests of stops and disks in app/lsm.
var disturbed = []struct {
	name, config, array string
	run                 runner
}{
	{"ct", "image: {size: 24}\ndata: {views: 20}\n", "image.npy", runs(ct.App())},
	{"mdd", "example: {sources: 10, receivers: 10, virtual: 2, samples: 80}\ntime: {frequencies: 20}\n", "inverse.npy", runs(mdd.App())},
	{"poststack", "example: {inlines: 3, crosslines: 8, samples: 40}\nwavelet: {half: 10}\n", "impedance.npy", runs(poststack.App())},
	{"prestack", "example: {inlines: 3, crosslines: 4, samples: 40}\nwavelet: {half: 10}\n", "properties.npy", runs(prestack.App())},
	{"reflectivity", "example: {inlines: 3, crosslines: 8, samples: 40}\nwavelet: {half: 10}\nweight: {iterations: 5}\n", "reflectivity.npy", runs(reflectivity.App())},
}

// runner makes a run with a configuration on two ranks, of which rank 1 may want to stop.
// It returns what rank 0 does.
type runner func(t *testing.T, config string, stop func() app.Stop) (*app.Result, error)

func runs[C any](a app.Application[C]) runner {
	return func(t *testing.T, config string, stop func() app.Stop) (res *app.Result, err error) {
		t.Helper()
		c := app.Default[C](a.Default)
		if err := app.Read(&c, strings.NewReader(config)); err != nil {
			t.Fatal(err)
		}
		task, err := a.Check(c)
		if err != nil {
			t.Fatal(err)
		}
		_ = launch.Config{Ranks: 2}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
			ctl := app.Control{}
			if r.Rank() == 1 {
				ctl.Stop = stop
			}
			got, e := a.Run(ctx, r, task, ctl)
			if r.Rank() == 0 {
				res, err = got, e
			}
			return e
		})
		return res, err
	}
}

// steps says how many iterations to make, where to, and with which checkpoints.
func steps(n int, dir, more string) string {
	return fmt.Sprintf("solver: {iterations: %d, tolerance: 0}\ncheckpoint: {dir: %q, every: 2%s}\nout: %q\n", n, filepath.Join(dir, "state"), more, filepath.Join(dir, "out"))
}

// A run that is stopped after any iteration, as Ctrl-C does, has results and a checkpoint,
// and goes on to the very numbers of a run that nobody stopped. Before the first iteration
// it writes nothing. Older results stay beside it.
func TestStoppedAnywhere(t *testing.T) {
	for _, a := range disturbed {
		t.Run(a.name, func(t *testing.T) {
			whole := t.TempDir()
			finish := func(dir, more string) map[string]string {
				t.Helper()
				if _, err := a.run(t, a.config+steps(9, dir, more), nil); err != nil {
					t.Fatal(err)
				}
				return contents(t, filepath.Join(dir, "out"))
			}
			want := finish(whole, "")
			for _, after := range []int{0, 1, 4} {
				dir, asked := t.TempDir(), 0
				out := filepath.Join(dir, "out")
				if err := os.CopyFS(out, os.DirFS(filepath.Join(whole, "out"))); err != nil {
					t.Fatal(err)
				}
				res, err := a.run(t, a.config+steps(9, dir, ""), func() (s app.Stop) {
					if asked++; asked > after { // it is asked before the first iteration too
						s.Signal = int(syscall.SIGINT)
					}
					return s
				})
				if err != nil || res.Stopped.Signal != int(syscall.SIGINT) || res.Iterations != after {
					t.Fatalf("stopped after %d iterations, want %d: %+v, %v", res.Iterations, after, res.Stopped, err)
				}
				older := out
				if after > 0 {
					older += ".1"
					if got := contents(t, out); len(got) != len(want) || got[a.array] == want[a.array] {
						t.Errorf("after %d iterations: %d files, want %d, with another image than that of the end", after, len(got), len(want))
					}
				}
				if bad := differ(contents(t, older), want); bad != "" {
					t.Errorf("after %d iterations: the older results: %s", after, bad)
				}
				if got := finish(dir, ", resume: true"); got[a.array] != want[a.array] {
					t.Errorf("stopped after %d iterations: the resumed run found something else", after)
				}
			}
		})
	}
}

// differ names a file that two folders do not both have with the same content.
func differ(got, want map[string]string) string {
	for n := range want {
		if got[n] != want[n] {
			return n + " is another"
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d files, want %d", len(got), len(want))
	}
	return ""
}

// A disk that is full at one call of a run, or from there on: older results stay whole, no
// array is damaged, the error tells what happened, and a checkpoint that could not be
// written does not end the run.
func TestFullDiskAnywhere(t *testing.T) {
	each := soak.Or(16, 1) // of the calls that are tried
	for _, a := range disturbed {
		t.Run(a.name, func(t *testing.T) {
			whole := t.TempDir()
			if _, err := a.run(t, a.config+steps(4, whole, ""), nil); err != nil {
				t.Fatal(err)
			}
			older := contents(t, filepath.Join(whole, "out"))
			// attempt makes a run in a folder with older results, of which fail sees each call.
			attempt := func(fail func(n int64, op, path string) error) (string, *app.Result, error) {
				dir := t.TempDir()
				if err := os.CopyFS(filepath.Join(dir, "out"), os.DirFS(filepath.Join(whole, "out"))); err != nil {
					t.Fatal(err)
				}
				var n atomic.Int64
				defer disk.Inject(func(op, path string) error { return fail(n.Add(1), op, path) })()
				res, err := a.run(t, a.config+steps(4, dir, ""), nil)
				return dir, res, err
			}
			calls, err := kindsOfCalls(attempt)
			if err != nil || len(calls) < 40 {
				t.Fatalf("%d kinds of calls: %v", len(calls), err)
			}
			outcome := map[string]int{}
			for i := 0; i < len(calls); i += each {
				for _, forEver := range []bool{false, true} {
					what := ""
					dir, res, err := attempt(func(n int64, op, path string) error {
						if n < calls[i] || n > calls[i] && (!forEver || op == disk.OpRename || op == disk.OpSync) {
							return nil
						}
						if n == calls[i] {
							what = op + " " + path
						}
						return syscall.ENOSPC
					})
					how, bad := outcomeOf(t, dir, a.array, older, res, err)
					if outcome[how]++; bad != "" {
						t.Errorf("call %d, %s, for ever %t: %s\nthe error is %v", calls[i], what, forEver, bad, err)
					}
				}
			}
			if t.Log(outcome); outcome["refused"] == 0 || outcome["in part"] == 0 || outcome["whole"] == 0 {
				t.Errorf("got %v of %d calls: some before, in and after the inversion should fail", outcome, len(calls))
			}
		})
	}
}

// kindsOfCalls makes a run and returns the numbers of its first and its last call of each
// kind to each file.
func kindsOfCalls(attempt func(fail func(n int64, op, path string) error) (string, *app.Result, error)) (calls []int64, err error) {
	var mu sync.Mutex
	digits, first, last := regexp.MustCompile(`[0-9a-f]*[0-9][0-9a-f]*`), map[string]int64{}, map[string]int64{}
	_, _, err = attempt(func(n int64, op, path string) error {
		mu.Lock()
		defer mu.Unlock()
		kind := op + digits.ReplaceAllString(filepath.Base(path), "N")
		if last[kind] = n; first[kind] == 0 {
			first[kind] = n
		}
		return nil
	})
	calls = slices.Concat(slices.Collect(maps.Values(first)), slices.Collect(maps.Values(last)))
	slices.Sort(calls)
	return slices.Compact(calls), err
}

// outcomeOf says how a run ended that met a full disk, and what is wrong with what it left.
// An undisturbed run would write the very files that were there before.
func outcomeOf(t *testing.T, dir, image string, older map[string]string, res *app.Result, err error) (how, bad string) {
	t.Helper()
	all, e := os.ReadDir(dir)
	if e != nil {
		t.Fatal(e)
	}
	arrays, kept := 0, 0
	for _, folder := range all {
		if folder.Name() == "state" {
			continue
		}
		files := contents(t, filepath.Join(dir, folder.Name()))
		for n, text := range files {
			if strings.HasSuffix(n, ".npy") && text != older[n] {
				return how, fmt.Sprintf("%s of %s is damaged", n, folder.Name())
			}
		}
		if files[image] != "" {
			arrays++
		}
		if differ(files, older) == "" { // the page of a new run has another date
			kept++
		}
		if known := err != nil && strings.Contains(err.Error(), folder.Name()); !known && folder.Name() != "out" && folder.Name() != "out.1" {
			return how, "nobody knows of " + folder.Name()
		}
	}
	switch {
	case kept != 1:
		return how, fmt.Sprintf("%d folders have the older results", kept)
	case errors.As(err, new(*app.ConfigError)):
		return "refused", ""
	case err != nil && !errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), "no space left"):
		return how, "the error does not tell what happened"
	case err != nil:
		return "in part", ""
	case arrays != 2 || len(res.Files) != len(older):
		return how, fmt.Sprintf("%d images, files %v", arrays, res.Files)
	}
	return "whole", ""
}
