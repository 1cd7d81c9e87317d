package cpu

import "unsafe"

//go:noescape
func copyRowsAhead(dst, src unsafe.Pointer, n, rows, dstStride, srcStride int)

// copyRowsVector copies n components of each of some rows, whose beginnings are strides
// apart. It asks for later rows early: a processor cannot guess where they are. It
// returns how many components of each row it has done.
func copyRowsVector[F float](dst, src []F, rows, n, dstStride, srcStride int) int {
	n, bytes := whole[F](n, 64)
	if n == 0 || rows == 0 {
		return 0
	}
	size := bytes / n
	to, from := dst[:(rows-1)*dstStride+n], src[:(rows-1)*srcStride+n]
	copyRowsAhead(unsafe.Pointer(&to[0]), unsafe.Pointer(&from[0]), bytes, rows, size*dstStride, size*srcStride)
	return n
}
