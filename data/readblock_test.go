package data_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
)

// A part has the elements that it has in the whole, in both orders.
func TestReadBlock(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 40 {
		dims := make([]int, rnd.IntN(5))
		lo, hi := make([]int, len(dims)), make([]int, len(dims))
		n := 1
		for i := range dims {
			dims[i] = rnd.IntN(6)
			lo[i] = rnd.IntN(dims[i] + 1)
			hi[i] = lo[i] + rnd.IntN(dims[i]-lo[i]+1)
			n *= dims[i]
		}
		all := make([]float32, n)
		for i := range all {
			all[i] = float32(i)
		}
		var want []float64
		for i, v := range all {
			inside, rest := true, i
			for a := len(dims) - 1; a >= 0; a-- {
				k := rest % dims[a]
				rest /= dims[a]
				inside = inside && k >= lo[a] && k < hi[a]
			}
			if inside {
				want = append(want, float64(v))
			}
		}
		for name, b := range map[string][]byte{"C": encode(t, dims, all), "Fortran": toFortran(t, all, dims)} {
			got, err := data.ReadBlock[float64](t.Context(), file(t, b), lo, hi)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("seed %d, %s order, %v to %v of %v: got %v, %v, want %v", seed, name, lo, hi, dims, got, err, want)
			}
		}
	}
}

// huge returns a file with holes that claims, truly, to have 80 GB.
func huge(t *testing.T) string {
	t.Helper()
	head := npy("{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 1000, 100), }\n", 0)
	path := file(t, head)
	if err := os.Truncate(path, int64(len(head))+80e9); err != nil {
		t.Fatalf("a file with holes: %v", err)
	}
	return path
}

// A slice of a file that is larger than memory takes the memory of the slice.
func TestReadBlockOfHugeFile(t *testing.T) {
	path := huge(t)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := data.Info(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, info.Offset+8*(50000*100000+3*100+4)) // 1.0
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	v, err := data.ReadBlock[float64](t.Context(), path, []int{50000, 0, 0}, []int{50001, 1000, 100})
	if err != nil || len(v) != 100000 || v[304] != 1 || slices.Max(append(v[:304:304], v[305:]...)) != 0 {
		t.Errorf("got %d elements, %v", len(v), err)
	}
}

func TestReadBlockWrong(t *testing.T) {
	path := file(t, encode(t, []int{3, 4}, make([]float64, 12)))
	for _, c := range []struct {
		lo, hi []int
		want   string
	}{
		{[]int{0}, []int{3}, "the array has 2 axes, the part 1 and 1"},
		{[]int{0, 0}, []int{3}, "the part 2 and 1"},
		{[]int{0, -1}, []int{3, 4}, "axis 1 goes from 0 to 4, the part from -1 to 4"},
		{[]int{2, 0}, []int{1, 4}, "the part from 2 to 1"},
		{[]int{0, 0}, []int{4, 4}, "axis 0 goes from 0 to 3, the part from 0 to 4"},
	} {
		if _, err := data.ReadBlock[float64](t.Context(), path, c.lo, c.hi); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v to %v: got %v, want %q", c.lo, c.hi, err, c.want)
		}
	}
	if _, err := data.ReadBlock[float64](t.Context(), filepath.Join(t.TempDir(), "none"), nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := data.ReadBlock[float64](ctx, path, []int{0, 0}, []int{3, 4}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v after a cancel", err)
	}
}
