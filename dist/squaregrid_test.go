package dist_test

import (
	"slices"
	"testing"

	"github.com/golops/golops/dist"
)

func TestSquareGrid(t *testing.T) {
	for _, c := range []struct {
		ranks, rows, cols int
		want              []int
	}{
		{1, 5, 7, []int{1, 1}}, {4, 10, 10, []int{2, 2}}, {6, 30, 20, []int{3, 2}}, {6, 20, 30, []int{2, 3}},
		{4, 100, 1, []int{4, 1}}, {7, 1, 100, []int{1, 7}}, {12, 40, 30, []int{4, 3}},
	} {
		if got := dist.SquareGrid(c.ranks, c.rows, c.cols); !slices.Equal(got, c.want) {
			t.Errorf("%d ranks, %d × %d: got %v, want %v", c.ranks, c.rows, c.cols, got, c.want)
		}
	}
}
