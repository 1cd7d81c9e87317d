//go:build !amd64

package comm

import (
	"unsafe"

	"github.com/golops/golops/scalar"
)

// vectorAdd and vectorAddTwice return how many elements they did: none here.
func vectorAdd(scalar.DType, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, int) int { return 0 }

func vectorAddTwice(scalar.DType, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, int, bool) int {
	return 0
}
