package gpu

import (
	"fmt"
	"strings"

	"github.com/golops/golops/internal/dl"
)

// Found is one library of a platform. Err says why it was not found.
type Found struct {
	What    string
	Path    string
	Version string
	Err     error
}

// Report lists the libraries and devices of a platform.
type Report struct {
	Libraries []Found
	Devices   []Info
	Cache     string // folder of compiled kernels
}

// Count returns how many devices this process sees.
func Count(p *Platform) (int, error) {
	drv, err := openDriver(p, "")
	if err != nil {
		return 0, err
	}
	return drv.count()
}

// Detect finds the libraries and devices of a platform. It opens no device.
func Detect(p *Platform) Report {
	rep := Report{Cache: cacheFolder("")}
	add := func(f Found) { rep.Libraries = append(rep.Libraries, f) }
	drv, err := openDriver(p, "")
	major := 0 // any version
	if err != nil {
		add(Found{What: "driver", Err: err})
	} else {
		major = drv.major()
		add(Found{What: "driver", Path: drv.lib.Path, Version: drv.versionText()})
	}
	if c, err := openCompiler(p, major, ""); err != nil {
		add(Found{What: "compiler", Err: err})
	} else {
		add(Found{What: "compiler", Path: c.lib.Path, Version: fmt.Sprintf("%d.%d", c.major, c.minr)})
	}
	for _, l := range []struct {
		what string
		libs []library
	}{{"BLAS", p.blas}, {"FFT", p.fft}} {
		f := Found{What: l.what}
		if lib, err := p.open(l.libs, major, ""); err != nil {
			f.Err = err
		} else {
			f.Path, f.Version = lib.Path, property(lib)
		}
		add(f)
	}
	if drv == nil {
		return rep
	}
	n, err := drv.count()
	if err != nil {
		rep.Libraries[0].Err = err
	}
	for i := range n {
		in, err := drv.info(i)
		if err != nil {
			in = Info{Index: i, Name: err.Error()}
		}
		rep.Devices = append(rep.Devices, in)
	}
	return rep
}

// property returns the version of cuBLAS or cuFFT, "" for other libraries. These two
// report it before they are initialised.
func property(lib *dl.Lib) string {
	text := ""
	for _, name := range []string{"cublasGetProperty", "cufftGetProperty"} {
		f := lib.Func(name)
		if f == 0 {
			continue
		}
		for part := range uintptr(3) { // major, minor, patch
			v := new(int32)
			if f.Call(part, dl.Pointer(v)) != ok {
				return ""
			}
			text += fmt.Sprint(".", *v)
		}
	}
	return strings.TrimPrefix(text, ".")
}
