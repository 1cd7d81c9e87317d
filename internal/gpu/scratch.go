package gpu

// scratch returns the address of n bytes of GPU memory for results that one kernel
// leaves to the next. Kernels run in order, so all share the same memory. If there
// is no memory left scratch records the failure and returns 0.
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
