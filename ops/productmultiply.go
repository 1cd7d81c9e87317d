package ops

import (
	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
)

// wideRoom is the elements of A that are widened at a time, at least: some that caches
// hold. Of a large A it is a sixteenth, which keeps a GPU busy.
const wideRoom = 1 << 18

// multiply adds the product of a panel of A, of w columns, and a panel of X to Y, or sets
// Y to it. With ConjTrans it sets the panel of X to the product with Y. stride is the
// elements from one batch of the panel of X to the next.
//
// A panel of 32 bits is widened part by part: some batches or, of a large matrix, some
// rows.
func (p *product[T, N]) multiply(op device.Trans, w int, y array.Array[T], a array.Array[N], x array.Array[T], stride int, add bool) error {
	all := part{batches: p.batch, hi: p.rows}
	if !p.narrow {
		return p.gemm(op, w, all, y, *any(&a).(*array.Array[T]), x, stride, add)
	}
	if a.Len() == 0 {
		return p.gemm(op, w, all, y, p.wide.Slice(0, 0), x, stride, add)
	}
	batches, rows := min(p.wide.Len()/(p.rows*w), p.batch), p.rows
	if batches == 0 {
		batches, rows = 1, p.wide.Len()/w
	}
	for b := 0; b < p.batch; b += batches {
		for lo := 0; lo < p.rows; lo += rows {
			some := part{b, min(batches, p.batch-b), lo, min(lo+rows, p.rows)}
			at := (b*p.rows + lo) * w
			wide := p.wide.Slice(0, some.batches*(some.hi-lo)*w)
			if err := array.Widen(wide, a.Slice(at, at+wide.Len())); err != nil {
				return err
			}
			if err := p.gemm(op, w, some, y, wide, x, stride, add || op == device.ConjTrans && lo > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// part is rows lo to hi of some batches of A, from batch on. If there are several, the
// rows are all.
type part struct{ batch, batches, lo, hi int }

// gemm is multiply for a part of A.
func (p *product[T, N]) gemm(op device.Trans, w int, s part, y, a, x array.Array[T], stride int, add bool) error {
	if s.batches == 0 {
		return nil
	}
	last, rows := s.batch+s.batches-1, s.hi-s.lo
	y = y.Slice((s.batch*p.rows+s.lo)*p.columns, (last*p.rows+s.hi)*p.columns)
	x = x.Slice(s.batch*stride, last*stride+w*p.columns)
	var beta T
	if add {
		beta = 1
	}
	if op == device.ConjTrans {
		return array.GemmBatch(op, device.NoTrans, device.Batch{N: s.batches, A: rows * w, B: p.rows * p.columns, C: stride}, w, p.columns, rows, 1, a, y, beta, x)
	}
	return array.GemmBatch(op, device.NoTrans, device.Batch{N: s.batches, A: rows * w, B: stride, C: p.rows * p.columns}, rows, p.columns, w, 1, a, x, beta, y)
}
