//go:build !amd64

package cpu

import "testing"

// WithoutVectors has nothing to do: there are none.
func WithoutVectors(*testing.T) {}
