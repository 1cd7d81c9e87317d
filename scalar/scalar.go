// Package scalar names the element types that golops computes with and moves
// between ranks.
package scalar

import (
	"fmt"
	"strings"
)

// Scalar is the set of element types that arrays and operators compute with.
// It has no ~: a kernel is chosen by exact type.
type Scalar interface {
	float32 | float64 | complex64 | complex128
}

// Element is the set of element types that ranks can exchange: the Scalars,
// the integers that describe them, and 16-bit floats.
type Element interface {
	uint8 | int32 | int64 | Float16 | BFloat16 | Scalar
}

// DType names an Element at run time, on the far side of a type-erased boundary.
type DType uint8

// The element types. The zero DType is none of them.
const (
	Uint8 DType = iota + 1
	Int32
	Int64
	Float32
	Float64
	Complex64
	Complex128
	Half  // Float16
	Brain // BFloat16
)

// DTypes lists every element type.
var DTypes = [...]DType{Uint8, Int32, Int64, Float32, Float64, Complex64, Complex128, Half, Brain}

var names = [...]string{"none", "uint8", "int32", "int64", "float32", "float64", "complex64", "complex128", "float16", "bfloat16"}
var sizes = [...]int{0, 1, 4, 8, 4, 8, 8, 16, 2, 2}

// Names lists the names of all element types.
func Names() string { return strings.Join(names[1:], ", ") }

// Of returns the DType of T.
func Of[T Element]() DType {
	var z T
	switch any(z).(type) {
	case uint8:
		return Uint8
	case int32:
		return Int32
	case int64:
		return Int64
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	case Float16:
		return Half
	case BFloat16:
		return Brain
	}
	return Complex128
}

// Valid reports whether d is one of the element types.
func (d DType) Valid() bool { return d >= Uint8 && d <= Brain }

// Size returns the bytes of one element, 0 if d is not Valid.
func (d DType) Size() int {
	if !d.Valid() {
		return 0
	}
	return sizes[d]
}

// IsComplex reports whether d is complex64 or complex128.
func (d DType) IsComplex() bool { return d == Complex64 || d == Complex128 }

// String returns the Go name of d.
func (d DType) String() string {
	if int(d) < len(names) {
		return names[d]
	}
	return fmt.Sprintf("DType(%d)", uint8(d))
}

// ParseDType returns the element type called s. It also takes the names of C
// that nccl-tests uses: float, double, int, half.
func ParseDType(s string) (DType, error) {
	switch s {
	case "float":
		return Float32, nil
	case "double":
		return Float64, nil
	case "int":
		return Int32, nil
	case "half":
		return Half, nil
	}
	for _, d := range DTypes {
		if names[d] == s {
			return d, nil
		}
	}
	return 0, fmt.Errorf("unknown element type %q: have %s", s, Names())
}
