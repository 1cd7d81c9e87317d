package local_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/local"
)

// TestExchange exchanges two legs between each two ranks, a rank and itself included,
// several times with new values. Between the exchanges messages take their turn.
func TestExchange(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7} {
		err := local.Run(t.Context(), n, func(ctx context.Context, c *comm.Comm) error {
			me := c.Rank()
			ints, floats := make([][]int32, n), make([][]float64, n)
			var recv, send []comm.Leg
			for p := range n {
				ints[p], floats[p] = make([]int32, p+1), make([]float64, 1000*me)
				recv = append(recv, comm.Leg{Peer: p, Buf: comm.Of(ints[p])}, comm.Leg{Peer: p, Buf: comm.Of(floats[p])})
				send = append(send, comm.Leg{Peer: p, Buf: comm.Of(make([]int32, me+1))},
					comm.Leg{Peer: p, Buf: comm.Of(make([]float64, 1000*p))})
			}
			x, err := comm.NewExchange(c, recv, send)
			if err != nil {
				return err
			}
			for round := range 5 {
				early, late := []int32{int32(round)}, []int32{-1}
				q, err := c.ISend(ctx, comm.Of(early), (me+1)%n)
				if err != nil {
					return err
				}
				if err := c.Recv(ctx, comm.Of(late), (me+n-1)%n); err != nil {
					return err
				}
				for _, l := range x.Send {
					fill(l.Buf, 100*me+10*l.Peer+round)
				}
				if err := errors.Join(x.Run(ctx), q.Wait(ctx)); err != nil {
					return err
				}
				if late[0] != int32(round) {
					return fmt.Errorf("round %d: message is %d", round, late[0])
				}
				for p := range n {
					want := 100*p + 10*me + round
					for _, v := range ints[p] {
						if v != int32(want) {
							return fmt.Errorf("round %d: int32 from rank %d is %d, want %d", round, p, v, want)
						}
					}
					for _, v := range floats[p] {
						if v != float64(want) {
							return fmt.Errorf("round %d: float64 from rank %d is %v, want %d", round, p, v, want)
						}
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}

func fill(b comm.Buf, v int) {
	if b.DType == comm.Of([]int32{}).DType {
		for i := range b.N {
			comm.As[int32](b)[i] = int32(v)
		}
		return
	}
	for i := range b.N {
		comm.As[float64](b)[i] = float64(v)
	}
}

// TestExchangeMismatch lets one of two legs differ. Both ranks return a mismatch, and
// the other leg arrives.
func TestExchangeMismatch(t *testing.T) {
	for name, odd := range map[string]comm.Buf{
		"count": comm.Of(make([]float64, 3)),
		"type":  comm.Of(make([]int64, 2)),
		"label": comm.Of(make([]float64, 2)).Labelled(comm.LabelOf("dot")),
	} {
		t.Run(name, func(t *testing.T) {
			err := local.Run(t.Context(), 2, func(ctx context.Context, c *comm.Comm) error {
				first, second := comm.Of(make([]float64, 2)), []float64{0}
				if c.Rank() == 1 {
					first, second[0] = odd, 7
				}
				legs := []comm.Leg{{Peer: 1 - c.Rank(), Buf: first}, {Peer: 1 - c.Rank(), Buf: comm.Of(second)}}
				x, err := comm.NewExchange(c, legs, nil)
				if c.Rank() == 1 {
					x, err = comm.NewExchange(c, nil, legs)
				}
				if err != nil {
					return err
				}
				err = x.Run(ctx)
				var m *comm.MismatchError
				if !errors.As(err, &m) || m.RankA != 1 || m.RankB != 0 {
					return fmt.Errorf("%w, want a mismatch of ranks 1 and 0", err)
				}
				if second[0] != 7 {
					return fmt.Errorf("the leg that matches brought %v, want 7", second[0])
				}
				return c.Barrier(ctx)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// recvLeg is an exchange that only receives two numbers from one rank.
func recvLeg(ctx context.Context, c *comm.Comm, from int) error {
	x, err := comm.NewExchange(c, []comm.Leg{{Peer: from, Buf: comm.Of(make([]int32, 2))}}, nil)
	if err != nil {
		return err
	}
	return x.Run(ctx)
}

// TestExchangeDeadlock lets ranks wait for legs that nobody sends.
func TestExchangeDeadlock(t *testing.T) {
	for _, n := range []int{2, 5} {
		err := local.Run(t.Context(), n, func(ctx context.Context, c *comm.Comm) error {
			return recvLeg(ctx, c, (c.Rank()+1)%n)
		})
		says(t, err, "mismatch", "Recv(2 int32, from rank", "waits for the other")
	}
	err := local.Run(t.Context(), 2, func(ctx context.Context, c *comm.Comm) error {
		if c.Rank() == 1 {
			return c.Barrier(ctx)
		}
		return recvLeg(ctx, c, 1)
	})
	says(t, err, "rank 0 is in", "Recv(2 int32, from rank 1)", "Barrier()")
	err = local.Run(t.Context(), 2, func(ctx context.Context, c *comm.Comm) error {
		if c.Rank() == 1 {
			return nil
		}
		return recvLeg(ctx, c, 1)
	})
	says(t, err, "Recv(2 int32, from rank 1)", "the program of rank 1 has ended")
	err = local.Run(t.Context(), 1, func(ctx context.Context, c *comm.Comm) error { return recvLeg(ctx, c, 0) })
	says(t, err, "cannot wait for itself")
}

// TestExchangeTest asks the driver whether an exchange has completed.
func TestExchangeTest(t *testing.T) {
	err := local.Run(t.Context(), 1, func(ctx context.Context, c *comm.Comm) error {
		conn, dst := c.Conn(), []int32{0}
		call := driver.Call{Signature: driver.Signature{Kind: driver.KindExchange, Peer: -1, N: -1}}
		call.Recv = []driver.Leg{{Peer: 0, Buf: driver.Of(dst)}}
		in, err := conn.Start(ctx, &call)
		if err != nil {
			return err
		}
		if done, err := conn.Test(in); done || err != nil {
			return fmt.Errorf("before the send: done %v, %v", done, err)
		}
		call.Recv, call.Send = nil, []driver.Leg{{Peer: 0, Buf: driver.Of([]int32{3})}}
		out, err := conn.Start(ctx, &call)
		if err != nil {
			return err
		}
		for _, id := range []uint64{in, out} {
			if done, err := conn.Test(id); !done || err != nil {
				return fmt.Errorf("after the send: done %v, %v", done, err)
			}
		}
		if dst[0] != 3 {
			return fmt.Errorf("received %d, want 3", dst[0])
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
