package cpu

import "unsafe"

// Matrix-vector products on the vector units, which read a matrix as fast as
// memory gives it. Each function returns how many components of a row it has done;
// what is left is plain Go.

//go:noescape
func dotRowsF64(s, a, x *float64, stride, n int)

//go:noescape
func dotRowsF32(s, a, x *float32, stride, n int)

//go:noescape
func dotPairRowsF64(s, a, x *float64, stride, n int)

//go:noescape
func dotPairRowsF32(s, a, x *float32, stride, n int)

//go:noescape
func addRowsF64(y, a, c *float64, stride, n int)

//go:noescape
func addRowsF32(y, a, c *float32, stride, n int)

//go:noescape
func addPairRowsF64(y, a, c *float64, stride, n int)

//go:noescape
func addPairRowsF32(y, a, c *float32, stride, n int)

// dotRowsVector sets s to the products of x with four rows of a that are stride
// components apart.
func dotRowsVector[F float](s *[4]F, a, x []F, stride int) int {
	n, bytes := whole[F](len(x), 64)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		dotRowsF64(ptr[float64](s[:]), ptr[float64](a), ptr[float64](x), 8*stride, bytes)
	default:
		dotRowsF32(ptr[float32](s[:]), ptr[float32](a), ptr[float32](x), 4*stride, bytes)
	}
	return n
}

// dotPairRowsVector is dotRowsVector for complex numbers. A row has four sums, of
// products of components: of re·re, im·im, re·im and im·re.
func dotPairRowsVector[F float](s *[16]F, a, x []F, stride int) int {
	n, bytes := whole[F](len(x), 64)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		dotPairRowsF64(ptr[float64](s[:]), ptr[float64](a), ptr[float64](x), 8*stride, bytes)
	default:
		dotPairRowsF32(ptr[float32](s[:]), ptr[float32](a), ptr[float32](x), 4*stride, bytes)
	}
	return n
}

// addRowsVector adds to y eight rows of a, with a factor each, that are stride
// components apart.
func addRowsVector[F float](y, a []F, c *[8]F, stride int) int {
	n, bytes := whole[F](len(y), 64)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		addRowsF64(ptr[float64](y), ptr[float64](a), ptr[float64](c[:]), 8*stride, bytes)
	default:
		addRowsF32(ptr[float32](y), ptr[float32](a), ptr[float32](c[:]), 4*stride, bytes)
	}
	return n
}

// addPairRowsVector is addRowsVector for four rows of complex numbers.
func addPairRowsVector[F float](y, a []F, c *[8]F, stride int) int {
	n, bytes := whole[F](len(y), 64)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		addPairRowsF64(ptr[float64](y), ptr[float64](a), ptr[float64](c[:]), 8*stride, bytes)
	default:
		addPairRowsF32(ptr[float32](y), ptr[float32](a), ptr[float32](c[:]), 4*stride, bytes)
	}
	return n
}
