//go:build !unix

package gpusim

import "github.com/golops/golops/internal/dl"

// lock is never called: Build has refused.
func lock(string) (unlock func(), err error) { return nil, dl.NeedsLinux("simulated GPUs") }
