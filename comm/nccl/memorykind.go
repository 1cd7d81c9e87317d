package nccl

import (
	"context"
	"fmt"

	"github.com/golops/golops/comm"
)

// onDevice reports whether b has elements in GPU memory. An empty buffer is neither on
// the device nor on the host.
func onDevice(b comm.Buf) bool { return b.N > 0 && b.Place == comm.OnDevice }

func onHost(b comm.Buf) bool { return b.N > 0 && b.Place == comm.OnHost }

// onGPU reports whether a collective with these buffers is on GPU memory. The caller
// must use the same kind of memory on all ranks. That is compared only in checked mode,
// and in calls in which a rank may have no elements and must ask the others anyway.
func (c *Comm) onGPU(ctx context.Context, k comm.Kind, dst, src comm.Buf) (bool, error) {
	dev, host := onDevice(dst) || onDevice(src), onHost(dst) || onHost(src)
	var fault error
	if dev && host {
		fault = fmt.Errorf("comm: %v: dst is in %v, src is in %v: copy one of them to the other's memory", k, dst.Place, src.Place)
	}
	asks := c.w.cfg.Checked || k == comm.KindGatherV || k == comm.KindScatterV || k == comm.KindAllToAllV
	if c.n == 1 || !asks {
		return dev, fault
	}
	dev, err := c.agreeOnMemory(ctx, k, dev, host)
	if fault != nil {
		err = fault
	}
	return dev, err
}

// agreeOnMemory reports whether any rank has elements in GPU memory. It is an error if
// another has elements in host memory. Ranks may have no elements at all.
func (c *Comm) agreeOnMemory(ctx context.Context, k comm.Kind, dev, host bool) (bool, error) {
	here := int64(c.me + 1)
	c.flag = [2]int64{}
	if dev {
		c.flag[0] = here
	}
	if host {
		c.flag[1] = here
	}
	b := comm.Of(c.flag[:])
	err := c.host.AllReduce(ctx, b, b, comm.Max)
	if err == nil && c.flag[0] > 0 && c.flag[1] > 0 {
		err = &comm.MismatchError{RankA: int(c.flag[0] - 1), CallA: k.String() + " on GPU memory",
			RankB: int(c.flag[1] - 1), CallB: k.String() + " on host memory", Hint: "all ranks must use the same kind of memory"}
	}
	return c.flag[0] > 0, err
}

// onAnyRank reports whether here is true on any rank.
func (c *Comm) onAnyRank(ctx context.Context, here bool) (bool, error) {
	c.flag[0] = 0
	if here {
		c.flag[0] = 1
	}
	b := comm.Of(c.flag[:1])
	err := c.host.AllReduce(ctx, b, b, comm.Max)
	return c.flag[0] == 1, err
}
