package data

import (
	"context"
	"fmt"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
	"github.com/golops/golops/trace"
)

// ReadBlock returns a part of the array in a .npy file: the elements from lo up
// to hi on each axis, the last axis running fastest whatever the order in the
// file, converted as by ReadNPY. It reads only those elements, so it can read a slice of a
// file that is larger than memory. It ends when ctx ends. Too little host memory is an
// error that wraps device.ErrMemory.
func ReadBlock[T scalar.Scalar](ctx context.Context, path string, lo, hi []int) ([]T, error) {
	defer trace.Begin(ctx, "read a file").End()
	v, err := readOneBlock[T](ctx, path, lo, hi)
	if err != nil {
		return nil, fmt.Errorf("data: read %v to %v of %s: %w", lo, hi, path, err)
	}
	return v, nil
}

func readOneBlock[T scalar.Scalar](ctx context.Context, path string, lo, hi []int) ([]T, error) {
	f, h, err := openNPY(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dims, err := blockDims(h.Shape, lo, hi)
	if err != nil {
		return nil, err
	}
	runs := shape.Runs(h.Shape, lo, hi)
	if h.Fortran {
		runs = fortranRuns(slices.Clone(h.Shape), slices.Clone(lo), slices.Clone(hi))
	}
	n := 1 // it is no more than the elements of the file
	for _, d := range dims {
		n *= d
	}
	v, err := device.Make[T](n)
	if err != nil {
		return nil, err
	}
	if err := readBlock(ctx, inOrder(v), f, h, runs); err != nil {
		return nil, err
	}
	if !h.Fortran || len(dims) < 2 {
		return v, nil
	}
	out, err := device.Make[T](n)
	if err != nil {
		return nil, err
	}
	reverseAxes(out, v, dims)
	return out, nil
}

// blockDims returns the shape of a part of an array, which must lie in it.
func blockDims(shape, lo, hi []int) ([]int, error) {
	if len(lo) != len(shape) || len(hi) != len(shape) {
		return nil, fmt.Errorf("the array has %d axes, the part %d and %d", len(shape), len(lo), len(hi))
	}
	dims := make([]int, len(shape))
	for i, n := range shape {
		if lo[i] < 0 || hi[i] < lo[i] || hi[i] > n {
			return nil, fmt.Errorf("axis %d goes from 0 to %d, the part from %d to %d", i, n, lo[i], hi[i])
		}
		dims[i] = hi[i] - lo[i]
	}
	return dims, nil
}
