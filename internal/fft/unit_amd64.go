package fft

import "github.com/klauspost/cpuid/v2"

// level is the best vector unit of this machine: 0 for none, 1 for AVX2, 2 for AVX-512.
var level = func() int {
	switch {
	case cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512VL, cpuid.AVX512BW):
		return 2
	case cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3):
		return 1
	}
	return 0
}()

// unitOf returns the vector unit for F, nil if there is none.
func unitOf[F Float]() *unit { return unitAt[F](level) }

// unitAt returns the unit of a level, nil for plain Go.
func unitAt[F Float](level int) *unit {
	if level == 0 {
		return nil
	}
	return &vectorUnits[level-1][2-size[F]()/4]
}
