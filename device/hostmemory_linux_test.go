package device

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
)

// The smallest of machine, control groups and their parents counts, in both
// versions of control groups and in containers that see their own group as root.
func TestHostMemoryFiles(t *testing.T) {
	const gib = 1 << 30
	machine := fmt.Sprintf("MemTotal: %d kB\nMemFree: 1 kB\nMemAvailable: %d kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n", 64*gib>>10, 48*gib>>10)
	for _, tc := range []struct {
		name        string
		files       map[string]string
		free, total int64
	}{
		{"machine", map[string]string{"meminfo": machine}, 48 * gib, 64 * gib},
		{"no files", nil, 0, 0},
		{"damaged", map[string]string{"meminfo": "MemTotal: x kB\nMemAvailable:\n\x00"}, 0, 0},
		{"v2", map[string]string{"meminfo": machine, "self/cgroup": "0::/job/step\n",
			"cg/job/step/memory.max": "max\n", "cg/job/memory.max": fmt.Sprint(16 * gib), "cg/job/memory.current": fmt.Sprint(10 * gib),
			"cg/job/memory.stat": fmt.Sprintf("anon 5\ninactive_file %d\n", 2*gib)}, 8 * gib, 16 * gib},
		{"v1", map[string]string{"meminfo": machine, "self/cgroup": "5:cpu:/x\n4:memory:/job\n0::/\n",
			"cg/memory/memory.limit_in_bytes": "9223372036854771712", "cg/memory/job/memory.limit_in_bytes": fmt.Sprint(8 * gib),
			"cg/memory/job/memory.usage_in_bytes": fmt.Sprint(3 * gib)}, 5 * gib, 8 * gib},
		{"container", map[string]string{"meminfo": machine, "self/cgroup": "0::/of/the/machine\n",
			"cg/memory.max": fmt.Sprint(4 * gib), "cg/memory.current": fmt.Sprint(5 * gib)}, 0, 4 * gib},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tc.files {
				file := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			free, total := memoryFiles{dir, dir + "/cg"}.memory()
			// This process has allocated a little that these files do not count as
			// resident.
			if total != tc.total || free > tc.free || free < tc.free-gib {
				t.Errorf("got %s free of %s, want about %s of %s", BytesText(free), BytesText(total), BytesText(tc.free), BytesText(tc.total))
			}
		})
	}
}

// Sizes that no machine has are errors. They do not end the process.
func TestMakeRefuses(t *testing.T) {
	for _, n := range []int{1 << 40, math.MaxInt / 8, math.MaxInt/8 + 1, math.MaxInt} {
		_, err := Make[complex128](n)
		if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "asked for, the host has ") {
			t.Errorf("%d elements: got error %v", n, err)
		}
		if err := CheckHostMemory(n, 2, 8); !errors.Is(err, ErrMemory) {
			t.Errorf("room for %d elements: got error %v", n, err)
		}
	}
	if _, err := Make[float32](-1); err == nil {
		t.Error("-1 elements: got no error")
	}
	if err := CheckHostMemory(math.MaxInt, 0, math.MaxInt); err != nil {
		t.Errorf("nothing at all: %v", err)
	}
	if pendingBytes.Load() != 0 {
		t.Errorf("%d bytes are still asked for", pendingBytes.Load())
	}
}

// small gives the host 512 MiB for a test. It turns the garbage collector off,
// because results would depend on when it runs.
func small(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/meminfo", []byte("MemTotal: 524288 kB\nMemAvailable: 524288 kB\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	was, percent := thisHost, debug.SetGCPercent(-1)
	thisHost = memoryFiles{dir, dir}
	t.Cleanup(func() {
		thisHost = was
		debug.SetGCPercent(percent)
	})
}

// Allocated memory counts before it is touched. Concurrent requests count together.
func TestMakeCountsTogether(t *testing.T) {
	small(t)
	const size = 96 << 20 // five of them fit, six do not
	kept := make([][]byte, 8)
	errs := make([]error, 8)
	var wait sync.WaitGroup
	for i := range kept {
		wait.Go(func() { kept[i], errs[i] = Make[byte](size) })
	}
	wait.Wait()
	n := 0
	for i, err := range errs {
		if err == nil && len(kept[i]) == size {
			n++
		} else if !errors.Is(err, ErrMemory) {
			t.Errorf("goroutine %d: got %d bytes and error %v", i, len(kept[i]), err)
		}
	}
	if n < 3 || n > 5 { // an array that is being handed out may count twice
		t.Errorf("%d arrays of 96 MiB were handed out of 512 MiB, want 5", n)
	}
}

// Garbage is collected before memory is refused.
func TestMakeCollects(t *testing.T) {
	small(t)
	for i := range 4 {
		if _, err := Make[byte](200 << 20); err != nil {
			t.Fatalf("array %d: %v", i, err)
		}
	}
}

// A limit of the address space, as set by ulimit -v, counts.
func TestMakeUnderLimit(t *testing.T) {
	if os.Getenv("GOLOPS_TEST_CHILD") != "" {
		_, err := Make[byte](4 << 30)
		fmt.Println("child:", err)
		return
	}
	c := exec.Command("sh", "-c", "ulimit -v 4000000 && exec "+os.Args[0]+" -test.run=^TestMakeUnderLimit$")
	c.Env = append(os.Environ(), "GOLOPS_TEST_CHILD=1")
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "child: 4.0 GiB asked for, the host has ") {
		t.Errorf("got error %v\n%s", err, out)
	}
}

func BenchmarkHostMemory(b *testing.B) {
	for b.Loop() {
		HostMemory()
	}
}
