package gpu

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/scalar"
)

// shapes are options of files that are compiled for a shape.
var shapes = map[string][]string{
	"bandsplane.cu": {"-DGOLOPS_X=256", "-DGOLOPS_Y=512", "-DGOLOPS_ROWS0=-1,0,1", "-DGOLOPS_ROWSY=-1,0,1", "-DGOLOPS_ROWSX=-2,0,1"},
}

// TestNVRTC compiles every kernel with NVIDIA's own compiler, which needs no
// GPU. GOLOPS_TEST_NVRTC names its folder; make test installs it.
func TestNVRTC(t *testing.T) {
	folder := os.Getenv("GOLOPS_TEST_NVRTC")
	if folder == "" {
		t.Skip("GOLOPS_TEST_NVRTC does not name a folder with NVRTC; make test sets it")
	}
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
	files, err := fs.Glob(sources, "*.cu")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	known := c.archs()
	for _, arch := range []int32{75, 80, 90, 100} {
		for _, file := range files {
			for dt := scalar.Float32; dt <= scalar.Complex128; dt++ {
				if arch != 90 && dt != scalar.Complex128 {
					continue // what an architecture lacks, it lacks for all types
				}
				name := fmt.Sprintf("%s/%v/sm_%d", file, dt, arch)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					if arch < known[0] || arch > known[len(known)-1] {
						t.Skipf("NVRTC %d.%d knows %v", c.major, c.minr, known)
					}
					src, err := source(file)
					if err != nil {
						t.Fatal(err)
					}
					// What did not change since an earlier run is not compiled again.
					code, err := c.imageOf(filepath.Join(folder, "compiled"), file, src, fmt.Sprintf("sm_%d", arch), append([]string{typeOption(dt)}, shapes[file]...), nil)
					if err != nil {
						t.Fatal(err)
					}
					if string(code[1:4]) != "ELF" {
						t.Errorf("no machine code but %q", code[:min(len(code), 40)])
					}
				})
			}
		}
	}
}
