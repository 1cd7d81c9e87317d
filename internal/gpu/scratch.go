package gpu

import "math/bits"

// What a grid can have along x and y.
const (
	maxGrid  = 1<<31 - 1
	maxGridY = 1<<16 - 1
)

// powerOf2 returns the least power of 2 that is not below n, at most most, which
// is one.
func powerOf2(n, most int) int {
	if n >= most {
		return most
	}
	return 1 << bits.Len(uint(max(n, 1)-1))
}

// scratch returns the address of n bytes for what one kernel leaves to the next.
// Kernels are done in order, so that all can have the same. It is 0 if there is no
// memory, a failure that stays with the device.
func (d *Device) scratch(n int) uintptr {
	if n > d.scratchSize {
		addr, _, err := d.alloc(n)
		if err != nil {
			d.fail(err)
			return 0
		}
		d.release(d.scratchAddr)
		d.scratchAddr, d.scratchSize = addr, n
	}
	return d.scratchAddr
}
