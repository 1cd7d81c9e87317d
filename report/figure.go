package report

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"image/png"
	"io"
	"math"
	"regexp"
	"strconv"
)

// Figure is a picture on a page.
type Figure struct {
	Title   string
	Caption string // describes the picture; may be empty
	Alt     string // for those who cannot see it; empty means the title and the caption
	Image   []byte // a PNG or SVG file
}

// NewFigure draws a picture by way of draw, such as the method PNG of a
// picture.
func NewFigure(title, caption string, draw func(io.Writer) error) (Figure, error) {
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return Figure{}, fmt.Errorf("report: figure %q: %w", title, err)
	}
	return Figure{Title: title, Caption: caption, Image: b.Bytes()}, nil
}

// figureView is what the template shows of a figure.
type figureView struct {
	Figure
	ID            int
	Source        template.HTMLAttr
	Width, Height int     // in CSS pixels, of which there are 96 to the inch
	Pixels        int     // wide when enlarged
	Ratio         float64 // of width to height
	Wide          bool    // takes the whole width of the page
}

// view embeds the picture. Its size is written into the page, so that nothing
// moves while it loads or is enlarged.
func (f Figure) view(id int) (v figureView, err error) {
	v = figureView{Figure: f, ID: id}
	if v.Alt == "" {
		v.Alt = f.Title
		if f.Caption != "" {
			v.Alt += ": " + f.Caption
		}
	}
	kind := "image/png"
	var w, h float64 // pixels of our resolution
	if bytes.HasPrefix(f.Image, []byte("\x89PNG\r\n\x1a\n")) {
		c, err := png.DecodeConfig(bytes.NewReader(f.Image))
		if err != nil {
			return v, err
		}
		w, h = float64(c.Width), float64(c.Height)
	} else {
		kind = "image/svg+xml"
		if w, h, err = svgSize(f.Image); err != nil {
			return v, err
		}
	}
	v.Width, v.Height = int(math.Ceil(w*96/dpi)), int(math.Ceil(h*96/dpi))
	v.Pixels = int(w)
	v.Ratio = math.Round(w/h*1e4) / 1e4
	v.Wide = w > 1.75*h
	// The type says that this attribute is safe, which it is: an image runs no
	// scripts, and base64 has no characters that end an attribute. An address
	// that the template escapes would have five bytes for each plus.
	v.Source = template.HTMLAttr(`src="data:` + kind + `;base64,` + base64.StdEncoding.EncodeToString(f.Image) + `"`)
	return v, nil
}

var viewBox = regexp.MustCompile(`<svg[^>]*\sviewBox="0 0 ([0-9.]+) ([0-9.]+)"`)

// svgSize returns the size of a drawing in pixels, given that it counts in
// points as ours do.
func svgSize(b []byte) (w, h float64, err error) {
	m := viewBox.FindSubmatch(b[:min(len(b), 2000)])
	if m == nil {
		return 0, 0, errors.New("the image is neither a PNG file nor an SVG file with a viewBox from 0 0")
	}
	w, err1 := strconv.ParseFloat(string(m[1]), 64)
	h, err2 := strconv.ParseFloat(string(m[2]), 64)
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, err
	}
	if w <= 0 || h <= 0 {
		return 0, 0, fmt.Errorf("the image is %g wide and %g high", w, h)
	}
	return pixels(w), pixels(h), nil
}
