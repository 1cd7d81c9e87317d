package ops

import (
	"context"
	"math"
	"math/cmplx"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// splitLine is an array of one axis of rows·cols samples that ranks share, as a matrix: sample
// j is in row j/cols. Its transform has four steps, and no rank has more than its share of
// rows, or of columns:
//
//  1. transform columns, which are whole after a move;
//  2. multiply by exp(-2πi·jk/n) in column j and row k;
//  3. transform rows, which are whole after another move. Coefficient k + rows·l is then
//     in row k, column l;
//  4. move, and transpose the block.
//
// Ranks whose shares of x are not whole rows, or whole columns of coefficients, send the rest to
// neighbours before and after.
type splitLine struct {
	x             *dist.Space
	in, out       *dist.Space // x, with whole rows and whole columns
	byRow, byCol  *dist.Space
	n, rows, cols int
}

// newSplitLine returns nil if x is something else, or its samples have no divisor by which
// ranks can share them, as a prime number has none.
func newSplitLine(x *dist.Space, samples []int, o FFTOptions) (*splitLine, error) {
	g, counts := x.SplitBy(0)
	p, n := len(counts), x.Shape().Size()
	if x.Shape().NDim() != 1 || p < 2 || samples[0] != n || len(o.ShiftBefore)+len(o.ShiftAfter) > 0 {
		return nil, nil
	}
	rows := sharedRows(n, p)
	if rows == 0 {
		return nil, nil
	}
	s := &splitLine{x: x, n: n, rows: rows, cols: n / rows}
	l := x.Layout()
	for h := range l.Grid {
		l.Axes[h], l.Counts[h] = dist.NoAxis, nil
	}
	var err error
	l.Axes[g] = 0
	if s.byRow, err = x.Like(l, s.rows, s.cols); err != nil {
		return nil, err
	}
	l = s.byRow.Layout()
	l.Axes[g], l.Counts[g] = 1, nil
	if s.byCol, err = x.Like(l, s.rows, s.cols); err != nil {
		return nil, err
	}
	if s.in, err = wholeRows(x, g, counts, s.rows, s.cols); err != nil {
		return nil, err
	}
	s.out, err = wholeRows(x, g, counts, s.cols, s.rows)
	return s, err
}

// sharedRows returns the number of rows of a matrix of n samples of which p ranks can share rows
// and columns as evenly as any, or 0 if one rank would have more than twice its part.
func sharedRows(n, p int) (rows int) {
	least := n
	for d := 2; d*d <= n; d++ {
		if n%d != 0 {
			continue
		}
		share := max((d+p-1)/p*(n/d), (n/d+p-1)/p*d)
		if share <= least {
			rows, least = d, share
		}
	}
	if least*p > 2*n {
		return 0
	}
	return rows
}

// wholeRows returns x where each rank has whole rows of so many samples, or x itself.
func wholeRows(x *dist.Space, g int, counts []int, rows, samples int) (*dist.Space, error) {
	want := dist.Balanced(rows, len(counts))
	for i := range want {
		want[i] *= samples
	}
	if slices.Equal(want, counts) {
		return x, nil
	}
	l := x.Layout()
	l.Counts[g] = want
	return x.Like(l, x.Shape().Size())
}

// newLineFFT returns the transform times c.
func newLineFFT[C scalar.Scalar](s *splitLine, c float64) (*fourier[C, C], error) {
	f := &fourier[C, C]{y: s.x, samples: s.byCol}
	f.before.from, f.after.from = s.x, s.byCol
	here, err := dist.NewRedistribution[C](s.byRow, s.byCol)
	if err != nil {
		return nil, err
	}
	if err = f.before.move(s.in); err != nil {
		return nil, err
	}
	f.before.moves = append(f.before.moves, here)
	f.before.add(s.byCol,
		func(ctx context.Context, dst, src dist.Array[C]) error {
			return here.Forward(ctx, dst, dist.Wrap(s.byRow, src.Local()))
		},
		func(ctx context.Context, dst, src dist.Array[C]) error {
			return here.Adjoint(ctx, dist.Wrap(s.byRow, dst.Local()), src)
		})
	if f.core, err = columnTransform[C](s, c); err != nil {
		return nil, err
	}
	if err = f.after.move(s.byRow); err != nil {
		return nil, err
	}
	t := &device.DFT{Dims: s.byRow.LocalShape().Dims(), Axes: []int{1}}
	if err = planFFT[C](s.x, t); err != nil {
		return nil, err
	}
	f.after.add(s.byRow,
		func(_ context.Context, dst, src dist.Array[C]) error {
			return array.FFT(dst.Local(), src.Local(), t, false)
		},
		func(_ context.Context, dst, src dist.Array[C]) error {
			return array.FFT(dst.Local(), src.Local(), t, true)
		})
	if err = f.after.move(s.byCol); err != nil {
		return nil, err
	}
	turn := device.Strided{Shape: s.byCol.LocalShape(), Src: s.byCol.LocalShape().Strides()}
	turn.Dst[0], turn.Dst[1] = 1, s.rows
	f.after.add(s.out, copyPieces[C]([]device.Strided{turn}, false), copyPieces[C]([]device.Strided{turn.Flipped()}, false))
	if err = f.after.move(s.x); err != nil {
		return nil, err
	}
	return f, f.makeBuffers(s.x)
}

// columnTransform is the first two steps.
func columnTransform[C scalar.Scalar](s *splitLine, c float64) (*fourierCore[C, C], error) {
	t := &device.DFT{Dims: s.byCol.LocalShape().Dims(), Axes: []int{0}}
	if err := planFFT[C](s.x, t); err != nil {
		return nil, err
	}
	w, err := device.Make[C](s.byCol.LocalShape().Size())
	if err != nil {
		return nil, err
	}
	first, cols := s.byCol.Box(s.x.Comm().Rank()).Lo[1], s.byCol.LocalShape().Dim(1)
	for i := range w {
		k, j := i/cols, first+i%cols
		w[i] = scalar.From[C](cmplx.Rect(c, -2*math.Pi*float64(j*k%s.n)/float64(s.n)))
	}
	factors, err := array.FromHost(s.x.Device(), shape.Of(len(w)), w)
	if err != nil {
		return nil, err
	}
	return &fourierCore[C, C]{
		forward: func(dst, src array.Array[C]) error {
			err := array.FFT(dst, src, t, false)
			array.Mul(dst, factors, dst)
			return err
		},
		adjoint: func(dst, src, room array.Array[C]) error {
			array.MulConj(room, factors, src)
			return array.FFT(dst, room, t, true)
		},
	}, nil
}
