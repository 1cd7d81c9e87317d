package data

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// Volume is a SEG-Y file whose traces fill a grid: words of their headers, such as
// Inline and Crossline, are the coordinates. Traces may have any order in the file.
// Its arrays have one axis for each word, and then the samples.
type Volume struct {
	*SEGY
	Words   []Word
	Numbers [][]int // the values of each word, evenly spaced and rising
	at      []int   // the trace of each point of the grid
}

// OpenVolume opens a SEG-Y file and reads the headers of all traces. A point of the grid
// without a trace, or with two, is an error that names it, and so are numbers that are
// not evenly spaced. Close it when done.
func OpenVolume(path string, words ...Word) (*Volume, error) {
	s, err := OpenSEGY(path)
	if err != nil {
		return nil, err
	}
	v := &Volume{SEGY: s, Words: words}
	if err := v.arrange(); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("data: open %s as a volume: %w", path, err)
	}
	return v, nil
}

// Shape returns the number of values of each word and the number of samples.
func (v *Volume) Shape() []int {
	var dims []int
	for _, n := range v.Numbers {
		dims = append(dims, len(n))
	}
	return append(dims, v.samples)
}

// arrange finds the trace of each point of the grid.
func (v *Volume) arrange() error {
	if v.traces == 0 {
		return fmt.Errorf("it has no traces")
	}
	if len(v.Words) == 0 {
		return fmt.Errorf("no header words given")
	}
	n := len(v.Words)
	if v.traces > 1<<40/n {
		return fmt.Errorf("it has %d traces, too many for a volume", v.traces)
	}
	all, err := v.coordinates()
	if err != nil {
		return err
	}
	points := 1
	for k, w := range v.Words {
		var seen []int
		for i := k; i < len(all); i += n {
			seen = append(seen, all[i])
		}
		slices.Sort(seen)
		seen = slices.Compact(seen)
		for i := 2; i < len(seen); i++ {
			if seen[i]-seen[i-1] != seen[1]-seen[0] {
				return fmt.Errorf("%v is %d, %d and then %d: values must be evenly spaced, so traces are missing or it is the wrong word", w, seen[i-2], seen[i-1], seen[i])
			}
		}
		v.Numbers = append(v.Numbers, slices.Clone(seen))
		if points > v.traces/len(seen)+1 {
			points = v.traces + 1 // more than there are traces
		} else {
			points *= len(seen)
		}
	}
	if points > v.traces {
		return v.missing(all)
	}
	v.at = slices.Repeat([]int{-1}, points)
	for i := range v.traces {
		at := 0
		for k, x := range all[i*n : (i+1)*n] {
			j, _ := slices.BinarySearch(v.Numbers[k], x)
			at = at*len(v.Numbers[k]) + j
		}
		if was := v.at[at]; was >= 0 {
			return fmt.Errorf("traces %d and %d are both at %s: give the words that tell them apart", was, i, v.point(all[i*n:(i+1)*n]))
		}
		v.at[at] = i
	}
	return nil
}

// coordinates returns the words of all traces, one trace after the other.
func (v *Volume) coordinates() ([]int, error) {
	for _, w := range v.Words {
		if err := w.check(1, traceHeader); err != nil {
			return nil, err
		}
	}
	out := make([]int, 0, v.traces*len(v.Words))
	h := make([]byte, traceHeader)
	for i := range v.traces {
		if err := readAt(v.r, h, v.first+int64(i)*v.traceBytes()); err != nil {
			return nil, err
		}
		if err := v.checkLength(h); err != nil {
			return nil, fmt.Errorf("trace %d: %w", i, err)
		}
		for _, w := range v.Words {
			out = append(out, w.get(h, 1))
		}
	}
	return out, nil
}

// missing names a point of the grid that has no trace.
func (v *Volume) missing(all []int) error {
	n := len(v.Words)
	have := make([][]int, v.traces)
	for i := range have {
		have[i] = all[i*n : (i+1)*n]
	}
	slices.SortFunc(have, slices.Compare)
	at := make([]int, n) // indices of the point that is looked for
	point := make([]int, n)
	for i := 0; ; {
		for k := range at {
			point[k] = v.Numbers[k][at[k]]
		}
		if i == len(have) || slices.Compare(have[i], point) != 0 {
			return fmt.Errorf("there is no trace at %s: the volume must have one for every point of %s", v.point(point), v.extent())
		}
		for ; i < len(have) && slices.Compare(have[i], point) == 0; i++ { // traces at the same point count once
		}
		for k := n - 1; k >= 0; k-- {
			if at[k]++; at[k] < len(v.Numbers[k]) {
				break
			}
			at[k] = 0
		}
	}
}

// point describes a point of the grid, such as Inline 3, Crossline 7.
func (v *Volume) point(x []int) string {
	var s []string
	for k, w := range v.Words {
		s = append(s, fmt.Sprintf("%s %d", cmp.Or(w.Name, fmt.Sprintf("%d:%d", w.Byte, w.Size)), x[k]))
	}
	return strings.Join(s, ", ")
}

// extent describes the grid, such as Inline 1 to 20, Crossline 5 to 8.
func (v *Volume) extent() string {
	var s []string
	for k, w := range v.Words {
		x := v.Numbers[k]
		s = append(s, fmt.Sprintf("%s %d to %d", cmp.Or(w.Name, fmt.Sprintf("%d:%d", w.Byte, w.Size)), x[0], x[len(x)-1]))
	}
	return strings.Join(s, ", ")
}

