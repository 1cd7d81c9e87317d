package cpu

import "unsafe"

// Sums on the vector units. Each function returns how many components it has added;
// what is left is plain Go. Which those are depends on the length alone.

//go:noescape
func dotF64(x, y *float64, n int) float64

//go:noescape
func dotF32(x, y *float32, n int) float64

//go:noescape
func dotPairsF64(s *[4]float64, x, y *float64, n int)

//go:noescape
func dotPairsF32(s *[4]float64, x, y *float32, n int)

//go:noescape
func sumF64(s *[2]float64, x *float64, n int)

//go:noescape
func sumF32(s *[2]float64, x *float32, n int)

//go:noescape
func addColumnsF64(s, x *float64, stride, n int)

//go:noescape
func addColumnsF32(s *float64, x *float32, stride, n int)

// whole returns the largest number of components up to n whose bytes are a multiple of
// of, and those bytes. Both are 0 without vector units.
func whole[F float](n, of int) (parts, bytes int) {
	if !vectors {
		return 0, 0
	}
	size := int(unsafe.Sizeof(F(0)))
	parts = n &^ (of/size - 1)
	return parts, parts * size
}

// dotVector returns Σ x·y of the first n parts.
func dotVector[F float](x, y []F) (n int, s float64) {
	n, bytes := whole[F](len(x), 128)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		s = dotF64(ptr[float64](x), ptr[float64](y), bytes)
	default:
		s = dotF32(ptr[float32](x), ptr[float32](y), bytes)
	}
	return n, s
}

// dotPairsVector sets s to the sums of re·re, im·im, re·im and im·re of x and y.
func dotPairsVector[F float](s *[4]float64, x, y []F) int {
	n, bytes := whole[F](len(x), 128)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		dotPairsF64(s, ptr[float64](x), ptr[float64](y), bytes)
	default:
		dotPairsF32(s, ptr[float32](x), ptr[float32](y), bytes)
	}
	return n
}

// sumVector sets s to the sums of the parts at even and at odd places.
func sumVector[F float](s *[2]float64, x []F) int {
	n, bytes := whole[F](len(x), 128)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		sumF64(s, ptr[float64](x), bytes)
	default:
		sumF32(s, ptr[float32](x), bytes)
	}
	return n
}

// addColumnsVector adds to s four rows of x that are stride components apart.
func addColumnsVector[F float](s []float64, x []F, stride int) int {
	n, bytes := whole[F](len(s), 4*int(unsafe.Sizeof(F(0))))
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		addColumnsF64(&s[0], ptr[float64](x), 8*stride, bytes)
	default:
		addColumnsF32(&s[0], ptr[float32](x), 4*stride, bytes)
	}
	return n
}
