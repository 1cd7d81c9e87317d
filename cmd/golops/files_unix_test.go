//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Files that cannot be written are found before anything is measured.
func TestFilesAreTriedFirst(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.svg")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--json", "--csv", "--plot"} {
		code, stdout, stderr := golops(t.Context(), "perf all_reduce --ranks 2 -e 8 "+flag+" "+pipe)
		if code != 2 || stdout != "" || !strings.Contains(stderr, "it is there already and is no regular file") {
			t.Errorf("%s: got exit code %d, %q and %q", flag, code, stdout, stderr)
		}
	}
	for _, trace := range []string{filepath.Join(dir, "none", "x.json"), filepath.Join(dir, "folder.json")} {
		if err := os.MkdirAll(filepath.Join(dir, "folder.json"), 0o777); err != nil {
			t.Fatal(err)
		}
		t.Setenv("GOLOPS_TRACE", trace)
		for _, args := range []string{"perf all_reduce --ranks 2 -e 8", "lsm --ranks 2 --out " + filepath.Join(dir, "out")} {
			code, stdout, stderr := golops(t.Context(), args)
			if code != 2 || stdout != "" || strings.Count(stderr, "write trace "+trace+", as GOLOPS_TRACE asks for: ") != 1 {
				t.Errorf("%s: trace %s: got exit code %d, %q and %q", args, trace, code, stdout, stderr)
			}
		}
	}
	if all, _ := os.ReadDir(dir); len(all) != 2 {
		t.Errorf("the folder holds %v", all)
	}
}

// A picture does not replace a pipe.
func TestViewRefusesPipe(t *testing.T) {
	in := arrays(t)
	if err := syscall.Mkfifo(in("pipe.png"), 0o666); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := golops(t.Context(), "view "+in("plane.npy")+" --out "+in("pipe.png"))
	if code != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "pipe.png: it is there already and is no regular file") {
		t.Errorf("got exit code %d, %q and %q", code, stdout, stderr)
	}
	if info, err := os.Lstat(in("pipe.png")); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is now %v, %v", info.Mode(), err)
	}
}
