package gpu

import (
	"runtime"
	"unsafe"

	"github.com/golops/golops/device"
)

// cacheTables leaves what was made of a description, and the memory at addr with it,
// until the description is forgotten or nobody can reach it any more.
func cacheTables[P any](d *Device, k *device.DeviceCache, what *P, addr uintptr) {
	gone := runtime.AddCleanup(what, d.reclaimed.add, addr)
	k.Set(d, what, func() {
		gone.Stop()
		d.FreeBytes(addr)
	})
}

// tables are lists that go to the device together.
type tables struct{ bytes []byte }

// put appends a list and returns where it begins.
func put[E any](t *tables, list []E) uintptr {
	for len(t.bytes)%16 != 0 || len(t.bytes) == 0 {
		t.bytes = append(t.bytes, 0)
	}
	at := len(t.bytes)
	t.bytes = append(t.bytes, bytesOf(list, int(unsafe.Sizeof(*new(E))))...)
	return uintptr(at)
}
