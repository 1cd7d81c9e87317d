package report

import (
	"image/color"
	"math"
	"testing"
)

func TestRaster(t *testing.T) {
	nan := math.NaN()
	gray := Gray.table()
	for _, c := range []struct {
		name       string
		v          []float64
		rows, cols int
		w, h       int
		smooth     bool
		want       []color.RGBA // of the first line
	}{
		{"cells", []float64{0, 1}, 1, 2, 4, 1, false, []color.RGBA{gray[0], gray[0], gray[255], gray[255]}},
		{"smooth", []float64{0, 1}, 1, 2, 4, 1, true, []color.RGBA{gray[0], gray[64], gray[191], gray[255]}},
		{"average", []float64{0, 1, 1, 1}, 1, 4, 2, 1, false, []color.RGBA{gray[128], gray[255]}},
		{"average of rows", []float64{0, 1, 1, 0}, 2, 2, 2, 1, false, []color.RGBA{gray[128], gray[128]}},
		{"parts of samples", []float64{0, 0, 1}, 1, 3, 2, 1, false, []color.RGBA{gray[0], gray[170]}},
		{"NaN wins", []float64{nan, 1, 1, 1}, 1, 4, 2, 1, false, []color.RGBA{nanColor, gray[255]}},
		{"one", []float64{1}, 1, 1, 2, 2, true, []color.RGBA{gray[255], gray[255]}},
	} {
		t.Run(c.name, func(t *testing.T) {
			img := raster(c.v, c.rows, c.cols, c.w, c.h, c.smooth, Gray, span{0, 1})
			for x, want := range c.want {
				if got := img.RGBAAt(x, 0); got != want {
					t.Errorf("pixel %d is %v, want %v", x, got, want)
				}
			}
		})
	}
}

func TestWeightsAddUp(t *testing.T) {
	for _, smooth := range []bool{false, true} {
		for n := 1; n < 40; n++ {
			for pixels := 1; pixels < 40; pixels++ {
				for i, w := range weights(n, pixels, smooth) {
					s := sum(w.weights)
					if math.Abs(s-1) > 1e-9 || w.first < 0 || w.first+len(w.weights) > n {
						t.Fatalf("%d samples, %d pixels: pixel %d starts at %d with weights %v", n, pixels, i, w.first, w.weights)
					}
				}
			}
		}
	}
}
