package gpu

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/golops/golops/internal/dl"
)

// compiler compiles kernels at run time: NVRTC or hipRTC.
type compiler struct {
	p           *Platform
	lib         *dl.Lib
	major, minr int32

	Version dl.Func `cuda:"nvrtcVersion" hip:"hiprtcVersion"`
	Text    dl.Func `cuda:"nvrtcGetErrorString,optional" hip:"hiprtcGetErrorString,optional"`
	Create  dl.Func `cuda:"nvrtcCreateProgram" hip:"hiprtcCreateProgram"`
	Destroy dl.Func `cuda:"nvrtcDestroyProgram" hip:"hiprtcDestroyProgram"`
	Compile dl.Func `cuda:"nvrtcCompileProgram" hip:"hiprtcCompileProgram"`
	LogSize dl.Func `cuda:"nvrtcGetProgramLogSize" hip:"hiprtcGetProgramLogSize"`
	Log     dl.Func `cuda:"nvrtcGetProgramLog" hip:"hiprtcGetProgramLog"`
	PTXSize dl.Func `cuda:"nvrtcGetPTXSize" hip:"hiprtcGetCodeSize"`
	PTX     dl.Func `cuda:"nvrtcGetPTX" hip:"hiprtcGetCode"`
	// Without these NVRTC makes PTX, which the driver compiles.
	BinarySize dl.Func `cuda:"nvrtcGetCUBINSize,optional"`
	Binary     dl.Func `cuda:"nvrtcGetCUBIN,optional"`
	ArchCount  dl.Func `cuda:"nvrtcGetNumSupportedArchs,optional"`
	Archs      dl.Func `cuda:"nvrtcGetSupportedArchs,optional"`
}

// openCompiler opens the compiler. major is the driver's version.
func openCompiler(p *Platform, major int, folder string) (*compiler, error) {
	c := &compiler{p: p}
	var err error
	if c.lib, err = p.open(p.compiler, major, folder); err != nil {
		return nil, fmt.Errorf("%s: no compiler for kernels: %w; install %s and name its folder in %s", p.Name, err, toolkit(p, major), p.Env)
	}
	if err := p.bind(c.lib, c); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	v := new([2]int32)
	if r := c.Version.Call(dl.Pointer(&v[0]), dl.Pointer(&v[1])); r != ok {
		return nil, fmt.Errorf("version of %s: %w", c.lib.Path, c.fault(r))
	}
	c.major, c.minr = v[0], v[1]
	if p.target != "" {
		// NVRTC searches for this library on the loader's path only. It finds it once
		// it has been opened here. Some versions do not have it.
		_, _ = dl.Open(dl.Local, filepath.Join(filepath.Dir(c.lib.Path), fmt.Sprintf("libnvrtc-builtins.so.%d.%d", c.major, c.minr)))
	}
	return c, nil
}

// toolkit names what to install for a driver of version major. Except for the newest
// version, pip's package has the version in its name.
func toolkit(p *Platform, major int) string {
	switch {
	case p.Name != CUDA.Name:
		return p.Title + "'s toolkit"
	case major == 11 || major == 12:
		return fmt.Sprintf("CUDA's toolkit or the pip package nvidia-cuda-nvrtc-cu%d", major)
	}
	return "CUDA's toolkit or the pip package nvidia-cuda-nvrtc"
}

func (c *compiler) fault(code int32) error {
	text := ""
	if c.Text != 0 {
		text = ": " + dl.CString(c.Text.CallPointer(uintptr(code)))
	}
	return fmt.Errorf("%s: the compiler's error %d%s", c.p.Name, code, text)
}

// archs returns the architectures that NVRTC knows, in order, or nil.
func (c *compiler) archs() []int32 {
	n := new(int32)
	if c.ArchCount == 0 || c.Archs == 0 || c.ArchCount.Call(dl.Pointer(n)) != ok || *n <= 0 {
		return nil
	}
	all := make([]int32, *n)
	if c.Archs.Call(dl.Pointer(&all[0])) != ok {
		return nil
	}
	slices.Sort(all)
	return all
}

// archOption returns the compiler's option for a device's architecture. If the
// compiler knows the architecture it makes machine code. Otherwise it makes PTX for
// the newest older architecture, and the driver compiles that.
func (c *compiler) archOption(arch string) (option string, binary bool, err error) {
	if c.p.target == "" {
		if !strings.HasPrefix(arch, "gfx") {
			return "", false, nil // hipRTC compiles for the current device
		}
		return "--gpu-architecture=" + arch, false, nil
	}
	number := int32(0)
	if _, err := fmt.Sscanf(arch, c.p.target+"%d", &number); err != nil {
		return "", false, fmt.Errorf("%s: unknown architecture %q", c.p.Name, arch)
	}
	known := c.archs()
	if c.Binary != 0 && c.BinarySize != 0 && (known == nil || slices.Contains(known, number)) {
		return "--gpu-architecture=" + arch, true, nil
	}
	newest := int32(0)
	for _, k := range known {
		if k <= number {
			newest = k
		}
	}
	switch {
	case newest != 0:
		return fmt.Sprintf("--gpu-architecture=compute_%d", newest), false, nil
	case known == nil:
		return fmt.Sprintf("--gpu-architecture=compute_%d", number), false, nil
	}
	return "", false, fmt.Errorf("%s: %s %d.%d compiles for %s%d and newer, not for %s: install an older one and name its folder in %s",
		c.p.Name, c.lib.Path, c.major, c.minr, c.p.target, known[0], arch, c.p.Env)
}

// compile returns the machine code of a source. The options do not name an
// architecture.
func (c *compiler) compile(name, source, arch string, options []string) ([]byte, error) {
	target, binary, err := c.archOption(arch)
	if err != nil {
		return nil, err
	}
	options = append([]string{"-std=c++17"}, options...)
	if target != "" {
		options = append(options, target)
	}
	src, file := cstring(source), cstring(name)
	opts, at := make([][]byte, len(options)), make([]uintptr, len(options))
	for i, o := range options {
		opts[i] = cstring(o)
		at[i] = dl.Pointer(&opts[i][0])
	}
	prog := new(uintptr)
	if r := c.Create.Call(dl.Pointer(prog), dl.Pointer(&src[0]), dl.Pointer(&file[0]), 0, 0, 0); r != ok {
		return nil, fmt.Errorf("compile %s: %w", name, c.fault(r))
	}
	defer c.Destroy.Call(dl.Pointer(prog))
	r := c.Compile.Call(*prog, uintptr(len(at)), dl.Pointer(&at[0]))
	runtime.KeepAlive(opts)
	if r != ok {
		log, _ := c.result(c.LogSize, c.Log, *prog)
		return nil, fmt.Errorf("compile %s with %s: %w\n%s", name, strings.Join(options, " "), c.fault(r), dl.String(log))
	}
	if binary {
		return c.result(c.BinarySize, c.Binary, *prog)
	}
	return c.result(c.PTXSize, c.PTX, *prog)
}

// result returns the log or the code of a program.
func (c *compiler) result(size, get dl.Func, prog uintptr) ([]byte, error) {
	n := new(uintptr)
	if r := size.Call(prog, dl.Pointer(n)); r != ok {
		return nil, c.fault(r)
	}
	if *n == 0 {
		return nil, errors.New("the compiler returned no code")
	}
	b := make([]byte, *n)
	if r := get.Call(prog, dl.Pointer(&b[0])); r != ok {
		return nil, c.fault(r)
	}
	return b, nil
}

// cstring returns s as a C string.
func cstring(s string) []byte { return append([]byte(s), 0) }
