package data_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
)

// A volume is read from SEG-Y, saved as .npy and as SEG-Y with its headers, and read from
// both again.
func TestVolumeFile(t *testing.T) {
	dir, segy := t.TempDir(), writeVolume(t, data.FormatIEEE, 12, nil)
	f, err := data.OpenVolumeFile(segy, data.Inline, data.Crossline)
	if err != nil || !slices.Equal(f.Shape, []int{3, 4, 5}) || f.Interval != 0.002 {
		t.Fatalf("%+v: %v", f, err)
	}
	err = testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Split(1), f.Shape...)
		if err != nil {
			return err
		}
		a, err := data.LoadVolumeFile[float64](ctx, f, s)
		if err != nil {
			return err
		}
		for _, name := range []string{"a.npy", "A.SGY"} {
			path := filepath.Join(dir, name)
			if err := data.SaveVolumeFile(ctx, path, f, a); err != nil {
				return err
			}
			g, err := data.OpenVolumeFile(path, data.Inline, data.Crossline)
			if err != nil || !slices.Equal(g.Shape, f.Shape) {
				return fmt.Errorf("%s: shape %v: %v", name, g.Shape, err)
			}
			b, err := data.LoadVolumeFile[float64](ctx, g, s)
			if err != nil {
				return err
			}
			all, err := dist.AllGather(ctx, b)
			if err != nil {
				return err
			}
			for n, v := range all {
				if want := float64(volumeSample(n/20, 3-n/5%4, n%5)); v != want {
					return fmt.Errorf("%s: element %d is %g, want %g", name, n, v, want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	again, err := data.OpenVolume(filepath.Join(dir, "A.SGY"), data.Inline, data.Crossline)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if x, err := again.Header(3, data.CDPX); x != 3000 || err != nil {
		t.Errorf("the header is %d, want that of the first file: %v", x, err)
	}
}

func TestWrongVolumeFile(t *testing.T) {
	dir := t.TempDir()
	nan := filepath.Join(dir, "nan.npy")
	v := make([]float64, 3*4*5)
	v[1*20+2*5+3] = math.NaN()
	if err := data.WriteNPY(nan, []int{3, 4, 5}, v); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "none.npy"), filepath.Join(dir, "none.segy"), writeVolume(t, data.FormatIEEE, 11, nil)} {
		if f, err := data.OpenVolumeFile(path, data.Inline, data.Crossline); err == nil {
			t.Errorf("%s is %+v", path, f)
		}
	}
	for _, c := range []struct {
		f    data.VolumeFile
		want string
	}{
		{data.VolumeFile{Path: nan}, "the sample at [1 2 3] is NaN: replace what is no number"},
		{data.VolumeFile{Path: filepath.Join(dir, "none.npy")}, "none.npy"},
		{data.VolumeFile{Path: filepath.Join(dir, "none.segy"), Words: []data.Word{data.Inline, data.Crossline}}, "none.segy"},
	} {
		err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
			s, err := dist.NewSpace(ctx, r, dist.Split(0), 3, 4, 5)
			if err != nil {
				return err
			}
			_, err = data.LoadVolumeFile[float32](ctx, c.f, s)
			if err == nil {
				return fmt.Errorf("rank %d has read it", r.Rank())
			}
			return err
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
