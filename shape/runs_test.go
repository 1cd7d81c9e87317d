package shape_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/golops/golops/shape"
)

// The runs of a block are its elements, in order. A whole array is one run.
func TestRuns(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		dims := make([]int, rnd.IntN(5))
		lo, hi := make([]int, len(dims)), make([]int, len(dims))
		want := []int{0}
		for i := range dims {
			dims[i] = rnd.IntN(5)
			if hi[i] = dims[i]; rnd.IntN(2) == 0 {
				lo[i] = rnd.IntN(dims[i] + 1)
				hi[i] = lo[i] + rnd.IntN(dims[i]-lo[i]+1)
			}
			var next []int
			for _, w := range want {
				for k := lo[i]; k < hi[i]; k++ {
					next = append(next, w*dims[i]+k)
				}
			}
			want = next
		}
		var got []int
		for start, n := range shape.Runs(dims, lo, hi) {
			if n < 1 || len(got) > 0 && len(want) == shape.Of(dims...).Size() {
				t.Errorf("seed %d: %v from %v to %v: a run of %d at %d after %v", seed, dims, lo, hi, n, start, got)
			}
			for k := range n {
				got = append(got, start+k)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v from %v to %v: got %v, want %v", seed, dims, lo, hi, got, want)
		}
	}
	for start := range shape.Runs([]int{4, 3}, []int{1, 1}, []int{3, 2}) { // may be left
		if start != 4 {
			t.Errorf("the first run is at %d", start)
		}
		break
	}
}
