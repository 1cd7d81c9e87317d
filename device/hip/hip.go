// Package hip is an AMD GPU as a device, through ROCm's libraries, which it
// opens at run time.
package hip

import "github.com/golops/golops/internal/gpu"

// Config says which GPU, and where to find what it needs.
type Config = gpu.Config

// Device is one GPU.
type Device = gpu.Device

// New opens a GPU. Close gives back all that it holds.
func New(cfg Config) (*Device, error) { return gpu.New(gpu.HIP, cfg) }

// Count returns how many GPUs this process sees. The error says why that cannot
// be known: mostly because there is no driver.
func Count() (int, error) { return gpu.Count(gpu.HIP) }

// Detect reports which libraries and GPUs there are. It opens no GPU.
func Detect() gpu.Report { return gpu.Detect(gpu.HIP) }
