package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// ViewConfig says what of an array is looked at. The zero value shows a 2-D
// array whole, and the middle of a 3-D one.
type ViewConfig struct {
	Title     string
	Axis      *int     // that a 3-D array is cut across, counted from the end if negative; nil means the first
	Index     *int     // of the slice on that axis, counted from the end if negative; nil means the middle
	Transpose bool     // the first axis that is left goes across, the other down
	Map       ColorMap // Auto by default
	Clip      float64  // as that of a Scale
	Min, Max  float64  // as those of a Scale
	Label     string   // what the values are, such as "magnitude"
}

// View writes a PNG picture of an array of 2 or 3 dimensions, and a line plot
// of one of 1. Of more than three axes, those of length 1 are left out. read
// is called once, for the values that are shown: those from lo up to hi on
// each axis, in C order, the last axis running fastest.
func View(w io.Writer, shape []int, read func(lo, hi []int) ([]float64, error), c ViewConfig) error {
	if err := c.view(w, shape, read); err != nil {
		return fmt.Errorf("report: view array of shape %v: %w", shape, err)
	}
	return nil
}

func (c ViewConfig) view(w io.Writer, shape []int, read func(lo, hi []int) ([]float64, error)) error {
	dims, err := viewDims(shape)
	if err != nil {
		return err
	}
	lo, hi := make([]int, len(shape)), slices.Clone(shape)
	if len(dims) == 3 {
		cut, k, err := c.cut(dims, len(shape))
		if err != nil {
			return err
		}
		lo[dims[cut].axis], hi[dims[cut].axis] = k, k+1
		c.Title = strings.TrimPrefix(fmt.Sprintf("%s, axis %d at %d of %d", c.Title, dims[cut].axis, k, dims[cut].n), ", ")
		dims = slices.Delete(dims, cut, cut+1)
	} else if c.Axis != nil || c.Index != nil {
		return fmt.Errorf("axis and index are for a slice of 3 dimensions, there are %d: leave them out", len(dims))
	}
	v, err := read(lo, hi)
	if err != nil {
		return err
	}
	if len(dims) == 1 {
		return c.line(w, dims[0], v)
	}
	g, err := GridOf(dims[0].n, dims[1].n, v)
	if err != nil {
		return err
	}
	return c.plane(w, g, dims)
}

// dim is an axis of an array that is looked at.
type dim struct{ axis, n int }

// viewDims leaves out axes of length 1 where there are more than three, and
// refuses what has nothing to show or still has too many.
func viewDims(shape []int) (dims []dim, err error) {
	size := 1
	for i, n := range shape {
		if n <= 0 {
			return nil, errors.New("the array is empty")
		}
		if size > math.MaxInt/n {
			return nil, errors.New("the array has more values than can be counted")
		}
		size *= n
		dims = append(dims, dim{i, n})
	}
	for i := len(dims) - 1; i >= 0 && len(dims) > 3; i-- {
		if dims[i].n == 1 {
			dims = slices.Delete(dims, i, i+1)
		}
	}
	if len(dims) == 0 || len(dims) > 3 {
		return nil, fmt.Errorf("it has %d dimensions: only 1 to 3 can be shown", len(dims))
	}
	return dims, nil
}

// cut returns which of three dimensions is cut and where.
func (c ViewConfig) cut(dims []dim, axes int) (cut, k int, err error) {
	axis := dims[0].axis
	if c.Axis != nil {
		axis = *c.Axis
	}
	if axis < 0 {
		axis += axes
	}
	cut = slices.IndexFunc(dims, func(d dim) bool { return d.axis == axis })
	if cut < 0 {
		return 0, 0, fmt.Errorf("axis is %d: must be %d, %d or %d, or negative to count from the end", *c.Axis, dims[0].axis, dims[1].axis, dims[2].axis)
	}
	n := dims[cut].n
	if c.Index == nil {
		return cut, n / 2, nil
	}
	if k = *c.Index; k < 0 {
		k += n
	}
	if k < 0 || k >= n {
		return 0, 0, fmt.Errorf("index is %d: must be from %d to %d on axis %d", *c.Index, -n, n-1, axis)
	}
	return cut, k, nil
}

// plane draws two dimensions, the first of them downwards.
func (c ViewConfig) plane(w io.Writer, g Grid, dims []dim) error {
	if c.Transpose {
		g = g.T()
		dims = []dim{dims[1], dims[0]}
	}
	p := Picture{
		Title: c.Title, Data: g, Map: c.Map,
		X:     Axis{Label: fmt.Sprintf("axis %d", dims[1].axis)},
		Y:     Axis{Label: fmt.Sprintf("axis %d", dims[0].axis)},
		Scale: Scale{Min: c.Min, Max: c.Max, Clip: c.Clip},
		Bar:   Bar{Label: c.Label},
	}
	if err := p.Validate(); err != nil {
		return err
	}
	return p.PNG(w)
}

// line draws one dimension.
func (c ViewConfig) line(w io.Writer, d dim, v []float64) error {
	if len(v) != d.n {
		return fmt.Errorf("there are %d values", len(v))
	}
	return Curves{
		Title: c.Title, X: fmt.Sprintf("axis %d", d.axis), Y: cmp.Or(c.Label, "value"), Linear: true, Curves: []Curve{{Y: v}},
	}.PNG(w)
}
