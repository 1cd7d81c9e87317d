package shape_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/shape"
)

func TestNew(t *testing.T) {
	for _, c := range []struct {
		dims []int
		want string // of the error
	}{
		{nil, ""},
		{[]int{0}, ""},
		{[]int{3, 4}, ""},
		{[]int{1, 2, 3, 4, 5, 6, 7, 8}, ""},
		{[]int{math.MaxInt}, ""},
		{[]int{math.MaxInt, 1, 1}, ""},
		{[]int{3, -4}, "axis 1 of [3 -4] is negative"},
		{make([]int, 9), "9 axes, at most 8"},
		{[]int{math.MaxInt, 2}, "more elements than an int can count"},
		{[]int{0, math.MaxInt, 2}, "more elements than an int can count"}, // its strides would overflow
	} {
		s, err := shape.New(c.dims...)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v: %v, want an error that says %q", c.dims, err, c.want)
		case c.want == "" && (err != nil || !slices.Equal(s.Dims(), c.dims) || s.NDim() != len(c.dims)):
			t.Errorf("%v: got %v, error %v", c.dims, s, err)
		}
	}
}

func TestPanics(t *testing.T) {
	s := shape.Of(2, 3)
	for name, f := range map[string]func(){
		"Of":           func() { shape.Of(-1) },
		"Of nine":      func() { shape.Of(make([]int, 9)...) },
		"Dim":          func() { s.Dim(2) },
		"Dim negative": func() { s.Dim(-1) },
		"With":         func() { s.With(2, 1) },
		"With -1":      func() { s.With(1, -1) },
		"Without":      func() { s.Without(2) },
		"Around":       func() { s.Around(2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestAxis(t *testing.T) {
	s := shape.Of(2, 3, 4)
	for axis, want := range map[int]int{0: 0, 2: 2, -1: 2, -3: 0} {
		if got, err := s.Axis(axis); err != nil || got != want {
			t.Errorf("axis %d: got %d, want %d: %v", axis, got, want, err)
		}
	}
	for _, axis := range []int{3, -4, math.MinInt, math.MaxInt} {
		if _, err := s.Axis(axis); err == nil || !strings.Contains(err.Error(), fmt.Sprint(axis)) {
			t.Errorf("axis %d: %v, want an error that names it", axis, err)
		}
	}
	if _, err := shape.Of().Axis(0); err == nil || !strings.Contains(err.Error(), "no axes") {
		t.Errorf("axis of a scalar: %v", err)
	}
}

// TestProperties compares strides and the like with counting.
func TestProperties(t *testing.T) {
	seed := rand.Uint64()
	g := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		dims := make([]int, 1+g.IntN(5))
		for i := range dims {
			dims[i] = g.IntN(5)
		}
		s := shape.Of(dims...)
		size := 1
		for _, d := range dims {
			size *= d
		}
		axis := g.IntN(len(dims))
		outer, n, inner := s.Around(axis)
		st := s.Strides()
		less := slices.Delete(slices.Clone(dims), axis, axis+1)
		switch {
		case s.Size() != size:
			t.Errorf("seed %d: size of %v is %d, want %d", seed, s, s.Size(), size)
		case outer*n*inner != size || n != dims[axis] || st[axis] != inner:
			t.Errorf("seed %d: around axis %d of %v: %d, %d, %d, stride %d", seed, axis, s, outer, n, inner, st[axis])
		case s.Without(axis) != shape.Of(less...):
			t.Errorf("seed %d: %v without axis %d is %v", seed, s, axis, s.Without(axis))
		case s.With(axis, 9).Dim(axis) != 9 || s.With(axis, dims[axis]) != s || s.Dim(axis) != dims[axis]:
			t.Errorf("seed %d: %v with another axis %d is %v", seed, s, axis, s.With(axis, 9))
		case s.String() != fmt.Sprint(dims):
			t.Errorf("seed %d: %v prints as %s", seed, dims, s)
		}
	}
	if shape.Of().Size() != 1 {
		t.Error("a scalar has one element")
	}
}

func ExampleShape_Around() {
	s := shape.Of(2, 5, 3)
	fmt.Println(s.Around(1))
	// Output: 2 5 3
}
