package gpu

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestCompileError(t *testing.T) {
	c, err := openCompiler(CUDA, 12, simulator(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.compile("bad.cu", "struct A { int n; };\nKERNEL(bad, A) { nonsense(); }\n", "sm_90", nil)
	wants(t, err, "bad.cu", "nonsense", "sm_90")
}

// fill runs a kernel on a new device and returns its error.
func fill(t *testing.T, cache string) error {
	t.Helper()
	d, err := New(CUDA, Config{Folder: simulator(t), Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.f32.Alloc(5)
	if err != nil {
		t.Fatal(err)
	}
	d.f32.Fill(m, 3)
	got := make([]float32, 5)
	err = d.f32.CopyOut(got, m)
	if err == nil && got[4] != 3 {
		err = errors.New("the kernel did not run")
	}
	return errors.Join(err, d.Close())
}

// forget empties this process's cache of compiled kernels.
func forget() {
	images.Lock()
	images.made = nil
	images.Unlock()
}

func TestCache(t *testing.T) {
	defer forget()
	dir := filepath.Join(t.TempDir(), "deep", "kernels")
	files := func() []string {
		all, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	check := func(what string) os.FileInfo {
		t.Helper()
		forget()
		if err := fill(t, dir); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if f := files(); len(f) != 1 || !strings.HasPrefix(filepath.Base(f[0]), "vector-") {
			t.Fatalf("%s: the folder has %q", what, f)
		}
		info, err := os.Stat(files()[0])
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	first := check("empty cache")
	if again := check("second process"); !os.SameFile(first, again) {
		t.Error("what was in the cache was written again")
	}
	file := files()[0]
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string][]byte{
		"cut off": good[:len(good)/2], "empty": nil, "another bit": append(append([]byte{}, good[:200]...), append([]byte{good[200] ^ 1}, good[201:]...)...),
	} {
		write(t, file, string(b))
		check(what)
		if now, err := os.ReadFile(file); err != nil || string(now) != string(good) {
			t.Errorf("%s: the file was not made good: %v", what, err)
		}
	}
	// This driver refuses code that another driver accepted.
	writeImage(file, []byte("not machine code"))
	check("refused by the driver")
}

// TestNoCache runs with a cache folder that cannot be written and without one.
func TestNoCache(t *testing.T) {
	defer forget()
	for _, cache := range []string{filepath.Join(write(t, filepath.Join(t.TempDir(), "file"), ""), "under"), "off"} {
		forget()
		if err := fill(t, cache); err != nil {
			t.Errorf("cache %s: %v", cache, err)
		}
	}
}

// TestCompileOnce has several ranks of one process launch a kernel at once.
func TestCompileOnce(t *testing.T) {
	defer forget()
	forget()
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := fill(t, dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(images.made) != 1 {
		t.Errorf("%d kernels were compiled, want 1", len(images.made))
	}
}
