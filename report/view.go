package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// ViewConfig says what of an array is looked at. The zero value shows a 2-D
// array whole, and the middle of a 3-D one.
type ViewConfig struct {
	Title     string
	Axis      int      // that a 3-D array is cut across
	Index     *int     // of the slice on that axis; nil means the middle
	Transpose bool     // the first axis that is left goes across, the other down
	Map       ColorMap // Auto by default
	Clip      float64  // as that of a Scale
	Min, Max  float64  // as those of a Scale
}

// View writes a PNG picture of an array of 2 or 3 dimensions, and a line plot
// of one of 1. at returns the i-th value in C order: the last axis runs
// fastest. Of more than three axes, those of length 1 are left out.
func View(w io.Writer, shape []int, at func(i int) float64, c ViewConfig) error {
	dims, err := viewDims(shape)
	if err != nil {
		return fmt.Errorf("report: view array of shape %v: %w", shape, err)
	}
	switch len(dims) {
	case 1:
		err = c.line(w, dims[0], at)
	case 2:
		err = c.plane(w, Grid{dims[0].n, dims[1].n, func(r, col int) float64 { return at(r*dims[1].n + col) }}, dims)
	default:
		err = c.slice(w, dims, at)
	}
	if err != nil {
		return fmt.Errorf("report: view array of shape %v: %w", shape, err)
	}
	return nil
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

// slice cuts a 3-D array.
func (c ViewConfig) slice(w io.Writer, dims []dim, at func(int) float64) error {
	cut := slices.IndexFunc(dims, func(d dim) bool { return d.axis == c.Axis })
	if cut < 0 {
		return fmt.Errorf("axis is %d: must be %d, %d or %d", c.Axis, dims[0].axis, dims[1].axis, dims[2].axis)
	}
	n := dims[cut].n
	k := n / 2
	if c.Index != nil {
		k = *c.Index
	}
	if k < 0 || k >= n {
		return fmt.Errorf("index is %d: must be 0 to %d on axis %d", k, n-1, c.Axis)
	}
	strides := []int{dims[1].n * dims[2].n, dims[2].n, 1}
	first := k * strides[cut]
	dims, strides = slices.Delete(dims, cut, cut+1), slices.Delete(strides, cut, cut+1)
	where := fmt.Sprintf("axis %d at %d of %d", c.Axis, k, n)
	if c.Title != "" {
		where = c.Title + ", " + where
	}
	c.Title = where
	g := Grid{dims[0].n, dims[1].n, func(r, col int) float64 { return at(first + r*strides[0] + col*strides[1]) }}
	return c.plane(w, g, dims)
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
	}
	if err := p.Validate(); err != nil {
		return err
	}
	return p.PNG(w)
}

// line draws one dimension.
func (c ViewConfig) line(w io.Writer, d dim, at func(int) float64) error {
	v := make([]float64, d.n)
	for i := range v {
		v[i] = at(i)
	}
	return Curves{Title: c.Title, X: fmt.Sprintf("axis %d", d.axis), Y: "value", Linear: true, Curves: []Curve{{Y: v}}}.PNG(w)
}
