package seismic

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/splitmix"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// Volume is a volume of traces on ranks. In memory time is the first axis, since
// operators act along it and are fast so, then further axes such as angles, and inlines
// and crosslines are the last, which are split. In files time is the last axis.
type Volume[T scalar.Scalar] struct {
	Space *dist.Space // in memory
	file  *dist.Space
	turn  linop.Operator[T] // from the order of files to that in memory
}

// NewVolume returns the volume of arrays of these dimensions, in the order of files,
// whose inlines, crosslines or both are split over the ranks. It is collective.
func NewVolume[T scalar.Scalar](ctx context.Context, r dist.Proc, dims []int, split string) (*Volume[T], error) {
	l := dist.Split(0)
	switch split {
	case "crosslines":
		l = dist.Split(1)
	case "both":
		l = dist.Layout{Grid: square(r.Size(), dims), Axes: []int{0, 1}}
	}
	file, err := dist.NewSpace(ctx, r, l, dims...)
	if err != nil {
		return nil, err
	}
	order := []int{len(dims) - 1}
	for a := 2; a < len(dims)-1; a++ {
		order = append(order, a)
	}
	turn, err := ops.Transpose[T](ctx, file, append(order, 0, 1)...)
	if err != nil {
		return nil, err
	}
	return &Volume[T]{Space: turn.Range(), file: file, turn: turn}, nil
}

// square returns a grid of ranks that gives each a piece as square as possible.
func square(ranks int, dims []int) []int {
	best, grid := math.Inf(1), []int{ranks, 1}
	for a := 1; a <= ranks; a++ {
		if ranks%a != 0 {
			continue
		}
		edge := float64(dims[0])/float64(a) + float64(dims[1])*float64(a)/float64(ranks)
		if edge < best {
			best, grid = edge, []int{a, ranks / a}
		}
	}
	return grid
}

// Read returns what is in a file, in memory order. It is collective; what is wrong with
// the file is an error of the user.
func (v *Volume[T]) Read(ctx context.Context, r *app.Rank, in Input) (a dist.Array[T], err error) {
	var raw dist.Array[T]
	if in.Words == nil {
		raw, err = data.Load[T](ctx, in.Path, v.file)
	} else {
		raw, err = v.readSEGY(ctx, in)
	}
	if err == nil {
		err = finite(raw)
	}
	r.Unusable(in.Path, err)
	defer raw.Free()
	return linop.Apply(ctx, v.turn, raw)
}

func (v *Volume[T]) readSEGY(ctx context.Context, in Input) (a dist.Array[T], err error) {
	f, err := data.OpenVolume(in.Path, in.Words...)
	if err := dist.Agree(ctx, v.file.Comm(), "seismic: open", err); err != nil {
		return a, err
	}
	defer f.Close()
	return data.LoadVolume[T](ctx, f, v.file)
}

// finite says which sample is NaN or infinite. One such sample would make the whole
// result NaN.
func finite[T scalar.Scalar](a dist.Array[T]) error {
	host, err := a.Host()
	if err != nil {
		return err
	}
	s := a.Space()
	b, st := s.Box(s.Comm().Rank()), s.LocalShape().Strides()
	for i, x := range host {
		if x := real(scalar.Complex(x)); math.IsNaN(x) || math.IsInf(x, 0) {
			at := make([]int, s.Shape().NDim())
			for k := range at {
				at[k] = b.Lo[k] + i/st[k]
				i %= st[k]
			}
			return fmt.Errorf("the sample at %v is %g: replace what is no number", at, x)
		}
	}
	return nil
}

// Func returns an array with f of each point, given as inline, crossline, further
// indices and sample. It is collective.
func (v *Volume[T]) Func(ctx context.Context, f func(i []int) float64) (a dist.Array[T], err error) {
	raw, err := dist.FromFunc(ctx, v.file, func(i []int) T { return scalar.From[T](complex(f(i), 0)) })
	if err != nil {
		return a, err
	}
	defer raw.Free()
	return linop.Apply(ctx, v.turn, raw)
}

// Save returns an array to be saved in the order of files, as .npy or, if the data were
// SEG-Y of the same shape and name ends in .segy, with all headers of the data. It is
// collective.
func (v *Volume[T]) Save(ctx context.Context, w *golops.World, name string, a dist.Array[T], in Input) (app.Array, error) {
	out, err := linop.Apply(ctx, linop.H(v.turn), a)
	if err != nil || !IsSEGY(name) {
		return app.Save(name, golops.FromArray(w, out)), err
	}
	return app.SaveAs(name, func(path string) error {
		f, err := data.OpenVolume(in.Path, in.Words...)
		if err := dist.Agree(ctx, v.file.Comm(), "seismic: open", err); err != nil {
			return err
		}
		defer f.Close()
		return data.SaveVolume(ctx, path, f, out)
	}), nil
}

// Inline returns the section at an inline on rank 0, samples × crosslines, through
// further indices, and nil elsewhere. It is collective.
func Inline[T scalar.Scalar](ctx context.Context, w *golops.World, a dist.Array[T], inline int, more ...int) ([]float64, error) {
	n := a.Space().Shape().NDim()
	for axis, i := range append([]int{inline}, more...) {
		at := axis // further axes come after time
		if axis == 0 {
			at = n - 2
		}
		op, err := ops.Restriction[T](ctx, a.Space(), at, []int{i})
		if err != nil {
			return nil, err
		}
		if a, err = linop.Apply(ctx, op, a); err != nil {
			return nil, err
		}
	}
	return app.Gather(golops.FromArray(w, a)), nil
}

// AddNoise adds normal numbers whose standard deviation is that of the data times
// level. Each sample has its own, whatever the ranks. It is collective.
func AddNoise[T scalar.Scalar](ctx context.Context, v *Volume[T], d dist.Array[T], level float64) error {
	if level == 0 {
		return nil
	}
	norm, err := dist.Norm(ctx, d, 2)
	if err != nil {
		return err
	}
	size := level * norm / math.Sqrt(float64(d.Space().Size()))
	st := v.file.Shape().Strides()
	noise, err := v.Func(ctx, func(i []int) float64 {
		at := 0
		for k, x := range i {
			at += x * st[k]
		}
		src := splitmix.Source((0x9e3779b97f4a7c15 + uint64(at)) * 0xd1342543de82ef95)
		next := func() float64 { return (float64(src.Next()>>11) + 0.5) / (1 << 53) }
		next()
		return size * math.Sqrt(-2*math.Log(next())) * math.Cos(2*math.Pi*next())
	})
	if err != nil {
		return err
	}
	defer noise.Free()
	dist.Add(d, d, noise)
	return nil
}

// Far returns ‖a - b‖ / ‖b‖. It is collective.
func Far[T scalar.Scalar](ctx context.Context, a, b dist.Array[T]) (float64, error) {
	d, err := dist.New[T](a.Space())
	if err != nil {
		return 0, err
	}
	defer d.Free()
	dist.Sub(d, a, b)
	up, err := dist.Norm(ctx, d, 2)
	if err != nil {
		return 0, err
	}
	down, err := dist.Norm(ctx, b, 2)
	return up / down, err
}
