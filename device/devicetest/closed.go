package devicetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// testClosed uses kernels and memory of a device after Close. A call that returns
// an error returns ErrClosed. Any other panics with it, or leaves it to the next.
func testClosed[T scalar.Scalar](t *testing.T, d device.Device) {
	k, err := device.KernelsFor[T](d)
	if err != nil {
		t.Fatal(err)
	}
	o, err := newOperands(k)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	host := make([]T, o.x.N)
	none := device.Mem[T]{}
	calls := map[string]func() error{
		"Alloc":           func() error { _, err := k.Alloc(3); return err },
		"CopyIn":          func() error { return k.CopyIn(o.x, host) },
		"CopyOut":         func() error { return k.CopyOut(host, o.x) },
		"Free":            func() error { k.Free(o.x); return nil },
		"Sync":            func() error { return d.Sync(t.Context()) },
		"Gemv of nothing": func() error { return k.Gemv(device.NoTrans, 6, 0, 1, none, none, 0, o.z) },
	}
	for _, c := range cases[T]() {
		if c.call != nil {
			calls[c.name] = func() error { return c.call(o) }
		}
	}
	for name, f := range calls {
		err := caught(f)
		if errors.Is(err, device.ErrUnsupported) { // open or closed
			continue
		}
		if err == nil {
			err = k.CopyOut(host, o.y)
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
