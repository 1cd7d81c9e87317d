package gpu

import (
	"embed"
	"fmt"
	"math/bits"
	"strings"
	"unsafe"

	"github.com/golops/golops/internal/dl"
)

//go:embed common.cuh *.cu
var sources embed.FS

// function is a kernel. It is compiled and loaded when first launched.
type function struct {
	handle  uintptr // 0 if not loaded
	file    string
	name    string
	options []string
	shared  int // bytes of dynamic shared memory that the driver allows it
}

// source returns common.cuh followed by a file.
func source(file string) (string, error) {
	common, err := sources.ReadFile("common.cuh")
	if err != nil {
		return "", err
	}
	body, err := sources.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("no such kernels: %w", err)
	}
	return fmt.Sprintf("#line 1 \"common.cuh\"\n%s\n#line 1 \"%s\"\n%s", common, file, body), nil
}

// load sets the handle of f.
func (d *Device) load(f *function) error {
	key := f.file + " " + strings.Join(f.options, " ")
	module, loaded := d.modules[key]
	if !loaded {
		var err error
		if module, err = d.loadModule(f); err != nil {
			return fmt.Errorf("%s: kernel %s: %w", d.p.Name, f.name, err)
		}
		d.modules[key] = module
	}
	name, h := cstring(f.name), new(uintptr)
	if r := d.drv.Function.Call(dl.Pointer(h), module, dl.Pointer(&name[0])); r != ok {
		return fmt.Errorf("%s: kernel %s of %s: %w", d.p.Name, f.name, f.file, d.drv.fault(r))
	}
	f.handle = *h
	return nil
}

// loadModule compiles the file of f and loads the code into this device.
func (d *Device) loadModule(f *function) (uintptr, error) {
	if d.rtc == nil {
		c, err := openCompiler(d.p, d.drv.major(), d.drv.folder)
		if err != nil {
			return 0, err
		}
		d.rtc = c
	}
	src, err := source(f.file)
	if err != nil {
		return 0, err
	}
	var code []byte
	for try := range 2 { // cached code may be for another driver
		if code, err = d.rtc.imageOf(d.cache, f.file, src, d.info.Arch, f.options, code); err != nil {
			return 0, err
		}
		module := new(uintptr)
		r := d.drv.ModuleLoad.Call(dl.Pointer(module), dl.Pointer(&code[0]))
		if r == ok {
			return *module, nil
		}
		err = fmt.Errorf("load %s, compiled by %s %d.%d for %s, into the driver %s: %w; a compiler older than the driver works, name its folder in %s",
			f.file, d.rtc.lib.Path, d.rtc.major, d.rtc.minr, d.info.Arch, d.drv.versionText(), d.drv.fault(r), d.p.Env)
		if try > 0 {
			break
		}
	}
	return 0, err
}

// argsSize is the most bytes of arguments that a kernel takes.
const argsSize = 4096

// grid is the number of blocks along x and y.
type grid struct{ x, y int }

// blocks returns a grid with enough blocks for n threads.
func blocks(n, block int) grid { return grid{(n + block - 1) / block, 1} }

// The most blocks that a grid can have along x and y.
const (
	maxGrid  = 1<<31 - 1
	maxGridY = 1<<16 - 1
)

// powerOf2 returns the smallest power of 2 that is at least n, but at most most,
// itself a power of 2.
func powerOf2(n, most int) int {
	if n >= most {
		return most
	}
	return 1 << bits.Len(uint(max(n, 1)-1))
}

// launch starts a kernel. block is the number of threads of a block and shared its
// bytes of dynamic shared memory. launch copies the arguments a. It does nothing for
// a grid without blocks. It records failures for Device.takeErr.
func launch[A any](d *Device, f *function, g grid, block, shared int, a *A) {
	if g.x == 0 || g.y == 0 || d.err != nil {
		return
	}
	if unsafe.Sizeof(*a) > argsSize {
		panic("gpu: the arguments of kernel " + f.name + " are too large")
	}
	*(*A)(unsafe.Pointer(d.args)) = *a
	d.start(f, g, block, shared)
}

// start starts a kernel whose arguments are in d.args.
func (d *Device) start(f *function, g grid, block, shared int) {
	d.enter()
	defer d.leave()
	if f.handle == 0 {
		if err := d.load(f); err != nil {
			d.fail(err)
			return
		}
	}
	if shared > f.shared && d.drv.FunctionSet != 0 {
		if r := d.drv.FunctionSet.Call(f.handle, attrSharedSize, uintptr(shared)); r != ok {
			d.fail(fmt.Errorf("%s: kernel %s with %d bytes of shared memory: %w", d.p.Name, f.name, shared, d.drv.fault(r)))
			return
		}
		f.shared = shared
	}
	r := d.drv.Launch.Call(f.handle, uintptr(g.x), uintptr(g.y), 1, uintptr(block), 1, 1, uintptr(shared), d.stream, d.params, 0)
	if r != ok {
		d.fail(fmt.Errorf("%s: launch kernel %s in %d×%d blocks of %d threads: %w", d.p.Name, f.name, g.x, g.y, block, d.drv.fault(r)))
	}
	d.busy = true
}
