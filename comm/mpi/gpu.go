package mpi

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/dl"
)

// GPUVar overrides what the library says about itself: "on" means that it is GPU-aware,
// "off" that it is not. A GPU-aware MPI takes addresses of GPU memory.
const GPUVar = "GOLOPS_MPI_GPU"

// The numbers of GPUs in MPIX_GPU_query_support of MPICH.
var gpuTypes = map[string]uintptr{"cuda": 0, "hip": 2}

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
	for _, n := range []string{"MPIX_Query_cuda_support", "MPIX_Query_rocm_support", "MPIX_Query_hip_support", "MPIX_GPU_query_support"} {
		if f.lib.Func(n) != 0 {
			return true
		}
	}
	return false
}

// queryGPU asks the library, which must be initialised, whether it is GPU-aware for a
// platform. Each library has other functions for that.
func (l *lib) queryGPU(platform string) bool {
	names := map[string][]string{
		"cuda": {"MPIX_Query_cuda_support"},
		"hip":  {"MPIX_Query_rocm_support", "MPIX_Query_hip_support"},
	}[platform]
	asked := false
	for _, n := range names {
		if f := l.lib.Func(n); f != 0 {
			asked = true
			if l.call(f) == 1 {
				return true
			}
		}
	}
	f, yes := l.lib.Func("MPIX_GPU_query_support"), new(int32)
	return !asked && f != 0 && len(names) > 0 && l.call(f, gpuTypes[platform], addr(yes)) == 0 && *yes != 0
}

// gpuSupport returns the platforms for which the library, which must be initialised, is
// GPU-aware. setting is the value of GPUVar.
func (l *lib) gpuSupport(setting string) map[string]bool {
	platforms := map[string]bool{}
	for p := range gpuTypes {
		platforms[p] = setting == "on" || setting == "" && l.queryGPU(p)
	}
	return platforms
}

// GPUAwarePlatforms starts the library at path as one rank without a launcher and
// returns the platforms, "cuda" and "hip", for which it is GPU-aware. A process can call
// it once. A library that fails to start may end the process, so call it in a child.
func GPUAwarePlatforms(path string) ([]string, error) {
	setting, err := GPUSetting()
	if err != nil {
		return nil, err
	}
	if err := prepare(); err != nil {
		return nil, err
	}
	opened, err := dl.Open(dl.Global, path)
	if err != nil {
		return nil, fmt.Errorf("mpi: %w", err)
	}
	found, err := identify(opened)
	if err != nil {
		return nil, err
	}
	l, err := bind(found)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // the library may allow calls from one thread only
	if _, err := l.start(); err != nil {
		return nil, err
	}
	var platforms []string
	for p, yes := range l.gpuSupport(setting) {
		if yes {
			platforms = append(platforms, p)
		}
	}
	slices.Sort(platforms)
	return platforms, l.errorOf("MPI_Finalize", l.call(l.finalize))
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
		return !r.hasIntCounts()
	}
	return s.Src == driver.None || c.N <= int64(r.l.maxCount)
}
