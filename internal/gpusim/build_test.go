//go:build linux

package gpusim

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestNoCompiler(t *testing.T) {
	files, err := fs.Sub(sources, "src")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := compile(t.TempDir(), files); err == nil || !strings.Contains(err.Error(), "apt-get install g++") {
		t.Errorf("without g++: %v", err)
	}
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"a": 50, "b": 40, "c": 30, "d": 20, "e": 10} {
		sub, at := filepath.Join(dir, name), time.Now().Add(-age*time.Hour)
		if err := errors.Join(os.MkdirAll(filepath.Join(sub, "src"), 0o755), os.Chtimes(sub, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (names string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names += e.Name()
		}
		return names
	}
	if !used(filepath.Join(dir, "a")) || used(filepath.Join(dir, "z")) {
		t.Error("used tells what is there from what is not")
	}
	if prune(dir, 3); left() != "ade" {
		t.Errorf("left are %s, want those that were used last: ade", left())
	}
	if prune(dir, 0); left() != "a" {
		t.Errorf("left are %s, want a, which may be in use", left())
	}
}
