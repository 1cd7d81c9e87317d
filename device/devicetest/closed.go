package devicetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// testClosed uses kernels and memory of a device after Close. A call that returns
// an error returns ErrClosed. Any other panics with it, or leaves it to the next.
func testClosed[T scalar.Scalar](t *testing.T, d device.Device) {
	k, err := device.KernelsFor[T](d)
	if err != nil {
		t.Fatal(err)
	}
	const n = 36
	var m [3]device.Mem[T]
	for i := range m {
		if m[i], err = k.Alloc(n); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	x, y, z := m[0], m[1], m[2]
	host := make([]T, n)
	box := &device.Strided{Shape: shape.Of(n)}
	box.Dst[0], box.Src[0] = 1, 1
	bands := &device.Banded[T]{Outer: 1, Inner: 1, DstRows: n, SrcRows: n, Taps: []device.Tap[T]{{Step: 1, Coef: 1}}}
	bands.Groups[0] = []device.Band{{Hi: n, Last: 1}}
	sparse := &device.Sparse[T]{First: make([]int, n+1)}
	sparse.At = []int{0}
	sparse.First[n] = 1
	second := func(_ any, err error) error { return err }
	for name, f := range map[string]func() error{
		"Alloc":   func() error { return second(k.Alloc(3)) },
		"CopyIn":  func() error { return k.CopyIn(x, host) },
		"CopyOut": func() error { return k.CopyOut(host, x) },
		"Sync":    func() error { return d.Sync(t.Context()) },
		"Dot":     func() error { return second(k.Dot(x, y, true)) },
		"Sum":     func() error { return second(k.Sum(x)) },
		"Norm":    func() error { return second(k.Norm(x, 2, 1)) },
		"MinMax": func() error {
			_, _, err := k.MinMax(x)
			if errors.Is(err, device.ErrUnsupported) { // of complex numbers, always
				return device.ErrClosed
			}
			return err
		},
		"NormAxis": func() error { return k.NormAxis(make([]float64, 6), x, 1, 6, 6, 2) },
		"Gemv":     func() error { return k.Gemv(device.NoTrans, 6, 6, 1, x, y, 0, z) },
		"Gemv of nothing": func() error {
			return k.Gemv(device.NoTrans, 6, 0, 1, device.Mem[T]{}, device.Mem[T]{}, 0, z)
		},
		"Gemm":     func() error { return k.Gemm(device.NoTrans, device.NoTrans, 6, 6, 6, 1, x, y, 0, z) },
		"Copy":     func() error { k.Copy(y, x); return nil },
		"Fill":     func() error { k.Fill(y, 1); return nil },
		"Axpby":    func() error { k.Axpby(1, x, 1, y); return nil },
		"Combine":  func() error { k.Combine(z, 1, x, 1, y); return nil },
		"Mul":      func() error { k.Mul(z, x, y, true); return nil },
		"MulAxis":  func() error { k.MulAxis(z, k.Slice(x, 0, 6), y, 6, 1, false); return nil },
		"Conj":     func() error { k.Conj(z, x); return nil },
		"SumAxis":  func() error { k.SumAxis(z, x, 1, 1, n); return nil },
		"ScanAxis": func() error { k.ScanAxis(z, x, device.Mem[T]{}, 1, n, 1, false); return nil },
		"CopyND":   func() error { k.CopyND(y, x, box, false); return nil },
		"Bands":    func() error { k.Bands(y, x, device.Mem[T]{}, bands, 0, false); return nil },
		"Gather":   func() error { k.Gather(y, x, sparse); return nil },
		"Free":     func() error { k.Free(x); return nil },
		"AxpyNorm": func() error { return second(k.AxpyNorm(1, x, y)) },
		"FFT": func() error {
			err := device.FFT(k, x, x, []int{n}, 1, false)
			if errors.Is(err, device.ErrUnsupported) { // by a device without transforms, always
				return device.ErrClosed
			}
			return err
		},
		"Threshold": func() error {
			k.Threshold(z, x, device.SoftThreshold, 1)
			return nil
		},
	} {
		err := caught(f)
		if err == nil {
			err = k.CopyOut(host, y)
		}
		if !errors.Is(err, device.ErrClosed) {
			t.Errorf("%s on a closed device: got %v, want ErrClosed", name, err)
		}
	}
}

// caught returns what f returns or panics with.
func caught(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			var is bool
			if err, is = p.(error); !is {
				err = fmt.Errorf("panic: %v", p)
			}
		}
	}()
	return f()
}
