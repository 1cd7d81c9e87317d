//go:build unix

package lsm

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/golops/golops/app"
)

// Pipes, devices, folders and files without end are refused before they are opened.
func TestInputsAreRegularFiles(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<40); err != nil { // sparse
		t.Fatal(err)
	}
	for path, want := range map[string]string{fifo: "no regular file", "/dev/zero": "no regular file", dir: "this is a folder", large: "at most", filepath.Join(dir, "none"): "no such file"} {
		c := Default()
		if err := app.ReadFile(&c, path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("configuration %s: got %v", path, err)
		}
		for name, set := range map[string]func(c *Config){
			"geometry": func(c *Config) { c.Acquisition.Geometry = path },
			"velocity": func(c *Config) { c.Velocity.File = path },
			"wavelet":  func(c *Config) { c.Wavelet.File = path },
			"data": func(c *Config) {
				c.Velocity.Constant, c.Data.File = 2000, path
				if err := app.Read(c, strings.NewReader("acquisition: {sources: {number: 18}, receivers: {number: 61}}")); err != nil {
					t.Fatal(err)
				}
			},
			"tables": func(c *Config) {
				c.Operator.Times, c.Operator.Sources, c.Operator.Receiver = "tables", path, path
			},
		} {
			c := Default()
			set(&c)
			if _, err := Prepare(c); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s %s: got %v", name, path, err)
			}
		}
	}
}
