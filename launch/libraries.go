package launch

import (
	"context"
	"strings"

	"github.com/golops/golops/comm/mpi"
	"github.com/golops/golops/comm/nccl"
	"github.com/golops/golops/internal/dl"
)

// Library is a native library that golops can use, found or not.
type Library struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	Note    string `json:"note,omitempty"`
	Missing string `json:"missing,omitempty"` // why it was not found
	Hint    string `json:"hint,omitempty"`    // what to install

	// MPI says that this is an MPI that was found, MPIRun is its launcher, if there is one.
	// Windows is for the caller of TryWindows.
	MPI     bool   `json:"-"`
	MPIRun  string `json:"-"`
	Windows string `json:"windows,omitempty"`

	// ReportsGPUSupport says that this MPI, once started, can report whether it is
	// GPU-aware: see GPUAwarePlatforms.
	ReportsGPUSupport bool `json:"-"`
}

// PlatformError says what this platform cannot run. It is nil on Linux.
func PlatformError() error {
	return dl.NeedsLinux("MPI (mpirun, srun), GPUs and native libraries such as OpenBLAS")
}

// Libraries looks for every native library that golops can use. It opens them
// but initialises none, so it works on a login node too. Where PlatformError is
// not nil there are none.
func Libraries() []Library {
	if PlatformError() != nil {
		return nil
	}
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
			l.Path, l.Version, l.MPI, l.MPIRun = found.Path, found.Version, true, found.MPIRun()
			setting, err := mpi.GPUSetting()
			switch {
			case err == nil && setting == "" && found.ReportsGPUSupport():
				l.ReportsGPUSupport, l.Note = true, "asked at the start whether it is GPU-aware"
			case setting == "on":
				l.SetGPUAware([]string{CUDA, HIP}, nil)
			default:
				l.SetGPUAware(nil, err)
			}
			if setting != "" {
				l.Note += ", as " + mpi.GPUVar + "=" + setting + " says"
			}
		}
		out = append(out, l)
	}
	for _, k := range cpuLibraries {
		out = append(out, k.find())
	}
	return out
}

// GPUAwarePlatforms starts the MPI library at path and returns the platforms for which it is
// GPU-aware. A process can call it once. A library that fails to start may end the process,
// so call it in a child.
func GPUAwarePlatforms(path string) ([]string, error) { return mpi.GPUAwarePlatforms(path) }

// TryWindows starts the MPI library at path as one of two or more ranks of a launcher. It
// returns why ranks cannot put numbers into each other's windows. A process can call it
// once. A library may never come back or may end the process, so call it in a child.
func TryWindows(ctx context.Context, path string) error { return mpi.TryWindows(ctx, path) }

// SetGPUAware sets Note to how an MPI library sends GPU memory. platforms are those for which
// it is GPU-aware; err says why they are not known.
func (l *Library) SetGPUAware(platforms []string, err error) {
	on := strings.ToUpper(strings.Join(platforms, ", "))
	switch {
	case err != nil:
		l.Note = "GPU memory: not known: " + err.Error()
	case on == "":
		l.Note = "GPU memory: staged through pinned host memory"
	case l.Name == string(mpi.OpenMPI):
		l.Note = "GPU memory: GPU-aware in messages, staged in collectives (" + on + ")"
	default:
		l.Note = "GPU memory: GPU-aware (" + on + ")"
	}
}

// Platform is a kind of GPU, with the libraries and GPUs that this process finds.
type Platform struct {
	Name      string    `json:"name"` // CUDA or HIP
	Libraries []Library `json:"libraries"`
	GPUs      []GPUInfo `json:"gpus,omitempty"`
}

// GPUInfo is one GPU that this process sees.
type GPUInfo struct {
	Index      int    `json:"index"`
	Name       string `json:"name"`
	Arch       string `json:"arch"`
	Memory     int    `json:"memory_bytes"`
	Processors int    `json:"processors"`
}

