// Package gpusim builds a simulator of the libraries by which golops reaches
// GPUs, so that tests run the code for GPUs on a machine without one.
//
// The libraries have the names and the C interfaces of the real ones, and run
// kernels on the host. Nothing finds them unless a test names their folder in
// GOLOPS_CUDA, GOLOPS_HIP or GOLOPS_NCCL.
package gpusim

import (
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golops/golops/internal/dl"
)

//go:embed src
var sources embed.FS

// core are the sources of libgpusim.so, which the others are wrappers of.
var core = []string{"config", "context", "stream", "memory", "module", "fiber", "compile", "names", "blas", "fft",
	"nccl_clique", "nccl_comm", "nccl_group", "nccl_reduce", "nccl_register"}

// wrappers are the libraries by their real names, and the source of each.
var wrappers = map[string]string{
	"libcuda.so.1":     "cuda",
	"libnvrtc.so.12":   "nvrtc",
	"libcublas.so.12":  "cublas",
	"libcufft.so.11":   "cufft",
	"libnccl.so.2":     "nccl",
	"libamdhip64.so.6": "hip",
	"libhiprtc.so.6":   "hiprtc",
	"libhipblas.so.2":  "hipblas",
	"libhipfft.so.0":   "hipfft",
	"librccl.so.1":     "nccl", // the same names
}

// flags of the compiler. No FORTIFY: its longjmp does not let a fiber be left.
var flags = []string{"-std=c++17", "-O1", "-fPIC", "-Wall", "-Wextra", "-U_FORTIFY_SOURCE", "-pthread"}

var build = sync.OnceValues(func() (string, error) {
	files, err := fs.Sub(sources, "src")
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum, err := hash(files)
	if err != nil {
		return "", err
	}
	parent := filepath.Join(cache, "golops", "gpusim")
	dir := filepath.Join(parent, sum)
	if used(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", fmt.Errorf("gpusim: %w", err)
	}
	unlock, err := lock(filepath.Join(parent, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if used(dir) { // another process was faster
		return dir, nil
	}
	prune(parent, 4)
	tmp, err := os.MkdirTemp(parent, "tmp-")
	if err != nil {
		return "", fmt.Errorf("gpusim: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := compile(tmp, files); err != nil {
		return "", err
	}
	return dir, os.Rename(tmp, dir)
})

// Build compiles the simulator, unless an earlier process has, and returns the
// folder of its libraries.
func Build() (dir string, err error) {
	if err := dl.NeedsLinux("simulated GPUs"); err != nil {
		return "", fmt.Errorf("gpusim: %w", err)
	}
	return build()
}

// used reports whether there is such a build, and notes that it is in use.
func used(dir string) bool {
	now := time.Now()
	return os.Chtimes(dir, now, now) == nil
}

// prune removes what earlier sources were built to, and what a killed process
// left, but for those that were used last. What was used within the hour may
// be in use still.
func prune(parent string, keep int) {
	entries, _ := os.ReadDir(parent) // none, if it cannot be read
	var old []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() {
			old = append(old, info)
		}
	}
	slices.SortFunc(old, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range old {
		if i >= keep && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(filepath.Join(parent, info.Name())) // the next build tries again
		}
	}
}

// hash names what the libraries are made from.
func hash(files fs.FS) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.GOARCH, flags, core, wrappers)
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, path)
		fmt.Fprintln(h, path, len(b))
		h.Write(b)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil)[:12]), err
}

// compile makes all libraries in dir.
func compile(dir string, files fs.FS) error {
	if _, err := exec.LookPath("g++"); err != nil {
		return errors.New("gpusim: no g++: the simulator of GPUs needs it to run kernels on the host (apt-get install g++)")
	}
	src := filepath.Join(dir, "src")
	if err := os.CopyFS(src, files); err != nil {
		return fmt.Errorf("gpusim: %w", err)
	}
	// Every source includes core.h. Most of the compile time is spent on it.
	header := "src/core.h.gch"
	if err := gxx(dir, "-x", "c++-header", "src/core.h", "-o", header); err != nil {
		return err
	}
	defer os.Remove(filepath.Join(dir, header))
	if err := each(core, func(name string) error { return gxx(dir, "-c", "src/"+name+".cpp", "-o", name+".o") }); err != nil {
		return err
	}
	args := []string{"-shared", "-o", "libgpusim.so"}
	for _, name := range core {
		args = append(args, name+".o")
	}
	if err := gxx(dir, append(args, "-ldl")...); err != nil {
		return err
	}
	var libs []string
	for lib := range wrappers {
		libs = append(libs, lib)
	}
	return each(libs, func(lib string) error {
		return gxx(dir, "-shared", "-o", lib, "src/"+wrappers[lib]+".cpp", "-L.", "-lgpusim", "-Wl,-rpath,$ORIGIN", "-ldl")
	})
}

// each runs f for all names, as many at a time as there are processors.
func each(names []string, f func(string) error) error {
	errs := make([]error, len(names))
	slots := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			slots <- struct{}{}
			errs[i] = f(name)
			<-slots
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func gxx(dir string, args ...string) error {
	cmd := exec.Command("g++", append(append([]string{}, flags...), args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("gpusim: g++ %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
