package gpu

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/golops/golops/internal/dl"
)

// Info is what a device is.
type Info struct {
	Index      int
	ID         string // tells it from others of the machine, whatever its index in this process
	Name       string
	Arch       string // "sm_90", "gfx942"
	Memory     int    // bytes
	Processors int    // multiprocessors, or compute units
	Shared     int    // bytes of shared memory that one block can have
	L2         int    // bytes of cache
}

// info finds out what a device is, without opening it.
func (drv *driver) info(index int) (Info, error) {
	dev := new(int32)
	if r := drv.Device.Call(dl.Pointer(dev), uintptr(index)); r != ok {
		return Info{}, drv.fault(r)
	}
	p := drv.p
	in := Info{
		Index: index, Processors: max(1, drv.attribute(p.attrProcessors, *dev)),
		Shared: drv.attribute(p.attrShared, *dev), L2: drv.attribute(p.attrL2, *dev),
	}
	name := make([]byte, 256)
	if r := drv.DeviceName.Call(dl.Pointer(&name[0]), uintptr(len(name)), uintptr(*dev)); r != ok {
		return Info{}, drv.fault(r)
	}
	in.Name = dl.String(name)
	in.ID = drv.id(index, *dev)
	size := new(uintptr)
	if r := drv.TotalMem.Call(dl.Pointer(size), uintptr(*dev)); r != ok {
		return Info{}, drv.fault(r)
	}
	in.Memory = int(*size)
	if p.target != "" {
		in.Arch = fmt.Sprintf("%s%d%d", p.target, drv.attribute(p.attrMajor, *dev), drv.attribute(p.attrMinor, *dev))
	} else if in.Arch = drv.gfx(index); in.Arch == "" {
		in.Arch = in.Name // tells kernels for it from others
	}
	return in, nil
}

// id is the unique number of a device or, where it has none, its index.
func (drv *driver) id(index int, dev int32) string {
	uuid := make([]byte, 16)
	if drv.UUID == 0 || drv.UUID.Call(dl.Pointer(&uuid[0]), uintptr(dev)) != ok {
		return fmt.Sprint("device ", index)
	}
	return fmt.Sprintf("%x", uuid)
}

// gfx finds the name of AMD's architecture in the properties of a device. Where
// it lies differs from version to version; that it begins with gfx does not.
func (drv *driver) gfx(index int) string {
	props := make([]byte, 8<<10)
	if drv.Properties == 0 || drv.Properties.Call(dl.Pointer(&props[0]), uintptr(index)) != ok {
		return ""
	}
	const name = 256 // the device's, which comes first
	at := bytes.Index(props[name:], []byte("gfx"))
	if at < 0 {
		return ""
	}
	return dl.String(props[name+at:])
}

// Found is one library of a platform: where it is and which version, or why not.
type Found struct {
	What    string
	Path    string
	Version string
	Err     error
}

// Report is what there is of a platform.
type Report struct {
	Libraries []Found
	Devices   []Info
	Cache     string // of compiled kernels
}

// Count returns how many devices this process sees. The error says why that
// cannot be known.
func Count(p *Platform) (int, error) {
	drv, err := openDriver(p, "")
	if err != nil {
		return 0, err
	}
	return drv.count()
}

// Detect reports which libraries and devices there are. It opens no device.
func Detect(p *Platform) Report {
	rep := Report{Cache: cacheFolder("")}
	add := func(f Found) { rep.Libraries = append(rep.Libraries, f) }
	drv, err := openDriver(p, "")
	major := 0 // of any version
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

// property returns the version of a library of NVIDIA that can be asked for it
// before it is started, "" for others.
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
