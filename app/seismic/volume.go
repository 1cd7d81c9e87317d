package seismic

import (
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Volume is a volume of traces on ranks. In memory time is the first axis, since
// operators act along it and are fast so, then further axes such as angles, and inlines
// and crosslines are the last, which are split. In files time is the last axis.
type Volume[T golops.Scalar] struct {
	Space golops.Space[T] // in memory
	file  golops.Space[T]
	turn  golops.Operator[T] // from the order of files to that in memory
}

// NewVolume returns the volume of arrays of these dimensions, in the order of files,
// whose inlines, crosslines or both are split over the ranks. It is collective.
func NewVolume[T golops.Scalar](w *golops.World, dims []int, split string) *Volume[T] {
	l := dist.Split(0)
	switch split {
	case "crosslines":
		l = dist.Split(1)
	case "both":
		l = dist.Layout{Grid: dist.SquareGrid(w.Size(), dims[0], dims[1]), Axes: []int{0, 1}}
	}
	file := golops.NewSpace[T](w, l, dims...)
	order := []int{len(dims) - 1}
	for a := 2; a < len(dims)-1; a++ {
		order = append(order, a)
	}
	turn := golops.Transpose(file, append(order, 0, 1)...)
	return &Volume[T]{turn.Range(), file, turn}
}

// Load returns what is in a file, in memory order. It is collective; what is wrong with
// the file is an error of the user.
func (v *Volume[T]) Load(r *app.Rank, f data.VolumeFile) golops.Vec[T] {
	a, err := data.LoadVolumeFile[T](r.Context(), f, v.file.Dist())
	r.Unusable(f.Path, err)
	return v.turn.Apply(golops.FromArray(r.World, a))
}

// Func returns a vector with f of each point, given as inline, crossline, further
// indices and sample. It is collective.
func (v *Volume[T]) Func(f func(i []int) float64) golops.Vec[T] {
	return v.turn.Apply(v.file.FuncReal(f))
}

// Save returns a vector to be saved in the order of files: as SEG-Y with the headers of
// like if the name says so, otherwise as .npy. It is collective.
func (v *Volume[T]) Save(name string, x golops.Vec[T], like data.VolumeFile) app.Array {
	out := v.turn.H().Apply(x)
	return app.SaveAs(name, func(path string) error {
		return data.SaveVolumeFile(x.World().Context(), path, like, out.Array())
	})
}

// AddNoise adds normal numbers whose standard deviation is that of the traces times
// level. Each sample has its own, whatever the ranks. It is collective.
func (v *Volume[T]) AddNoise(d golops.Vec[T], level float64) {
	if level == 0 {
		return
	}
	size := level * d.Norm() / math.Sqrt(float64(v.file.Size()))
	d.AddScaled(1, v.turn.Apply(v.file.Normal(size, 0)))
}

// smooth replaces every sample of a trace by the mean of the n around it, of fewer at the
// ends.
func smooth[T golops.Scalar](x golops.Vec[T], n int) golops.Vec[T] {
	block, nt := x.Host(), x.Space().Shape()[0]
	traces, sums := len(block)/nt, make([]float64, nt+1)
	for i := range traces {
		for t := range nt {
			sums[t+1] = sums[t] + real(scalar.Complex(block[t*traces+i]))
		}
		for t := range nt {
			half := min(n/2, t, nt-1-t)
			mean := (sums[t+half+1] - sums[t-half]) / float64(2*half+1)
			block[t*traces+i] = scalar.From[T](complex(mean, 0))
		}
	}
	return x.Space().Block(block)
}
