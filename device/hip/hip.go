// Package hip is the device of an AMD GPU. It opens HIP's libraries at run time.
package hip

import "github.com/golops/golops/internal/gpu"

// Config selects a GPU and the folders of its libraries and kernels.
type Config = gpu.Config

// Device is one GPU.
type Device = gpu.Device

// New opens a GPU. Close frees everything that it holds.
func New(cfg Config) (*Device, error) { return gpu.New(gpu.HIP, cfg) }

// Count returns how many GPUs this process sees. The usual error is a missing driver.
func Count() (int, error) { return gpu.Count(gpu.HIP) }

// Detect finds the libraries and GPUs. It opens no GPU.
func Detect() gpu.Report { return gpu.Detect(gpu.HIP) }
