//go:build !amd64

package driver

import (
	"unsafe"

	"github.com/golops/golops/scalar"
)

// vectorAdd and vectorAddInto2 return how many elements they have done: none here.
func vectorAdd(scalar.DType, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, int) int { return 0 }

func vectorAddInto2(scalar.DType, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, int, bool) int {
	return 0
}
