// Package soak says how much a test does. make test does enough to run all code once. make soak
// repeats it: longer random sequences, more numbers of ranks, every version of a library.
package soak

import "os"

// On reports whether the tests run under make soak, which sets GOLOPS_SOAK.
func On() bool { return os.Getenv("GOLOPS_SOAK") != "" }

// Or returns soaking under make soak, and otherwise short.
func Or[T any](short, soaking T) T {
	if On() {
		return soaking
	}
	return short
}
