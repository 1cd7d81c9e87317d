package gpu

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/scalar"
)

// shapes are the options of files that are compiled for one shape.
var shapes = map[string][]string{
	"bandsplane.cu": {"-DGOLOPS_X=256", "-DGOLOPS_Y=512", "-DGOLOPS_ROWS0=-1,0,1", "-DGOLOPS_ROWSY=-1,0,1", "-DGOLOPS_ROWSX=-2,0,1"},
}

// TestNVRTC compiles every kernel with NVRTC, which needs no GPU, in the oldest
// supported version and in a new one. GOLOPS_TEST_NVRTC names their folders. make test
// installs them.
func TestNVRTC(t *testing.T) {
	folders := filepath.SplitList(os.Getenv("GOLOPS_TEST_NVRTC"))
	if len(folders) == 0 {
		t.Skip("GOLOPS_TEST_NVRTC does not name folders with NVRTC; make test sets it")
	}
	files, err := fs.Glob(sources, "*.cu")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	for _, folder := range folders {
		folder, err := filepath.EvalSymlinks(folder)
		if err != nil {
			t.Fatal(err)
		}
		c, err := openCompiler(CUDA, 0, folder)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(c.lib.Path, folder) {
			t.Fatalf("opened %s, want the one in %s", c.lib.Path, folder)
		}
		t.Run(fmt.Sprintf("NVRTC %d.%d", c.major, c.minr), func(t *testing.T) {
			for _, file := range files {
				for _, k := range goals(c) {
					t.Run(fmt.Sprintf("%s/%v/sm_%d", file, k.dt, k.arch), func(t *testing.T) {
						t.Parallel()
						compiles(t, c, file, k)
					})
				}
			}
		})
	}
}

// goal is what a file is compiled for.
type goal struct {
	arch int32
	dt   scalar.DType
}

// goals returns what to compile for: each type and each architecture once. make soak
// compiles all types for one architecture and one type for the others, because an
// architecture lacks a feature for all types alike. An old compiler is tried with the
// widest and the most used type only.
func goals(c *compiler) []goal {
	if c.major == 11 {
		return soak.Or([]goal{{80, scalar.Complex128}}, []goal{{80, scalar.Float32}, {80, scalar.Complex128}})
	}
	known := c.archs()
	var all []goal
	for i, arch := range soak.Or([]int32{75, 80, 90, 100}, []int32{90, 90, 90, 90}) {
		arch = max(known[0], min(arch, known[len(known)-1]))
		all = append(all, goal{arch, scalar.Float32 + scalar.DType(i)})
	}
	if !soak.On() {
		return all
	}
	for _, arch := range []int32{75, 80, 100} {
		if known[0] <= arch && arch <= known[len(known)-1] {
			all = append(all, goal{arch, scalar.Complex128})
		}
	}
	return all
}

func compiles(t *testing.T, c *compiler, file string, k goal) {
	src, err := source(file)
	if err != nil {
		t.Fatal(err)
	}
	// Kernels that have not changed since an earlier run are not compiled again.
	cache := filepath.Join(filepath.Dir(c.lib.Path), "compiled")
	options := append([]string{typeOption(k.dt)}, shapes[file]...)
	code, err := c.imageOf(cache, file, src, fmt.Sprintf("sm_%d", k.arch), options, nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(code[1:4]) != "ELF" {
		t.Errorf("no machine code but %q", code[:min(len(code), 40)])
	}
}
