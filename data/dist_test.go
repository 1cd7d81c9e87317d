package data_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/scalar"
)

// layouts are ways to hold an array of this many axes on n ranks.
func layouts(n, axes int) map[string]dist.Layout {
	l := map[string]dist.Layout{
		"replicated": dist.Replicated,
		"checked":    {Replicate: dist.Checked},
		"copies":     {Grid: []int{n}, Axes: []int{dist.NoAxis}},
	}
	for a := range axes {
		l[fmt.Sprintf("split%d", a)] = dist.Split(a)
	}
	if axes > 0 && n > 1 {
		l["masked"] = dist.Layout{Mask: append(make([]int, n-1), 1)}
	}
	if n%2 == 0 && axes > 1 {
		l["grid"] = dist.Layout{Grid: []int{n / 2, 2}, Axes: []int{-1, 0}}
		l["split and copied"] = dist.Layout{Grid: []int{2, n / 2}, Axes: []int{dist.NoAxis, 1}}
	}
	return l
}

var shapes = [][]int{{}, {7}, {1}, {0}, {5, 3}, {4, 0, 2}, {3, 4, 5}, {2, 1, 3, 2}, {600, 5}, {3, 300, 4}}

// value is the element at a place of an array of T.
func value[T scalar.Scalar](i int) T {
	return scalar.From[T](complex(float64(i)-0.5, float64(-i)))
}

func TestLoadAndSave(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4} {
		for _, dims := range shapes {
			for name, l := range layouts(n, len(dims)) {
				t.Run(fmt.Sprintf("ranks=%d/shape=%v/%s", n, dims, name), func(t *testing.T) {
					if n%2 == 0 {
						loadAndSave[float32](t, testdevices.Local, n, l, dims)
					} else {
						loadAndSave[complex128](t, testdevices.Local, n, l, dims)
					}
				})
			}
		}
	}
}

// Where the host cannot read the memory of a device, it passes a window of the
// host; the last shape is larger than that.
func TestLoadAndSaveOnDevices(t *testing.T) {
	testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
		for _, dims := range [][]int{{}, {0}, {5, 3}, {3, 300, 4}, {3, 410_000}} {
			loadAndSave[complex128](t, p.Local, 1, dist.Replicated, dims)
			if len(dims) > 1 {
				loadAndSave[float32](t, p.Local, 2, dist.Split(1), dims)
			}
		}
	})
}

type runner func(ctx context.Context, ranks int, p launch.Program) error

func loadAndSave[T scalar.Scalar](t *testing.T, run runner, n int, l dist.Layout, dims []int) {
	t.Helper()
	dir := t.TempDir()
	size := 1
	for _, d := range dims {
		size *= d
	}
	all := make([]T, size)
	for i := range all {
		all[i] = value[T](i)
	}
	in, fortran, out := filepath.Join(dir, "in.npy"), filepath.Join(dir, "f.npy"), filepath.Join(dir, "out.npy")
	whole := encode(t, dims, all)
	for path, b := range map[string][]byte{in: whole, fortran: toFortran(t, all, dims)} {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	err := run(t.Context(), n, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, l, dims...)
		if err != nil {
			return err
		}
		var a dist.Array[T]
		for _, path := range []string{fortran, in} {
			if a, err = data.Load[T](ctx, path, s); err != nil {
				return err
			}
			want, err := dist.FromFunc(ctx, s, func(i []int) T {
				at := 0
				for k, d := range dims {
					at = at*d + i[k]
				}
				return value[T](at)
			})
			if err != nil {
				return err
			}
			x, err1 := a.Host()
			y, err2 := want.Host()
			if err1 != nil || err2 != nil || !slices.Equal(x, y) || !a.Space().Equal(s) {
				return fmt.Errorf("rank %d loaded %v, want %v, %v %v", r.Rank(), x, y, err1, err2)
			}
		}
		return data.Save(ctx, out, a)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("%v: saved file differs from the loaded one", err)
	}
	wantFiles(t, dir, "f.npy", "in.npy", "out.npy")
}

// encode returns a .npy file.
func encode[T scalar.Scalar](t testing.TB, dims []int, all []T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := data.WriteNPYTo(&b, dims, all); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// toFortran returns a .npy file in Fortran order of elements in C order.
func toFortran[T scalar.Scalar](t testing.TB, all []T, dims []int) []byte {
	t.Helper()
	f := slices.Clone(all)
	for i := range all {
		at, stride, rest := 0, len(all), i
		for k := len(dims) - 1; k >= 0; k-- {
			stride /= dims[k]
			at += rest % dims[k] * stride
			rest /= dims[k]
		}
		f[at] = all[i]
	}
	return bytes.Replace(encode(t, dims, f), []byte("'fortran_order': False"), []byte("'fortran_order': True "), 1)
}

// TestLoadConverts loads every kind of file that NumPy wrote on three ranks.
func TestLoadConverts(t *testing.T) {
	for _, name := range goldenNames() {
		elem, _, _ := strings.Cut(name, "-")
		path := file(t, member(t, "types.npz", name))
		if elem[0] != 'c' {
			loadGolden[float32](t, path, elem)
			loadGolden[float64](t, path, elem)
		}
		loadGolden[complex64](t, path, elem)
		loadGolden[complex128](t, path, elem)
	}
}

func loadGolden[T scalar.Scalar](t *testing.T, path, elem string) {
	t.Helper()
	err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Split(1), 2, 3, 4)
		if err != nil {
			return err
		}
		a, err := data.Load[T](ctx, path, s)
		if err != nil {
			return err
		}
		all, err := dist.AllGather(ctx, a)
		for i, v := range all {
			if want := scalar.From[T](golden(elem, i)); v != want {
				return fmt.Errorf("%s as %v: element %d is %v, want %v", elem, scalar.Of[T](), i, v, want)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
