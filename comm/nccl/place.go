package nccl

import (
	"context"
	"fmt"

	"github.com/golops/golops/comm"
)

// onDevice reports whether b has elements on the device. What has none may
// not know where it is, and belongs to either.
func onDevice(b comm.Buf) bool { return b.N > 0 && b.Place == comm.OnDevice }

// where reports whether a call with these buffers is on device memory.
func where(k comm.Kind, dst, src comm.Buf) (bool, error) {
	if dst.N > 0 && src.N > 0 && dst.Place != src.Place {
		return false, fmt.Errorf("comm: %v: dst is in %v, src is in %v: copy one to where the other is", k, dst.Place, src.Place)
	}
	return onDevice(dst) || onDevice(src), nil
}

// anywhere reports whether any rank has its part on the device. It is for calls
// to which a rank may bring nothing at all.
func (c *Comm) anywhere(ctx context.Context, here bool) (bool, error) {
	c.flag[0] = 0
	if here {
		c.flag[0] = 1
	}
	b := comm.Of(c.flag[:])
	err := c.host.AllReduce(ctx, b, b, comm.Max)
	return c.flag[0] == 1, err
}
