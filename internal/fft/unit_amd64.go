package fft

import "github.com/klauspost/cpuid/v2"

// level is the best vector unit of this machine: 0 for none, 1 for AVX2, 2 for AVX-512 in
// registers of 256 bits, 3 for AVX-512.
var level = func() int {
	switch {
	case cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512VL, cpuid.AVX512BW):
		return 3
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

// unitsUpTo returns u and those of fewer lanes that suit short lines.
func unitsUpTo[F Float](u *unit) []*unit {
	if u == unitAt[F](3) {
		return []*unit{u, unitAt[F](2)}
	}
	return []*unit{u}
}

// VectorBits returns how many bits the vector registers have that transforms use, 0 for plain Go.
func VectorBits() int { return [...]int{0, 256, 256, 512}[level] }
