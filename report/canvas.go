package report

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"io"

	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// dpi is the resolution of all pictures. Positions and lengths are in pixels
// of this size, so that edges fall between pixels and stay sharp.
const dpi = 150

var (
	ink  = color.NRGBA{0x1C, 0x20, 0x26, 0xFF} // titles and labels
	soft = color.NRGBA{0x4A, 0x52, 0x5C, 0xFF} // numbers, ticks and frames
	hair = color.NRGBA{0xDF, 0xE3, 0xE8, 0xFF} // lines of a grid
)

// canvas is drawn on in pixels from the top left corner.
type canvas struct {
	vg     vgdraw.Canvas
	height float64
	raster *vgimg.Canvas // nil if this is SVG
	vector *vgsvg.Canvas
}

func newRaster(width, height int) *canvas {
	c := vgimg.NewWith(vgimg.UseWH(length(float64(width)), length(float64(height))), vgimg.UseDPI(dpi))
	return &canvas{vg: vgdraw.New(c), height: float64(height), raster: c}
}

func newVector(width, height int) *canvas {
	c := vgsvg.New(length(float64(width)), length(float64(height)))
	cv := &canvas{vg: vgdraw.New(c), height: float64(height), vector: c}
	cv.fill(0, 0, float64(width), float64(height), color.White)
	return cv
}

// length converts pixels to points, the unit of vg.
func length(px float64) vg.Length { return vg.Length(px * 72 / dpi) }

// pixels is the reverse, of a number of points.
func pixels(points float64) float64 { return points * dpi / 72 }

func (c *canvas) point(x, y float64) vg.Point {
	return vg.Point{X: length(x), Y: length(c.height - y)}
}

// write writes a PNG or SVG file.
func (c *canvas) write(w io.Writer) error {
	if c.raster != nil {
		return writePNG(w, c.raster.Image())
	}
	var b bytes.Buffer
	if _, err := c.vector.WriteTo(&b); err != nil {
		return err
	}
	// Names fonts of the same widths for machines without Liberation Sans.
	// Embedding the font would make the picture half a megabyte.
	const family = "font-family:Liberation Sans"
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte(family+";"), []byte(family+",Arial,Helvetica,sans-serif;")))
	return err
}

// paste copies an image to whole pixels.
func (c *canvas) paste(x, y int, img *image.RGBA) {
	r := img.Bounds().Sub(img.Bounds().Min).Add(image.Pt(x, y))
	draw.Draw(c.raster.Image(), r, img, img.Bounds().Min, draw.Src)
}

// line draws through points. A line of even width along whole numbers is
// sharp.
func (c *canvas) line(width float64, col color.Color, xy ...float64) {
	c.vg.SetLineWidth(length(width))
	c.vg.SetLineDash(nil, 0)
	c.vg.SetColor(col)
	c.vg.Stroke(c.path(xy))
}

// dashes draws a thin dashed line through points.
func (c *canvas) dashes(col color.Color, xy []float64) {
	c.vg.SetLineWidth(length(2))
	c.vg.SetLineDash([]vg.Length{length(7), length(5)}, 0)
	c.vg.SetColor(col)
	c.vg.Stroke(c.path(xy))
	c.vg.SetLineDash(nil, 0)
}

func (c *canvas) fill(x0, y0, x1, y1 float64, col color.Color) {
	c.polygon(col, x0, y0, x1, y0, x1, y1, x0, y1)
}

// polygon fills the polygon with these corners.
func (c *canvas) polygon(col color.Color, xy ...float64) {
	c.vg.SetColor(col)
	p := c.path(xy)
	p.Close()
	c.vg.Fill(p)
}

func (c *canvas) path(xy []float64) (p vg.Path) {
	for i := 0; i+1 < len(xy); i += 2 {
		if i == 0 {
			p.Move(c.point(xy[i], xy[i+1]))
		} else {
			p.Line(c.point(xy[i], xy[i+1]))
		}
	}
	return p
}
