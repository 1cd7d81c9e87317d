package data

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/scalar"
)

// Info returns what the header of a .npy file says, after comparing it with
// the size of the file.
func Info(path string) (NPY, error) {
	f, h, err := openNPY(path)
	if err != nil {
		return NPY{}, fmt.Errorf("data: look into %s: %w", path, err)
	}
	return h, bare(f.Close())
}

// openNPY opens a .npy file, which must be exactly as long as its header says.
// What is read next are the elements.
func openNPY(path string) (*os.File, NPY, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, NPY{}, err
	}
	h, err := readHeader(f)
	switch {
	case err != nil:
	case size < h.bytes():
		err = fmt.Errorf("the file is truncated: it has %d bytes, %v of %s need %d", size, h.Shape, h.DType, h.bytes())
	case size > h.bytes():
		err = fmt.Errorf("the file has %d bytes, %v of %s are only %d: read arrays in a row with ReadNPYFrom", size, h.Shape, h.DType, h.bytes())
	}
	if err != nil {
		_ = f.Close()
		return nil, NPY{}, err
	}
	return f, h, nil
}

// ReadNPY returns the shape and the elements of a .npy file, the last axis
// running fastest whatever the order in the file. Numbers of another precision
// and integers are rounded to the nearest T, beyond its range to infinity;
// truth values become 0 and 1. Complex elements are not read as real ones. An
// array that the host has no memory for is an error that wraps
// device.ErrMemory; read a part of it with ReadBlock.
func ReadNPY[T scalar.Scalar](path string) (dims []int, elements []T, err error) {
	f, h, err := openNPY(path)
	if err == nil {
		elements, err = readElements[T](f, h, true)
		_ = f.Close()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("data: read %s: %w", path, err)
	}
	return h.Shape, elements, nil
}

// ReadNPYFrom is ReadNPY for one array of a stream. It reads nothing after the array, so
// repeated calls read consecutive arrays. Memory grows with the data that arrive, not
// with the size in the header.
func ReadNPYFrom[T scalar.Scalar](r io.Reader) (dims []int, elements []T, err error) {
	h, err := readHeader(r)
	if err == nil {
		elements, err = readElements[T](r, h, false)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("data: read .npy: %w", err)
	}
	return h.Shape, elements, nil
}

// readElements reads all elements after a header and puts them in C order. If sure, the
// file is long enough, and memory is allocated at once. Otherwise it grows with the data.
// Too little host memory is an error.
func readElements[T scalar.Scalar](r io.Reader, h NPY, sure bool) ([]T, error) {
	read, err := decoder[T](h.elem)
	if err != nil {
		return nil, err
	}
	dst, step := []T{}, 1<<16
	if sure {
		if dst, err = device.Make[T](h.n); err != nil {
			return nil, err
		}
		dst, step = dst[:0], h.n
	}
	for len(dst) < h.n {
		n := len(dst)
		step = min(step, h.n-n)
		if dst, err = grow(dst, step); err != nil {
			return nil, err
		}
		if err := read(dst[n:], r); err != nil {
			return nil, fmt.Errorf("%d elements of %s: %w", h.n, h.DType, short(bare(err)))
		}
		step = len(dst)
	}
	if !h.Fortran || len(h.Shape) < 2 {
		return dst, nil
	}
	out, err := device.Make[T](len(dst))
	if err != nil {
		return nil, err
	}
	reverseAxes(out, dst, h.Shape)
	return out, nil
}

// grow makes s longer by n elements, if the host has memory for them.
func grow[T scalar.Scalar](s []T, n int) ([]T, error) {
	if cap(s)-len(s) < n {
		if err := device.CheckHostMemory(len(s)+n, scalar.Of[T]().Size()); err != nil {
			return nil, err
		}
	}
	return slices.Grow(s, n)[:len(s)+n], nil
}

// WriteNPY writes an array in C order, the last axis running fastest, as NumPy
// would, byte for byte. Other programs see the old file or the whole new one.
func WriteNPY[T scalar.Scalar](path string, dims []int, elements []T) error {
	err := disk.Save(path, func(w io.Writer) error { return writeNPY(w, dims, elements) })
	if err != nil {
		return fmt.Errorf("data: write %s: %w", path, err)
	}
	return nil
}

// WriteNPYTo is WriteNPY to a stream.
func WriteNPYTo[T scalar.Scalar](w io.Writer, dims []int, elements []T) error {
	if err := writeNPY(w, dims, elements); err != nil {
		return fmt.Errorf("data: write .npy: %w", err)
	}
	return nil
}

func writeNPY[T scalar.Scalar](w io.Writer, dims []int, elements []T) error {
	if err := fits(dims, len(elements)); err != nil {
		return err
	}
	if _, err := w.Write(header(elementName[T](), dims)); err != nil {
		return err
	}
	_, err := w.Write(fileBytes(elements))
	return err
}

// fits reports whether n elements are an array of this shape.
func fits(dims []int, n int) error {
	want, err := count(dims)
	switch {
	case err != nil:
		return err
	case len(dims) > maxAxes:
		return fmt.Errorf("%d axes, at most %d are possible", len(dims), maxAxes)
	case want != n:
		return fmt.Errorf("%d elements given for shape %v, which has %d", n, dims, want)
	}
	return nil
}
