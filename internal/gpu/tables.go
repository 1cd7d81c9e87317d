package gpu

import (
	"runtime"
	"unsafe"

	"github.com/golops/golops/device"
)

// cacheTables stores value, which uses the GPU memory at addr, in the cache of a
// description. The memory is freed when the cache is cleared, or after the
// description has become unreachable.
func cacheTables[P any](d *Device, c *device.DeviceCache, value *P, addr uintptr) {
	cleanup := runtime.AddCleanup(value, d.reclaimed.add, addr)
	c.Set(d, value, func() {
		cleanup.Stop()
		d.FreeBytes(addr)
	})
}

// tables are lists that are uploaded together.
type tables struct{ bytes []byte }

// put appends a list and returns its offset.
func put[E any](t *tables, list []E) uintptr {
	for len(t.bytes)%16 != 0 || len(t.bytes) == 0 {
		t.bytes = append(t.bytes, 0)
	}
	at := len(t.bytes)
	t.bytes = append(t.bytes, bytesOf(list, int(unsafe.Sizeof(*new(E))))...)
	return uintptr(at)
}
