package ops_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// diary is what one rank does, in order: "start" of a message, "wait" for one,
// "own" work that needs no message, and "rest" that does.
type diary struct{ did []string }

func (d *diary) add(what string) { d.did = append(d.did, what) }

// overlaps checks that all messages are under way, and own work is done, before
// the first of them is waited for; and that the rest comes after waiting. It
// returns how often a rank went from messages to waiting.
func (d *diary) overlaps() (rounds int, err error) {
	started, worked := false, false
	for i, what := range d.did {
		switch what {
		case "start":
			started, worked = true, false
		case "own":
			worked = true
		case "wait":
			if started && !worked {
				return rounds, fmt.Errorf("step %d waits before there was own work: %s", i, strings.Join(d.did, ", "))
			}
			if started {
				rounds++
			}
			started = false
		case "rest":
			if started {
				return rounds, fmt.Errorf("step %d uses messages before they were waited for: %s", i, strings.Join(d.did, ", "))
			}
		}
	}
	if started {
		return rounds, fmt.Errorf("no wait for messages: %s", strings.Join(d.did, ", "))
	}
	return rounds, nil
}

// writtenConn writes down when messages start and when they are waited for.
type writtenConn struct {
	driver.Conn
	d *diary
}

func (c writtenConn) Start(ctx context.Context, q *driver.Call) (uint64, error) {
	c.d.add("start")
	return c.Conn.Start(ctx, q)
}

func (c writtenConn) Wait(ctx context.Context, id uint64) error {
	c.d.add("wait")
	return c.Conn.Wait(ctx, id)
}

// writtenDevice has kernels that write down their work.
type writtenDevice struct {
	device.Device
	d *diary
}

func (v writtenDevice) Kernels(t scalar.DType) any {
	k, err := device.KernelsFor[float64](v.Device)
	if err != nil || t != scalar.Float64 {
		return nil
	}
	return writtenKernels{k, v.d}
}

type writtenKernels struct {
	device.Kernels[float64]
	d *diary
}

func (k writtenKernels) Bands(dst, src, ghost device.Mem[float64], b *device.Banded[float64], group int, add bool) {
	if len(b.Groups[group]) > 0 {
		k.d.add([]string{"own", "rest"}[group])
	}
	k.Kernels.Bands(dst, src, ghost, b, group, add)
}

// CopyND is own work of a halo; before messages start it packs them, which
// counts for nothing.
func (k writtenKernels) CopyND(dst, src device.Mem[float64], c *device.Strided, add bool) {
	k.d.add("own")
	k.Kernels.CopyND(dst, src, c, add)
}

// What an operator can do without the rows of other ranks, it does while those
// are on their way. (Limit 17.)
func TestOverlap(t *testing.T) {
	for _, o := range operators[float64]() {
		for _, f := range o.overlap {
			checkOverlap(t, f)
		}
	}
}

func checkOverlap(t *testing.T, f form[float64]) {
	for _, h := range []struct {
		ranks  int
		layout dist.Layout
	}{{2, dist.Layout{}}, {3, dist.Layout{}}, {4, dist.Layout{Grid: []int{2, 2}}}} {
		err := launch.Config{Ranks: h.ranks}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
			d := &diary{}
			written, err := dist.NewProc(ctx, comm.New(writtenConn{r.Comm.Conn(), d}), writtenDevice{r.Device, d})
			if err != nil {
				return err
			}
			x, err := dist.NewSpace(ctx, written, h.layout, 23, 16)
			if err != nil {
				return err
			}
			a, err := f.make(ctx, x)
			if err != nil {
				return err
			}
			for _, a := range []op[float64]{a, linop.H(a)} {
				src, err := dist.New[float64](a.Domain())
				if err != nil {
					return err
				}
				dst, err := dist.New[float64](a.Range())
				if err != nil {
					return err
				}
				d.did = d.did[:0]
				if err := a.Forward(ctx, dst, src); err != nil {
					return err
				}
				rounds, err := d.overlaps()
				if err == nil && rounds == 0 {
					err = fmt.Errorf("nothing was sent: %s", strings.Join(d.did, ", "))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s on %d ranks: %v", f.name, h.ranks, err)
		}
	}
}
