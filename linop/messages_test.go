package linop_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
)

// What stacks and sums send: one AllReduce where results of ranks are added up,
// nothing else.
func TestMessages(t *testing.T) {
	forRanks(t, func(ctx context.Context, r dist.Proc) error {
		n := commtest.NewCounter(r.Comm)
		r, err := dist.NewProc(ctx, n.Comm, r.Device)
		if err != nil {
			return err
		}
		a, err := serial[float32](ctx, r, 0, 0, []int{4}, []int{4})
		if err != nil {
			return err
		}
		v, err := linop.VStackRanks(ctx, r, a.op, a.op, a.op)
		if err != nil {
			return err
		}
		h, err := linop.HStackRanks(ctx, r, a.op, a.op)
		if err != nil {
			return err
		}
		d, err := linop.BlockDiagRanks(ctx, r, a.op, a.op)
		if err != nil {
			return err
		}
		b, err := linop.BlockRanks(ctx, r, [][]linop.Operator[float32]{{a.op, a.op}, {a.op, a.op}})
		if err != nil {
			return err
		}
		sum, err := linop.Add(d, d)
		if err != nil {
			return err
		}
		normal, err := linop.Compose(linop.H(v), v)
		if err != nil {
			return err
		}
		twice, err := linop.VStack(v, v)
		if err != nil {
			return err
		}
		for _, c := range []struct {
			name             string
			op               linop.Operator[float32]
			forward, adjoint int // AllReduces
		}{
			{"VStack", v, 0, 1}, {"HStack", h, 1, 0}, {"BlockDiag", d, 0, 0}, {"Block", b, 0, 1},
			{"Add", sum, 0, 0}, {"Compose", normal, 1, 1}, {"VStack", twice, 0, 2},
		} {
			for _, w := range []struct {
				op   linop.Operator[float32]
				want int
			}{{c.op, c.forward}, {linop.H(c.op), c.adjoint}} {
				if r.Size() == 1 {
					w.want = 0
				}
				x, err := dist.New[float32](w.op.Domain())
				if err != nil {
					return err
				}
				n.Reset()
				if _, err := linop.Apply(ctx, w.op, x); err != nil {
					return err
				}
				if n.Calls("AllReduce") != w.want || n.Total() != w.want {
					return fmt.Errorf("%s: %v, want %d AllReduce", c.name, n, w.want)
				}
			}
		}
		return nil
	})
}
