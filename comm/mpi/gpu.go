package mpi

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/golops/golops/comm/driver"
)

// GPUVar overrides what the library says about itself: "on" means that it is GPU-aware,
// "off" that it is not. A GPU-aware MPI takes addresses of GPU memory.
const GPUVar = "GOLOPS_MPI_GPU"

// gpuQueries are the functions by which libraries say whether they are GPU-aware for a
// platform, and the platform's number in MPIX_GPU_query_support of MPICH.
var gpuQueries = map[string]struct {
	names  []string
	number uintptr
}{
	"cuda": {[]string{"MPIX_Query_cuda_support"}, 0},
	"hip":  {[]string{"MPIX_Query_rocm_support", "MPIX_Query_hip_support"}, 2},
}

// GPUSetting returns what GPUVar says: "on", "off" or, if it is not set, "".
func GPUSetting() (string, error) {
	s := os.Getenv(GPUVar)
	if s != "" && s != "on" && s != "off" {
		return "", fmt.Errorf("mpi: %s=%s: use on or off, or unset it to ask the library", GPUVar, s)
	}
	return s, nil
}

// ReportsGPUSupport reports whether the library has any of the functions that queryGPU
// calls. They need an initialised library. Without GPU-aware MPI, GPU memory is staged
// through the host.
func (f *Found) ReportsGPUSupport() bool {
	has := func(name string) bool { return f.lib.Func(name) != 0 }
	return has("MPIX_GPU_query_support") || slices.ContainsFunc(gpuQueries["cuda"].names, has) || slices.ContainsFunc(gpuQueries["hip"].names, has)
}

// queryGPU asks the library, which must be initialised, whether it is GPU-aware for a
// platform. Each library has other functions for that.
func (l *lib) queryGPU(platform string) bool {
	query, asked := gpuQueries[platform], false
	for _, n := range query.names {
		if f := l.lib.Func(n); f != 0 {
			asked = true
			if l.call(f) == 1 {
				return true
			}
		}
	}
	f, yes := l.lib.Func("MPIX_GPU_query_support"), new(int32)
	return !asked && f != 0 && l.call(f, query.number, addr(yes)) == 0 && *yes != 0
}

// gpuSupport returns the platforms for which the library, which must be initialised, is
// GPU-aware. setting is the value of GPUVar.
func (l *lib) gpuSupport(setting string) map[string]bool {
	platforms := map[string]bool{}
	for p := range gpuQueries {
		if setting == "on" || setting == "" && l.queryGPU(p) {
			platforms[p] = true
		}
	}
	return platforms
}

// GPUAwarePlatforms starts the library at path as one rank without a launcher and
// returns the platforms, "cuda" and "hip", for which it is GPU-aware. A process can call
// it once. A library that fails to start may end the process, so call it in a child.
func GPUAwarePlatforms(path string) ([]string, error) {
	if err := os.Setenv(EnvVar, path); err != nil {
		return nil, err
	}
	w, err := Init(context.Background(), Config{})
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(w.w.gpuAware)), w.End(context.Background(), nil)
}

// gpuAware reports whether a GPU-aware library takes GPU memory in a call, and this package
// does not read it there. Open MPI takes it in messages but not in non-blocking
// collectives, and only those are used here. All ranks get the same answer.
func (r *rank) gpuAware(platform string, c *driver.Signature) bool {
	s := c.Kind.Spec()
	messages := s.Message || c.Kind == driver.KindExchange
	switch {
	case !r.w.gpuAware[platform]:
		return false
	case messages || r.l.family == OpenMPI:
		return messages
	case !s.Moves(), s.Reduces && (c.Op == driver.Average || r.l.ownOps[c.Op][c.DType] != 0):
		return false
	case c.Kind == driver.KindAllReduce:
		return r.n > 1 && (r.w.cfg.Algo == driver.Native || r.w.cfg.Algo == driver.Auto && !r.oneHost)
	case c.N < 0:
		return r.l.maxCount > math.MaxInt32
	}
	return s.Src == driver.None || c.N <= int64(r.l.maxCount)
}
