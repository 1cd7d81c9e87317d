package ops

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// SpreadTable returns where sample (x0, t0) of the model goes in trace x of the data:
// to sample t with weight 1-w, and to sample t+1 with weight w. ok is false if it
// does not go to this trace.
type SpreadTable func(x0, t0, x int) (t int, w float64, ok bool)

// spread is a sparse matrix over whole blocks.
type spread[T scalar.Scalar] struct {
	x, y             *dist.Space
	forward, adjoint device.Sparse[T]
	group            dist.AxisGroup // ranks that share the model
}

// Spread adds each sample (x0, t0) of a model of two axes to each of nx traces of nt
// samples, at the time that the table returns:
//
//	y[x, t] += (1-w)·x[x0, t0],  y[x, t+1] += w·x[x0, t0]
//
// The first axis of the model may be split. The data are replicated. Entries beyond
// the ends of a trace are left out.
func Spread[T scalar.Scalar](ctx context.Context, model *dist.Space, nx, nt int, table SpreadTable) (linop.Operator[T], error) {
	if model == nil {
		return nil, errors.New("ops: spread: no space given")
	}
	o := &spread[T]{}
	err := o.build(model, nx, nt, table)
	if err := dist.Agree(ctx, model.Comm(), "ops: spread", err, nx, " × ", nt); err != nil {
		return nil, err
	}
	if o.group, err = model.AxisGroup(ctx, 0); err != nil {
		return nil, err
	}
	return linop.Func("ops: spread", o.x, o.y, o.applyForward, o.applyAdjoint)
}

func (o *spread[T]) build(model *dist.Space, nx, nt int, table SpreadTable) error {
	sh := model.Shape()
	if model.Parts() != nil || sh.NDim() != 2 {
		return fmt.Errorf("the model has shape %v: need two axes", sh)
	}
	if g, _ := model.SplitBy(1); g != dist.NoAxis {
		return errors.New("the second axis of the model is split: Redistribute to the first")
	}
	y, err := model.Like(dist.Replicated, nx, nt)
	if err != nil {
		return err
	}
	o.x, o.y = model, y
	if err := device.CheckHostMemory(nx, nt, 2*8); err != nil {
		return fmt.Errorf("%d traces of %d samples: %w", nx, nt, err)
	}
	if nt == 0 {
		nx = 0 // traces without samples take nothing
	}
	if table == nil {
		return errors.New("no table given")
	}
	b := model.Box(model.Comm().Rank())
	n := 0
	// The adjoint reads the table in order; the forward matrix is its transpose.
	for x0 := b.Lo[0]; x0 < b.Hi[0]; x0++ {
		for t0 := range sh.Dim(1) {
			o.adjoint.First = append(o.adjoint.First, n)
			for x := range nx {
				t, w, ok := table(x0, t0, x)
				if !ok {
					continue
				}
				if math.IsNaN(w) || math.IsInf(w, 0) {
					return fmt.Errorf("weight %g of sample (%d, %d) in trace %d", w, x0, t0, x)
				}
				for k, c := range [2]float64{1 - w, w} {
					if c != 0 && t+k >= 0 && t+k < nt {
						o.adjoint.At = append(o.adjoint.At, x*nt+t+k)
						o.adjoint.W = append(o.adjoint.W, scalar.From[T](complex(c, 0)))
						n++
					}
				}
			}
		}
	}
	o.adjoint.First = append(o.adjoint.First, n)
	o.forward = transposedSparse(o.adjoint, nx*nt)
	return nil
}

func (o *spread[T]) applyForward(ctx context.Context, dst, src dist.Array[T]) error {
	array.Gather(dst.Local(), src.Local(), &o.forward)
	return dist.SumOver(ctx, o.group, dst.Local(), dist.LabelForward)
}

func (o *spread[T]) applyAdjoint(_ context.Context, dst, src dist.Array[T]) error {
	array.Gather(dst.Local(), src.Local(), &o.adjoint)
	return nil
}

// transposedSparse returns the transpose of s, a matrix of cols columns.
func transposedSparse[T scalar.Scalar](s device.Sparse[T], cols int) device.Sparse[T] {
	t := device.Sparse[T]{First: make([]int, cols+1), At: make([]int, len(s.At)), W: make([]T, len(s.W))}
	for _, c := range s.At {
		t.First[c+1]++
	}
	for c := range cols {
		t.First[c+1] += t.First[c]
	}
	next := append([]int(nil), t.First...)
	for r := 0; r+1 < len(s.First); r++ {
		for k := s.First[r]; k < s.First[r+1]; k++ {
			at := next[s.At[k]]
			next[s.At[k]]++
			t.At[at], t.W[at] = r, s.W[k]
		}
	}
	return t
}
