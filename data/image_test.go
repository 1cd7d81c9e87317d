package data_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
)

// An image, or a stack of them, is the same in both formats.
func TestImage(t *testing.T) {
	for _, dims := range [][]int{{5, 7}, {3, 4, 2}} {
		dir := t.TempDir()
		err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
			s, err := dist.NewSpace(ctx, r, dist.Layout{}, dims...)
			if err != nil {
				return err
			}
			a, err := dist.FromFunc(ctx, s, func(i []int) float64 { return float64(i[0]) - 2.5*float64(i[1]) })
			if err != nil {
				return err
			}
			for _, name := range []string{"a.npy", "a.TIFF"} { // in the same order on all ranks
				path, save := filepath.Join(dir, name), data.Save[float64]
				if name == "a.TIFF" {
					save = data.SaveTIFF[float64]
				}
				if err := save(ctx, path, a); err != nil {
					return err
				}
				if got, err := data.InfoImage(path); err != nil || !slices.Equal(got, dims) {
					t.Errorf("%s has shape %v, %v, want %v", name, got, err, dims)
				}
				b, err := data.LoadImage[float64](ctx, path, s)
				if err != nil {
					return err
				}
				dist.Sub(b, b, a)
				if d, err := dist.Norm(ctx, b, 2); err != nil || d != 0 {
					t.Errorf("%s of shape %v differs by %g, %v", name, dims, d, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestBadImage(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(data.WriteNPY(in("complex.npy"), []int{1, 2}, []complex64{1, 2}), os.WriteFile(in("no.tif"), []byte("hello, world"), 0o666))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a.png": "an image is a file .npy or .tif", "none.npy": "no such file", "none.tif": "no such file", "no.tif": "begins with",
		"complex.npy": "it has complex numbers, <c8: give real ones",
	} {
		if got, err := data.InfoImage(in(name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", name, got, err, want)
		}
	}
}
