package gpu

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// FuzzImage reads files of the cache of kernels. Code comes out only behind its
// own hash, whatever else a file holds: the driver runs it.
func FuzzImage(f *testing.F) {
	h := sha256.Sum256([]byte("machine code"))
	good := append(h[:], "machine code"...)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(good[1:])
	f.Add(good[:hashSize])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		code := parseImage(b)
		if code != nil {
			if h := sha256.Sum256(code); !bytes.Equal(append(h[:], code...), b) {
				t.Errorf("%d bytes gave code that is not behind its hash", len(b))
			}
		}
		h := sha256.Sum256(b)
		if got := parseImage(append(h[:], b...)); !bytes.Equal(got, b) {
			t.Errorf("%d bytes behind their hash: %d came back", len(b), len(got))
		}
		if len(b) > 0 {
			h[len(b)%len(h)] ^= 1 + b[0]>>1
			if parseImage(append(h[:], b...)) != nil {
				t.Errorf("%d bytes behind another hash were taken", len(b))
			}
		}
	})
}

// What is no file, or far too large, is no image, and is not waited for.
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
		case <-time.After(20 * time.Second): // far beyond what it takes: only a hang meets it
			t.Fatalf("%s: still reading", name)
		}
	}
}
