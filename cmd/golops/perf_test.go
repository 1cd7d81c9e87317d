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
		code, stdout, stderr := golops(t.Context(), "perf all_reduce --ranks 2 -e 8")
		if code == 0 || stdout != "" || !strings.Contains(stderr, "write trace "+trace+", as GOLOPS_TRACE asks for: ") {
			t.Errorf("trace %s: got exit code %d, %q and %q", trace, code, stdout, stderr)
		}
	}
	if all, _ := os.ReadDir(dir); len(all) != 2 {
		t.Errorf("the folder holds %v", all)
	}
}
