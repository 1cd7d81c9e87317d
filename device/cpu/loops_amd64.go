package cpu

import "unsafe"

// Loops that work element by element, on the vector units. Each function returns
// how many components it has done; the rest is plain Go, with the same results.

//go:noescape
func mulF64(dst, x, y *float64, n int)

//go:noescape
func mulF32(dst, x, y *float32, n int)

//go:noescape
func scaleF64(dst, x *float64, n int, a float64)

//go:noescape
func scaleF32(dst, x *float32, n int, a float32)

//go:noescape
func scaleAddF64(dst, x, y *float64, n int, a float64)

//go:noescape
func scaleAddF32(dst, x, y *float32, n int, a float32)

//go:noescape
func combineF64(dst, x, y *float64, n int, a, b float64)

//go:noescape
func combineF32(dst, x, y *float32, n int, a, b float32)

//go:noescape
func sqrtF64(x *float64, n int)

// sqrtVector takes the roots of x.
func sqrtVector(x []float64) int {
	n, bytes := whole[float64](len(x), 64)
	if n > 0 {
		sqrtF64(ptr[float64](x), bytes)
	}
	return n
}

func mulVector[F float](dst, x, y []F) int {
	n, bytes := whole[F](len(dst), 64)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		mulF64(ptr[float64](dst), ptr[float64](x), ptr[float64](y), bytes)
	default:
		mulF32(ptr[float32](dst), ptr[float32](x), ptr[float32](y), bytes)
	}
	return n
}

func scaleVector[F float](dst []F, a F, x []F) int {
	n, bytes := whole[F](len(dst), 64)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		scaleF64(ptr[float64](dst), ptr[float64](x), bytes, float64(a))
	default:
		scaleF32(ptr[float32](dst), ptr[float32](x), bytes, float32(a))
	}
	return n
}

func scaleAddVector[F float](dst []F, a F, x, y []F) int {
	n, bytes := whole[F](len(dst), 64)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		scaleAddF64(ptr[float64](dst), ptr[float64](x), ptr[float64](y), bytes, float64(a))
	default:
		scaleAddF32(ptr[float32](dst), ptr[float32](x), ptr[float32](y), bytes, float32(a))
	}
	return n
}

func combineVector[F float](dst []F, a F, x []F, b F, y []F) int {
	n, bytes := whole[F](len(dst), 64)
	switch {
	case n == 0:
	case unsafe.Sizeof(F(0)) == 8:
		combineF64(ptr[float64](dst), ptr[float64](x), ptr[float64](y), bytes, float64(a), float64(b))
	default:
		combineF32(ptr[float32](dst), ptr[float32](x), ptr[float32](y), bytes, float32(a), float32(b))
	}
	return n
}
