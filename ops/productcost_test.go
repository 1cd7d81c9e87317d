package ops_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/cost"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/fakegpu"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// productCosts are products whose memory and messages are known. Extents divide, so that
// all ranks have as much work.
var productCosts = []struct {
	ranks   int
	axes    []cost.Axis
	problem cost.Problem
	panel   int
}{
	{4, []cost.Axis{{Ranks: 2, Case: cost.RowPanels}, {Ranks: 2, Case: cost.ColumnPanels}}, cost.Problem{Batch: 1, Rows: 60, Depth: 48, Columns: 40}, 6},
	{6, []cost.Axis{{Ranks: 3, Case: cost.RowPanels}, {Ranks: 2, Case: cost.ColumnPanels}}, cost.Problem{Batch: 3, Rows: 30, Depth: 48, Columns: 20}, 8},
	{3, []cost.Axis{{Ranks: 3, Case: cost.RowPanels}}, cost.Problem{Batch: 1, Rows: 60, Depth: 48, Columns: 40}, 4},
	{3, []cost.Axis{{Ranks: 3, Case: cost.ColumnPanels}}, cost.Problem{Batch: 2, Rows: 30, Depth: 48, Columns: 30}, 4},
	{8, []cost.Axis{{Ranks: 2, Case: cost.Copies}, {Ranks: 2, Case: cost.RowPanels}, {Ranks: 2, Case: cost.ColumnPanels}}, cost.Problem{Batch: 1, Rows: 60, Depth: 48, Columns: 40}, 6},
	{4, []cost.Axis{{Ranks: 4, Case: cost.Batch}}, cost.Problem{Batch: 8, Rows: 30, Depth: 20, Columns: 10}, 0},
	{4, []cost.Axis{{Ranks: 2, Case: cost.Rows}, {Ranks: 2, Case: cost.Columns}}, cost.Problem{Batch: 1, Rows: 60, Depth: 48, Columns: 40}, 0},
	{4, []cost.Axis{{Ranks: 4, Case: cost.Depth}}, cost.Problem{Batch: 1, Rows: 60, Depth: 48, Columns: 40}, 0},
}

// TestProductCosts wants the messages, bytes and memory that package cost predicts: a rank
// has its blocks of A, X and Y and two panels of what travels, and no more at any time.
func TestProductCosts(t *testing.T) {
	for i, c := range productCosts {
		for _, narrow := range []bool{false, true} {
			err := testdevices.On(t.Context(), "hidden", c.ranks, func(ctx context.Context, r dist.Proc) error {
				p := cost.Product{Problem: c.problem, Axes: c.axes, Panel: c.panel}
				p.DType, p.Stored = scalar.Complex128, scalar.Complex128
				if narrow {
					p.Stored = scalar.Complex64
					return measureProduct[complex64](ctx, r, p)
				}
				return measureProduct[complex128](ctx, r, p)
			})
			if err != nil {
				t.Errorf("case %d, narrow=%v: %v", i, narrow, err)
			}
		}
	}
}

func measureProduct[A scalar.Scalar](ctx context.Context, r dist.Proc, p cost.Product) error {
	want, err := cost.Defaults().Product(p)
	if err != nil {
		return err
	}
	d, count := r.Device.(*fakegpu.Device), commtest.NewCounter(r.Comm)
	if r, err = dist.NewProc(ctx, count.Comm, d); err != nil {
		return err
	}
	op, err := costedProduct[A](ctx, r, p)
	if err != nil {
		return err
	}
	x, err := dist.New[complex128](op.Domain())
	if err != nil {
		return err
	}
	y, err := dist.New[complex128](op.Range())
	if err != nil {
		return err
	}
	if err := settle(d, want.Memory, p); err != nil {
		return err
	}
	a, panels, sumY, sumX := sentBytes(p)
	for _, way := range []struct {
		name                         string
		f                            func() error
		want                         cost.Cost
		broadcast, reduce, allReduce int // bytes
		sums                         []cost.Case
	}{
		{"forward", func() error { return op.Forward(ctx, y, x) }, want.Forward, a + panels, 0, sumY, []cost.Case{cost.Depth, cost.Copies}},
		{"adjoint", func() error { return op.Adjoint(ctx, x, y) }, want.Adjoint, a, panels, sumX, []cost.Case{cost.Rows, cost.Copies}},
	} {
		count.Reset()
		d.Peak = d.Bytes
		if err := way.f(); err != nil {
			return err
		}
		if d.Peak != d.Bytes {
			return fmt.Errorf("%s: it allocates %d bytes", way.name, d.Peak-d.Bytes)
		}
		if count.Sent() > 0 || count.Collectives() != int(way.want.Messages) {
			return fmt.Errorf("%s: %v, want %g messages", way.name, count, way.want.Messages)
		}
		if count.Bytes("IBroadcast") != way.broadcast || count.Bytes("IReduce") != way.reduce || count.Bytes("AllReduce") != way.allReduce {
			return fmt.Errorf("%s: %v, want %d bytes of panels, %d of panels back and %d of sums", way.name, count, way.broadcast, way.reduce, way.allReduce)
		}
		others := func(cases ...cost.Case) float64 { n := float64(along(p, cases...)); return (n - 1) / n }
		received := float64(a)*others(cost.ColumnPanels) + float64(panels)*others(cost.RowPanels) + 2*float64(way.allReduce)*others(way.sums...)
		if math.Abs(received-way.want.Bytes) > 1 {
			return fmt.Errorf("%s: a rank receives %g bytes, cost predicts %g", way.name, received, way.want.Bytes)
		}
	}
	runtime.KeepAlive(op)
	return nil
}