// gpuHints are the names of the libraries of a platform and what to install for them.
var gpuHints = map[string]map[string][2]string{
	CUDA: {
		"driver": {"CUDA driver", "the NVIDIA driver, on a machine with a GPU; GOLOPS_CUDA names other folders to search"}, "compiler": {"NVRTC", "the CUDA toolkit (pip install nvidia-cuda-nvrtc)"},
		"BLAS": {"cuBLAS", "the CUDA toolkit"}, "FFT": {"cuFFT", "the CUDA toolkit"}, NCCL: {"NCCL", "NCCL (pip install nvidia-nccl-cu12)"},
	},
	HIP: {
		"driver": {"HIP", "ROCm, on a machine with AMD GPUs; GOLOPS_HIP names other folders to search"}, "compiler": {"hipRTC", "ROCm"},
		"BLAS": {"hipBLAS", "ROCm"}, "FFT": {"hipFFT", "ROCm"}, NCCL: {"RCCL", "ROCm"},
	},
}

// missing returns why a GPU library was not opened: in short that its files were not found,
// or what is wrong with the file that was found.
func missing(err error) string {
	text, _, absent := strings.Cut(err.Error(), " not found")
	if !absent {
		return text
	}
	return strings.TrimSpace(text[strings.LastIndex(text, ": ")+1:]) + " not found"
}

// Platforms looks for GPUs and the libraries that reach them. It opens no GPU.
// Where PlatformError is not nil there are none.
func Platforms() []Platform {
	if PlatformError() != nil {
		return nil
	}
	var out []Platform
	for _, p := range platforms {
		report, hints := p.look(), gpuHints[p.name]
		o := Platform{Name: p.name}
		add := func(what, path, version string, err error) {
			l := Library{Name: hints[what][0], Path: path, Version: version}
			if err != nil {
				l.Missing, l.Hint = missing(err), hints[what][1]
			}
			o.Libraries = append(o.Libraries, l)
		}
		for _, f := range report.Libraries {
			add(f.What, f.Path, f.Version, f.Err)
		}
		if f, err := nccl.Find(p.name); err != nil {
			add(NCCL, "", "", err)
		} else {
			add(NCCL, f.Path, f.Version, nil)
		}
		for _, g := range report.Devices {
			o.GPUs = append(o.GPUs, GPUInfo{g.Index, g.Name, g.Arch, g.Memory, g.Processors})
		}
		out = append(out, o)
	}
	return out
}

// cpuLibrary is a library whose version is a function or a symbol.
type cpuLibrary struct {
	name    string
	files   []string
	hint    string
	version func(*dl.Lib) string
}

// cpuLibraries are the libraries other than MPI and those of GPUs.
var cpuLibraries = []cpuLibrary{
	{"OpenBLAS", []string{"libopenblas.so.0"}, "apt-get install libopenblas0", versionFunc("openblas_get_config")},
	{"FFTW", []string{"libfftw3.so.3"}, "apt-get install libfftw3-double3", versionSymbol("fftw_version")},
	{"FFTW (float32)", []string{"libfftw3f.so.3"}, "apt-get install libfftw3-single3", versionSymbol("fftwf_version")},
}

func (k cpuLibrary) find() Library {
	l := Library{Name: k.name}
	lib, err := dl.Open(dl.Local, k.files...)
	if err != nil {
		l.Missing, l.Hint = dl.Reason(err, k.files), k.hint
		return l
	}
	l.Path, l.Version = lib.Path, k.version(lib)
	return l
}

// versionFunc returns a version that a C function returns as a string.
func versionFunc(name string) func(*dl.Lib) string {
	return func(l *dl.Lib) string {
		f := l.Func(name)
		if f == 0 {
			return ""
		}
		return dl.CString(f.CallPointer())
	}
}

// versionSymbol returns a version that is a C string.
func versionSymbol(name string) func(*dl.Lib) string {
	return func(l *dl.Lib) string { return dl.CString(l.Addr(name)) }
}
