package report

import (
	"image"
	"math"
)

// raster draws rows×cols values into an image of w×h pixels. Cells that are
// larger than a pixel are drawn as they are, or with smooth blended into their
// neighbours; cells that are smaller are averaged, so that no sample decides
// alone. It works on values, not on colours, which would make up colours that
// the map does not have.
func raster(v []float64, rows, cols, w, h int, smooth bool, m ColorMap, r span) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	table := m.table()
	xs, ys := weights(cols, w, smooth), weights(rows, h, smooth)
	line := make([]float64, cols) // the rows that one line of pixels sees
	for y := range h {
		ys[y].blendRows(line, v, cols)
		pix := img.Pix[y*img.Stride:]
		for x := range w {
			c := nanColor
			if i := r.index(xs[x].blend(line)); i >= 0 {
				c = table[i]
			}
			pix[4*x], pix[4*x+1], pix[4*x+2], pix[4*x+3] = c.R, c.G, c.B, c.A
		}
	}
	return img
}

// window is which samples a pixel shows: from first on, each with a weight. The
// weights add up to 1.
type window struct {
	first   int
	weights []float64
}

// weights returns one window on n samples for each pixel.
func weights(n, pixels int, smooth bool) []window {
	all := make([]window, pixels)
	per := float64(n) / float64(pixels) // samples in a pixel
	for i := range all {
		switch {
		case per > 1: // average what the pixel covers
			lo, hi := float64(i)*per, float64(i+1)*per
			first, last := int(lo), min(int(math.Ceil(hi-1e-9)), n)-1
			w := make([]float64, last-first+1)
			for k := range w {
				s := float64(first + k)
				w[k] = (min(hi, s+1) - max(lo, s)) / per
			}
			all[i] = window{first, w}
		case smooth:
			at := min(max((float64(i)+0.5)*per-0.5, 0), float64(n-1))
			first := min(int(at), max(n-2, 0))
			if f := at - float64(first); f > 0 {
				all[i] = window{first, []float64{1 - f, f}}
			} else {
				all[i] = window{first, []float64{1}}
			}
		default:
			all[i] = window{min(int((float64(i)+0.5)*per), n-1), []float64{1}}
		}
	}
	return all
}

// blend returns the weighted mean. NaN wins: a hole must not be painted over.
func (w window) blend(v []float64) float64 {
	if len(w.weights) == 1 {
		return v[w.first]
	}
	sum := 0.0
	for k, f := range w.weights {
		sum += f * v[w.first+k]
	}
	return sum
}

// blendRows is blend for whole rows.
func (w window) blendRows(dst, v []float64, cols int) {
	row := func(k int) []float64 { return v[(w.first+k)*cols : (w.first+k+1)*cols] }
	if len(w.weights) == 1 {
		copy(dst, row(0))
		return
	}
	clear(dst)
	for k, f := range w.weights {
		for c, x := range row(k) {
			dst[c] += f * x
		}
	}
}
