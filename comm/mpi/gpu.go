package mpi

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/scalar"
)

// GPUVar tells what the library itself may not know: "on" that it reaches the
// GPU memory, "off" that it is not to.
const GPUVar = "GOLOPS_MPI_GPU"

// The numbers of GPUs in MPIX_GPU_query_support of MPICH.
var gpuTypes = map[string]uintptr{"cuda": 0, "hip": 2}

// GPUSetting returns what GPUVar says: "on", "off" or, if it is not set, "".
func GPUSetting() (string, error) {
	s := os.Getenv(GPUVar)
	if s != "" && s != "on" && s != "off" {
		return "", fmt.Errorf("mpi: %s=%s: use on, off, or leave it out for what the library says", GPUVar, s)
	}
	return s, nil
}

// AnswersGPU reports whether the library has any of the questions of queryGPU,
// which it answers once it is initialised. One that has none, or says no, gets
// GPU memory through the host.
func (f *Found) AnswersGPU() bool {
	for _, n := range []string{"MPIX_Query_cuda_support", "MPIX_Query_rocm_support", "MPIX_Query_hip_support", "MPIX_GPU_query_support"} {
		if f.lib.Func(n) != 0 {
			return true
		}
	}
	return false
}

// queryGPU asks the library, which must be initialised, whether it takes
// addresses of a platform's memory. Each library has questions of its own.
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

// reached returns whose memory the library, which must be initialised, takes,
// with GPUVar as it is set.
func (l *lib) reached(setting string) map[string]bool {
	platforms := map[string]bool{}
	for p := range gpuTypes {
		platforms[p] = setting == "on" || setting == "" && l.queryGPU(p)
	}
	return platforms
}

// ReachesGPUs starts the library in a file as one rank without a launcher and
// returns the platforms, "cuda" and "hip", whose memory it takes. A process can
// do so once, and a library that does not start may end it: do it in a child.
func ReachesGPUs(path string) ([]string, error) {
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
	runtime.LockOSThread() // the library may allow calls from one thread alone
	if _, err := l.start(); err != nil {
		return nil, err
	}
	var platforms []string
	for p, yes := range l.reached(setting) {
		if yes {
			platforms = append(platforms, p)
		}
	}
	slices.Sort(platforms)
	return platforms, l.errorOf("MPI_Finalize", l.call(l.finalize))
}

// ReachesDevice reports whether the library takes addresses of memory of a
// platform, "cuda" or "hip", in calls of which PassesOn is true.
func (r *rank) ReachesDevice(platform string) bool { return r.w.reaches[platform] }

// PassesOn reports whether a call hands its buffers to the library as they
// are, so that nothing here looks at an element, and the library takes them on
// a device. Open MPI does so in messages, but not in non-blocking collectives,
// which are all that is used here. All ranks get the same answer.
func (r *rank) PassesOn(call comm.Call) bool {
	messages := call.Kind == comm.KindSend || call.Kind == comm.KindRecv
	if messages || r.l.family == OpenMPI {
		return messages
	}
	fits := call.N >= 0 && call.N <= int64(r.l.maxCount)
	switch call.Kind {
	case comm.KindBroadcast, comm.KindIBroadcast:
		return true
	case comm.KindAllGather, comm.KindAllGatherV, comm.KindIAllGather, comm.KindGather, comm.KindScatter, comm.KindAllToAll:
		return fits
	case comm.KindGatherV, comm.KindScatterV, comm.KindAllToAllV:
		return !r.narrow()
	case comm.KindAllReduce:
		native := r.algo == comm.Native || r.algo == comm.Auto && !r.near
		return native && r.n > 1 && r.nativeOp(call)
	case comm.KindReduce, comm.KindReduceScatter, comm.KindReduceScatterV, comm.KindIAllReduce:
		return fits && r.nativeOp(call)
	}
	return false
}

// nativeOp reports whether the library does the arithmetic by itself.
func (r *rank) nativeOp(call comm.Call) bool {
	return call.Op != comm.Average && (call.DType != scalar.Uint8 || r.l.bytesOps[call.Op] == 0)
}