// costedProduct makes the operator. The matrix that it is given is garbage afterwards.
func costedProduct[A scalar.Scalar](ctx context.Context, r dist.Proc, p cost.Product) (linop.Operator[complex128], error) {
	var la, lx dist.Layout
	for _, axis := range p.Axes {
		a, x, _ := axis.Case.Letters()
		la.Grid, la.Axes = append(la.Grid, axis.Ranks), append(la.Axes, map[rune]int{'b': 0, 'i': 1, 'j': 2, cost.Copied: dist.NoAxis}[a])
		lx.Grid, lx.Axes = append(lx.Grid, axis.Ranks), append(lx.Axes, map[rune]int{'b': 0, 'j': 1, 'k': 2, cost.Copied: dist.NoAxis}[x])
	}
	s, err := dist.NewSpace(ctx, r, la, p.Batch, p.Rows, p.Depth)
	if err != nil {
		return nil, err
	}
	x, err := dist.NewSpace(ctx, r, lx, p.Batch, p.Depth, p.Columns)
	if err != nil {
		return nil, err
	}
	a, err := dist.New[A](s)
	if err != nil {
		return nil, err
	}
	return ops.Product[complex128](ctx, a, x, ops.ProductOptions{Panel: p.Panel, Share: p.Kind() == cost.Copied25D})
}

// settle collects garbage until the rank has no more than its blocks and two panels and,
// of a narrow matrix, a wide panel. These are small enough to be widened whole.
func settle(d *fakegpu.Device, blocks int64, p cost.Product) error {
	most := int(blocks)
	if p.Stored != p.DType {
		width := p.Depth / along(p, cost.Depth)
		if p.Panel > 0 {
			width = p.Panel
		}
		most += p.Batch / along(p, cost.Batch) * p.Rows / along(p, cost.Rows, cost.RowPanels) * width * p.DType.Size()
	}
	for range 1000 {
		if d.Bytes <= most {
			return nil
		}
		runtime.GC()
		runtime.Gosched()
		one, err := array.New[float32](d, shape.Of(1)) // which is when memory comes back
		if err != nil {
			return err
		}
		one.Free()
	}
	return fmt.Errorf("a rank has %d bytes, want at most %d", d.Bytes, most)
}

// sentBytes returns the bytes of calls in which a rank takes part: those of panels of A,
// of panels of X, and of the sums of Y and X.
func sentBytes(p cost.Product) (a, x, sumY, sumX int) {
	batch, rows, columns := p.Batch/along(p, cost.Batch), p.Rows/along(p, cost.Rows, cost.RowPanels), p.Columns/along(p, cost.Columns, cost.ColumnPanels)
	depth := p.Depth / along(p, cost.Copies) // of all panels of a rank
	if along(p, cost.ColumnPanels) > 1 {
		a = batch * rows * depth * p.Stored.Size()
	}
	if along(p, cost.RowPanels) > 1 {
		x = batch * columns * depth * p.DType.Size()
	}
	if along(p, cost.Depth, cost.Copies) > 1 {
		sumY = batch * rows * columns * p.DType.Size()
	}
	if along(p, cost.Rows, cost.Copies) > 1 {
		sumX = batch * p.Depth / along(p, cost.RowPanels) * columns * p.DType.Size()
	}
	return a, x, sumY, sumX
}

// along returns the ranks along the axes of these cases.
func along(p cost.Product, cases ...cost.Case) int {
	n := 1
	for _, a := range p.Axes {
		if slices.Contains(cases, a.Case) {
			n *= a.Ranks
		}
	}
	return n
}