// mine calls f for each trace of a box, in order, with its number in the file.
func (v *Volume) mine(b dist.Box, f func(i int) error) error {
	n := len(v.Words)
	for k := range n {
		if b.Lo[k] >= b.Hi[k] {
			return nil
		}
	}
	at := slices.Clone(b.Lo[:n])
	for {
		p := 0
		for k, x := range at {
			p = p*len(v.Numbers[k]) + x
		}
		if err := f(v.at[p]); err != nil {
			return err
		}
		k := n - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k] < b.Hi[k] {
				break
			}
			at[k] = b.Lo[k]
		}
		if k < 0 {
			return nil
		}
	}
}

// LoadVolume returns the samples of a volume as an array of its Shape. It is collective:
// every rank has the file open and reads its own traces only. If a rank fails, all ranks
// return an error.
func LoadVolume[T scalar.Scalar](ctx context.Context, v *Volume, s *dist.Space) (dist.Array[T], error) {
	defer trace.Begin(ctx, "read a file").End()
	block, err := volumeBlock[T](ctx, v, s)
	if err := dist.Agree(ctx, s.Comm(), "data: load a volume", err, v.extent()); err != nil {
		return dist.Array[T]{}, err
	}
	return dist.FromBlock(ctx, s, block)
}

func volumeBlock[T scalar.Scalar](ctx context.Context, v *Volume, s *dist.Space) ([]T, error) {
	if !slices.Equal(s.Shape().Dims(), v.Shape()) {
		return nil, fmt.Errorf("the file has shape %v, the space has %v", v.Shape(), s.Shape().Dims())
	}
	block, err := device.Make[T](s.LocalShape().Size())
	if err != nil {
		return nil, err
	}
	b, at, samples := s.Box(s.Comm().Rank()), 0, make([]float32, v.samples)
	lo, hi := b.Lo[len(v.Words)], b.Hi[len(v.Words)]
	err = v.mine(b, func(i int) error {
		if err := v.Trace(i, samples); err != nil {
			return err
		}
		for _, x := range samples[lo:hi] {
			block[at] = scalar.From[T](complex(float64(x), 0))
			at++
		}
		return ctx.Err()
	})
	return block, err
}

// SaveVolume writes a SEG-Y file with the samples of an array of v's Shape and all
// headers of v, in the order of its traces. Samples are written as IBM floats if v has
// them, as IEEE floats otherwise; the format in the binary header says so. Imaginary
// parts are left out. It is collective: every rank writes its own traces, which must
// have all their samples on that rank.
func SaveVolume[T scalar.Scalar](ctx context.Context, path string, v *Volume, a dist.Array[T]) error {
	s, what := a.Space(), fmt.Sprintf("data: save %s", path)
	format := FormatIEEE
	if v.format == FormatIBM {
		format = FormatIBM
	}
	each := int64(traceHeader + 4*v.samples)
	size := v.first + int64(v.traces)*each
	return saveTogether(ctx, s.Comm(), path, what, fmt.Sprint(path, v.extent()), func(t *disk.Temporary) (int64, error) {
		front := make([]byte, v.first)
		if err := readAt(v.r, front, 0); err != nil {
			return 0, err
		}
		if err := binaryFormat.put(front[textBytes:], binaryFirst, int(format)); err != nil {
			return 0, err
		}
		if _, err := t.Write(front); err != nil {
			return 0, bare(err)
		}
		return size, bare(t.Truncate(size))
	}, func(name string, size int64) error {
		return dist.Agree(ctx, s.Comm(), what, saveTraces(ctx, name, size, v, format, a))
	})
}

// saveTraces writes this rank's traces.
func saveTraces[T scalar.Scalar](ctx context.Context, name string, size int64, v *Volume, format SampleFormat, a dist.Array[T]) error {
	s := a.Space()
	if !slices.Equal(s.Shape().Dims(), v.Shape()) {
		return fmt.Errorf("the file has shape %v, the array has %v", v.Shape(), s.Shape().Dims())
	}
	b, k := s.Box(s.Comm().Rank()), len(v.Words)
	if b.Hi[k]-b.Lo[k] != v.samples {
		return fmt.Errorf("the samples of a trace are spread over ranks: spread traces instead")
	}
	host, err := a.Host()
	if err != nil || !writes(s) {
		return err
	}
	return writePart(name, size, func(f *disk.File) error {
		out, samples := make([]byte, traceHeader+4*v.samples), make([]float32, v.samples)
		return v.mine(b, func(i int) error {
			if err := readAt(v.r, out[:traceHeader], v.first+int64(i)*v.traceBytes()); err != nil {
				return err
			}
			for j := range samples {
				samples[j] = float32(real(scalar.Complex(host[j])))
			}
			host = host[len(samples):]
			if err := format.encodeSamples(out[traceHeader:], samples); err != nil {
				return fmt.Errorf("trace %d: %w", i, err)
			}
			if _, err := f.WriteAt(out, v.first+int64(i)*int64(len(out))); err != nil {
				return err
			}
			return ctx.Err()
		})
	})
}
