//go:build linux

package gpusim

import (
	"io/fs"
	"strings"
	"testing"
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
