//go:build !amd64

package fft

const level = 0

// unitOf returns nil: all loops are plain Go.
func unitOf[F Float]() *unit { return nil }

func unitAt[F Float](int) *unit { return nil }
