package cpu

import "testing"

// WithoutVectors makes kernels use no vector units until the test ends.
func WithoutVectors(t *testing.T) {
	was := vectors
	vectors = false
	t.Cleanup(func() { vectors = was })
}
