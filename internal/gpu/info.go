package gpu

import (
	"bytes"
	"fmt"

	"github.com/golops/golops/internal/dl"
)

// Info describes a device.
type Info struct {
	Index      int
	ID         string // unique on the machine, unlike Index, which depends on the process
	Name       string
	Arch       string // "sm_90", "gfx942"
	Memory     int    // bytes
	Processors int    // multiprocessors, or compute units
	Shared     int    // bytes of shared memory that one block can have
	L2         int    // bytes of cache
}

// info describes a device without opening it.
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
		in.Arch = in.Name // distinguishes its compiled kernels
	}
	return in, nil
}

// id is the UUID of a device. Without one it is the index.
func (drv *driver) id(index int, dev int32) string {
	uuid := make([]byte, 16)
	if drv.UUID == 0 || drv.UUID.Call(dl.Pointer(&uuid[0]), uintptr(dev)) != ok {
		return fmt.Sprint("device ", index)
	}
	return fmt.Sprintf("%x", uuid)
}

// gfx finds the name of AMD's architecture in the properties of a device. Its offset
// depends on the version. It always begins with gfx.
func (drv *driver) gfx(index int) string {
	props := make([]byte, 8<<10)
	if drv.Properties == 0 || drv.Properties.Call(dl.Pointer(&props[0]), uintptr(index)) != ok {
		return ""
	}
	const name = 256 // bytes of the device's name, which comes first
	at := bytes.Index(props[name:], []byte("gfx"))
	if at < 0 {
		return ""
	}
	return dl.String(props[name+at:])
}
