package scalar

// From returns v as a T. A real T takes the real part.
func From[T Scalar](v complex128) (t T) {
	switch p := any(&t).(type) {
	case *float32:
		*p = float32(real(v))
	case *float64:
		*p = real(v)
	case *complex64:
		*p = complex64(v)
	case *complex128:
		*p = v
	}
	return t
}

// Complex returns v as a complex128, which holds every Scalar exactly.
func Complex[T Scalar](v T) complex128 {
	switch v := any(v).(type) {
	case float32:
		return complex(float64(v), 0)
	case float64:
		return complex(v, 0)
	case complex64:
		return complex128(v)
	case complex128:
		return v
	}
	return 0
}

// Conj returns the complex conjugate of v, v itself if it is real.
func Conj[T Scalar](v T) T {
	c := Complex(v)
	return From[T](complex(real(c), -imag(c)))
}
