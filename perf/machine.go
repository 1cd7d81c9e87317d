package perf

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/golops/golops/device"
)

// Machine is what a measurement was made on.
type Machine struct {
	CPU        string `json:"cpu"`
	SIMD       string `json:"simd"` // the widest vector instructions, such as "AVX2"
	Cores      int    `json:"cores"`
	CPUs       int    `json:"cpus"` // that this process may use
	GOMAXPROCS int    `json:"gomaxprocs"`
	Memory     int64  `json:"memory_bytes,omitempty"` // 0 where it is not known
	Host       string `json:"host,omitempty"`
	Go         string `json:"go"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
}

// ThisMachine describes the machine of this process.
func ThisMachine() Machine {
	host, _ := os.Hostname() // a machine without a name is no reason to fail
	_, memory := device.HostMemory()
	m := Machine{
		CPU: strings.Join(strings.Fields(cpuid.CPU.BrandName), " "), SIMD: simd(),
		Cores: cpuid.CPU.PhysicalCores, CPUs: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0),
		Memory: memory, Host: host,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
	}
	if m.CPU == "" {
		m.CPU = "unknown " + runtime.GOARCH + " processor"
	}
	return m
}

// String is one line.
func (m Machine) String() string {
	return fmt.Sprintf("%s, CPUs %d, GOMAXPROCS %d, %s, %s %s/%s", m.CPU, m.CPUs, m.GOMAXPROCS, m.SIMD, m.Go, m.OS, m.Arch)
}

// simd names the widest vector instructions of the processor.
func simd() string {
	switch c := cpuid.CPU; {
	case c.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512CD, cpuid.AVX512DQ, cpuid.AVX512VL):
		return "AVX-512"
	case c.Supports(cpuid.AVX2, cpuid.FMA3):
		return "AVX2"
	case c.Supports(cpuid.AVX):
		return "AVX"
	case c.Supports(cpuid.SSE4):
		return "SSE4"
	case c.Supports(cpuid.SSE2):
		return "SSE2"
	case c.Supports(cpuid.SVE):
		return "SVE"
	case c.Supports(cpuid.ASIMD) || runtime.GOARCH == "arm64": // part of every arm64, even where it cannot be asked
		return "NEON"
	}
	return "no SIMD known"
}
