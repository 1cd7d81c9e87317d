//go:build unix

package gpu

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Files that are not regular or too large are refused without waiting.
func TestReadImage(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "good")
	writeImage(file, []byte("machine code"))
	if got := readImage(file); string(got) != "machine code" {
		t.Errorf("got %q back", got)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	large, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		t.Fatal(err)
	}
	if err := large.Truncate(imageLimit + 1); err != nil {
		t.Fatal(err)
	}
	large.Close()
	for _, name := range []string{"pipe", "large", ".", "missing"} {
		done := make(chan []byte, 1)
		go func() { done <- readImage(filepath.Join(dir, name)) }()
		select {
		case code := <-done:
			if code != nil {
				t.Errorf("%s: %d bytes of code", name, len(code))
			}
		case <-time.After(20 * time.Second): // only a hang takes that long
			t.Fatalf("%s: still reading", name)
		}
	}
}
