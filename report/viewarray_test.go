package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// block is 3 by 4 by 5 values, each with its own place: 100i + 10j + k.
func block(n int) float64 { return float64(n/20*100 + n/5%4*10 + n%5) }

// from reads an array of a shape whose i-th value in C order is at(i).
func from(shape []int, at func(i int) float64) func(lo, hi []int) ([]float64, error) {
	return func(lo, hi []int) (v []float64, err error) {
		var walk func(axis, first int)
		walk = func(axis, first int) {
			if axis == len(shape) {
				v = append(v, at(first))
				return
			}
			for i := lo[axis]; i < hi[axis]; i++ {
				walk(axis+1, first*shape[axis]+i)
			}
		}
		walk(0, 0)
		return v, nil
	}
}

func TestView(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape []int
		c     ViewConfig
	}{
		{"view-1d.png", []int{60}, ViewConfig{Title: "wavelet.npy"}},
		{"view-2d.png", []int{6, 10}, ViewConfig{Title: "model.npy", Map: Gray, Clip: 98}},
		{"view-3d.png", []int{3, 4, 5}, ViewConfig{Title: "data.npy"}},
		{"view-3d-last.png", []int{3, 4, 5}, ViewConfig{Axis: new(2), Index: new(4), Transpose: true, Min: 0, Max: 100}},
		{"view-4d.png", []int{3, 1, 4, 5}, ViewConfig{Axis: new(3)}},
		{"view-1x1.png", []int{1, 1}, ViewConfig{}},
		{"view-magnitude.png", []int{6, 10}, ViewConfig{Title: "spectrum.npy", Label: "magnitude"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			drawTo(t, c.name, func(w io.Writer) error { return View(w, c.shape, from(c.shape, block), c.c) })
		})
	}
}

// TestViewSlices compares with a picture of the values that must be there.
func TestViewSlices(t *testing.T) {
	grids := []struct {
		rows, cols int
		value      func(k, r, c int) int
	}{
		{4, 5, func(k, r, c int) int { return 100*k + 10*r + c }},
		{3, 5, func(k, r, c int) int { return 100*r + 10*k + c }},
		{3, 4, func(k, r, c int) int { return 100*r + 10*c + k }},
	}
	for axis, n := range []int{3, 4, 5} {
		for _, k := range []int{0, n - 1} {
			g := grids[axis]
			title := fmt.Sprintf("axis %d at %d of %d", axis, k, n)
			across := []int{2, 2, 1}[axis]
			down := []int{1, 0, 0}[axis]
			want := Picture{
				Title: title, Data: Grid{g.rows, g.cols, func(r, c int) float64 { return float64(g.value(k, r, c)) }},
				X: Axis{Label: fmt.Sprintf("axis %d", across)}, Y: Axis{Label: fmt.Sprintf("axis %d", down)},
			}
			c := ViewConfig{Axis: &axis, Index: &k}
			if k > 0 { // the same slice, counted from the end
				c = ViewConfig{Axis: new(axis - 3), Index: new(k - n)}
			}
			got := func(w io.Writer) error { return View(w, []int{3, 4, 5}, from([]int{3, 4, 5}, block), c) }
			if !bytes.Equal(drawn(t, got), drawn(t, want.PNG)) {
				t.Errorf("%s is not the picture of its values, with axis %d and index %d", title, *c.Axis, *c.Index)
			}
		}
	}
}

// What read says is what View says.
func TestViewReadFails(t *testing.T) {
	for _, read := range []func(lo, hi []int) ([]float64, error){
		func(_, _ []int) ([]float64, error) { return nil, errFull },
		func(_, _ []int) ([]float64, error) { return make([]float64, 7), nil },
	} {
		for _, shape := range [][]int{{6}, {2, 3}, {2, 3, 4}} {
			if err := View(io.Discard, shape, read, ViewConfig{}); err == nil {
				t.Errorf("shape %v: a picture of values that are not there was drawn", shape)
			}
		}
	}
}

// drawn returns the file of a picture. The same pixels give the same bytes.
func drawn(t *testing.T, draw func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestViewRefuses(t *testing.T) {
	for _, c := range []struct {
		shape []int
		c     ViewConfig
		want  string
	}{
		{nil, ViewConfig{}, "report: view array of shape []: it has 0 dimensions"},
		{[]int{2, 0}, ViewConfig{}, "the array is empty"},
		{[]int{2, -1}, ViewConfig{}, "the array is empty"},
		{[]int{2, 3, 4, 5}, ViewConfig{}, "it has 4 dimensions: only 1 to 3 can be shown"},
		{[]int{1 << 40, 1 << 40}, ViewConfig{}, "more values than can be counted"},
		{[]int{2, 3, 4}, ViewConfig{Axis: new(3)}, "axis is 3: must be 0, 1 or 2"},
		{[]int{2, 3, 4}, ViewConfig{Axis: new(-4)}, "axis is -4"},
		{[]int{2, 3}, ViewConfig{Axis: new(99)}, "axis and index are for a slice of 3 dimensions, there are 2"},
		{[]int{2, 3}, ViewConfig{Axis: new(0)}, "axis and index are for a slice"},
		{[]int{6}, ViewConfig{Index: new(9)}, "axis and index are for a slice of 3 dimensions, there are 1"},
		{[]int{2, 3, 4}, ViewConfig{Index: new(2)}, "index is 2: must be from -2 to 1 on axis 0"},
		{[]int{2, 3, 4}, ViewConfig{Index: new(-3)}, "index is -3"},
		{[]int{2, 3}, ViewConfig{Min: 3, Max: 2}, "the maximum must be larger"},
		{[]int{2, 3}, ViewConfig{Clip: 40}, "clip at percentile 40"},
		{[]int{2, 3}, ViewConfig{Map: 17}, "unknown colour map 17"},
	} {
		err := View(io.Discard, c.shape, from(c.shape, func(int) float64 { return 1 }), c.c)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("shape %v, %+v: error is %v, want %q", c.shape, c.c, err, c.want)
		}
	}
}
