package cpu

import "unsafe"

//go:noescape
func tapsF64(dst *float64, src *unsafe.Pointer, c *float64, taps, n, add int)

//go:noescape
func tapsF32(dst *float32, src *unsafe.Pointer, c *float32, taps, n, add int)

// tapsVector sets dst to, or increases it by, the sum of runs as long as dst, each
// with its factor.
func tapsVector[F float](dst []F, src []unsafe.Pointer, c []F, add bool) {
	flag := 0
	if add {
		flag = 1
	}
	if unsafe.Sizeof(F(0)) == 8 {
		tapsF64(ptr[float64](dst), &src[0], ptr[float64](c), len(src), 8*len(dst), flag)
	} else {
		tapsF32(ptr[float32](dst), &src[0], ptr[float32](c), len(src), 4*len(dst), flag)
	}
}
