package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/golops/golops/comm/mpi"
	"github.com/golops/golops/internal/dl"
)

// Library is a native library that golops can use, found or not.
type Library struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	Missing string `json:"missing,omitempty"` // why it was not found
	Hint    string `json:"hint,omitempty"`    // what to install
}

// Libraries looks for every native library that golops can use. It opens them
// but initialises none, so it works on a login node too.
func Libraries() []Library {
	var out []Library
	for _, f := range []struct {
		family mpi.Family
		hint   string
	}{
		{mpi.OpenMPI, "apt-get install openmpi-bin"},
		{mpi.MPICH, "apt-get install mpich"},
		{mpi.Standard, "MPICH 5 or Open MPI 6 (pip install mpich)"},
	} {
		l := Library{Name: string(f.family)}
		if found, err := mpi.Look(f.family); err != nil {
			l.Missing, l.Hint = err.Error(), f.hint
		} else {
			l.Path, l.Version = found.Path, found.Version
		}
		out = append(out, l)
	}
	for _, k := range kinds {
		out = append(out, k.find())
	}
	return out
}

// kind is a library whose version one function tells.
type kind struct {
	name    string
	files   []string
	folders []string // off the loader's path
	hint    string
	version func(*dl.Lib) string
}

var cudaFolders = []string{"$CUDA_HOME/lib64", "$CUDA_PATH/lib64", "/usr/local/cuda/lib64"}

// kinds are the libraries other than MPI. Each version has a form of its own.
var kinds = []kind{
	{"CUDA driver", []string{"libcuda.so.1"}, nil, "the NVIDIA driver, on a machine with a GPU", out("cuDriverGetVersion", cudaVersion)},
	{"cuBLAS", []string{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}, cudaFolders, "the CUDA toolkit", nil},
	{"cuFFT", []string{"libcufft.so.12", "libcufft.so.11", "libcufft.so.10"}, cudaFolders, "the CUDA toolkit", out("cufftGetVersion", thousands)},
	{"NVRTC", []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}, cudaFolders, "the CUDA toolkit (pip install nvidia-cuda-nvrtc)",
		nvrtcVersion},
	{"NCCL", []string{"libnccl.so.2"}, cudaFolders, "NCCL (pip install nvidia-nccl-cu12)", out("ncclGetVersion", ncclVersion)},
	{"RCCL", []string{"librccl.so.1"}, []string{"/opt/rocm/lib"}, "ROCm's RCCL, on a machine with AMD GPUs", out("ncclGetVersion", ncclVersion)},
	{"HIP", []string{"libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"}, []string{"/opt/rocm/lib"}, "ROCm, on a machine with AMD GPUs",
		out("hipRuntimeGetVersion", fmt.Sprint)},
	{"OpenBLAS", []string{"libopenblas.so.0"}, nil, "apt-get install libopenblas0", config("openblas_get_config")},
	{"BLIS", []string{"libblis.so.4"}, nil, "apt-get install libblis4", config("bli_info_get_version_str")},
	{"MKL", []string{"libmkl_rt.so.2"}, []string{"$MKLROOT/lib"}, "pip install mkl", nil},
	{"FFTW", []string{"libfftw3.so.3"}, nil, "apt-get install libfftw3-double3", symbol("fftw_version")},
	{"FFTW (float32)", []string{"libfftw3f.so.3"}, nil, "apt-get install libfftw3-single3", symbol("fftwf_version")},
}

func (k kind) find() Library {
	l := Library{Name: k.name}
	paths := append([]string{}, k.files...)
	for _, dir := range k.folders {
		if d := os.ExpandEnv(dir); strings.HasPrefix(d, "/") && !strings.HasPrefix(d, "/lib") {
			for _, f := range k.files {
				paths = append(paths, filepath.Join(d, f))
			}
		}
	}
	lib, err := dl.Open(dl.Local, paths...)
	if err != nil {
		l.Missing, l.Hint = dl.Reason(err, k.files), k.hint
		return l
	}
	l.Path = lib.Path
	if k.version != nil {
		l.Version = k.version(lib)
	}
	return l
}

// out is a version that a function stores in an int, shown by show.
func out(name string, show func(...any) string) func(*dl.Lib) string {
	return func(l *dl.Lib) string {
		v := new(int32)
		if f := l.Func(name); f == 0 || f.Call(dl.Pointer(v)) != 0 {
			return ""
		}
		return show(int(*v))
	}
}

func cudaVersion(v ...any) string { return fmt.Sprintf("%d.%d", v[0].(int)/1000, v[0].(int)%1000/10) }

func thousands(v ...any) string {
	n := v[0].(int)
	return fmt.Sprintf("%d.%d.%d", n/1000, n%1000/100, n%100)
}

// ncclVersion knows that the form changed with 2.9.
func ncclVersion(v ...any) string {
	n := v[0].(int)
	if n < 10000 {
		return fmt.Sprintf("%d.%d.%d", n/1000, n%1000/100, n%100)
	}
	return fmt.Sprintf("%d.%d.%d", n/10000, n%10000/100, n%100)
}

func nvrtcVersion(l *dl.Lib) string {
	v := new([2]int32)
	if f := l.Func("nvrtcVersion"); f == 0 || f.Call(dl.Pointer(&v[0]), dl.Pointer(&v[1])) != 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", v[0], v[1])
}

// config is a version that a function returns as a C string.
func config(name string) func(*dl.Lib) string {
	return func(l *dl.Lib) string {
		f := l.Func(name)
		if f == 0 {
			return ""
		}
		return dl.CString(f.CallPointer())
	}
}

// symbol is a version that is a C string itself.
func symbol(name string) func(*dl.Lib) string {
	return func(l *dl.Lib) string { return dl.CString(l.Addr(name)) }
}
