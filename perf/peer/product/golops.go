package main

import (
	"context"
	"fmt"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
)

// serve multiplies n × n matrices and prints the norm of the product, then the seconds
// of each call, from the first rank that begins to the last that ends.
func serve(ctx context.Context, kind string, n, ranks, calls int) error {
	return launch.Config{Ranks: ranks, Threads: 1}.Run(ctx, func(ctx context.Context, r dist.Proc) error {
		op, err := build(ctx, r, kind, n)
		if err != nil {
			return err
		}
		x, err := filled(ctx, op.Domain(), n, 1)
		if err != nil {
			return err
		}
		y, err := dist.New[float64](op.Range())
		if err != nil {
			return err
		}
		for t := -1; t < calls; t++ {
			if err := r.Barrier(ctx); err != nil {
				return err
			}
			s := []float64{-clock(), 0} // with more ranks than cores some begin late
			if err := op.Forward(ctx, y, x); err != nil {
				return err
			}
			s[1] = clock()
			if err := r.AllReduce(ctx, comm.Of(s), comm.Of(s), comm.Max); err != nil {
				return err
			}
			s[0] += s[1]
			if t < 0 {
				if s[0], err = dist.Norm(ctx, y, 2); err != nil {
					return err
				}
			}
			if r.Rank() == 0 {
				fmt.Println(s[0])
			}
		}
		return nil
	})
}

// clock is one for all processes of this machine, in seconds.
func clock() float64 { return float64(time.Now().UnixNano()%1e15) / 1e9 }

// build makes the product: on the grid of all ranks, or of each rank for itself with
// as much work.
func build(ctx context.Context, r dist.Proc, kind string, n int) (linop.Operator[float64], error) {
	p, q := grid(r.Size())
	l := dist.Layout{Grid: []int{p, q}, Axes: []int{0, 1}}
	rows, columns := n, n
	var o ops.ProductOptions
	switch kind {
	case "summa":
	case "onesided":
		o.Way = dist.OneSided
	case "local":
		r, l, rows, columns = r.Alone(), dist.Layout{}, n/p, n/q
	default:
		return nil, fmt.Errorf("child %q: have summa, onesided, local", kind)
	}
	matrix, err := dist.NewSpace(ctx, r, l, rows, n)
	if err != nil {
		return nil, err
	}
	x, err := dist.NewSpace(ctx, r, l, n, columns)
	if err != nil {
		return nil, err
	}
	a, err := filled(ctx, matrix, n, 4)
	if err != nil {
		return nil, err
	}
	return ops.Product[float64](ctx, a, x, o)
}

// filled returns array number seed, whose rows follow each other n elements apart.
func filled(ctx context.Context, s *dist.Space, n, seed int) (dist.Array[float64], error) {
	return dist.FromFunc(ctx, s, func(at []int) float64 {
		return float64(((at[0]*n+at[1])*7919+seed*104729)%1009)/1009 - 0.5
	})
}
