//go:build !amd64

package fft

const level = 0

// unitOf returns nil: all loops are plain Go.
func unitOf[F Float]() *unit { return nil }

func unitAt[F Float](int) *unit { return nil }

func unitsUpTo[F Float](u *unit) []*unit { return nil }

// VectorBits returns how many bits the vector registers have that transforms use, 0 for plain Go.
func VectorBits() int { return 0 }
