package lsm

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/golops/golops/ops/wave"
)

const maxGeometry = 64 << 20 // bytes of a geometry, more than a million points

// points returns those of a line.
func (l Line) points() []wave.Point {
	p := make([]wave.Point, l.Number)
	for i := range p {
		x := l.First
		if l.Number > 1 {
			x += (l.Last - l.First) * float64(i) / float64(l.Number-1)
		}
		p[i] = wave.Point{X: x, Z: l.Depth}
	}
	return p
}

// readGeometry reads lines of "source,x,y,z" and "receiver,x,y,z". A first line
// of names and lines that begin with # are passed over.
func readGeometry(path string) (sources, receivers []wave.Point, err error) {
	text, err := readText(path, maxGeometry)
	if err != nil {
		return nil, nil, err
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment, r.TrimLeadingSpace = '#', true
	r.FieldsPerRecord = 4
	for first := true; ; first = false {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		kind := strings.ToLower(strings.TrimSpace(rec[0]))
		var v [3]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(strings.TrimSpace(rec[i+1]), 64); err != nil || math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
				break
			}
		}
		p := wave.Point{X: v[0], Y: v[1], Z: v[2]}
		switch {
		case err != nil && first && kind != "source" && kind != "receiver":
			continue // names of the columns
		case err != nil:
			return nil, nil, fmt.Errorf("%s: line %d: %q: coordinates must be numbers", path, line, rec)
		case kind == "source":
			sources = append(sources, p)
		case kind == "receiver":
			receivers = append(receivers, p)
		default:
			return nil, nil, fmt.Errorf("%s: line %d: %q is neither source nor receiver", path, line, rec[0])
		}
	}
	if len(sources) == 0 || len(receivers) == 0 {
		return nil, nil, fmt.Errorf("%s: has %d sources and %d receivers: needs at least one of each", path, len(sources), len(receivers))
	}
	return sources, receivers, nil
}

// inside says which point is not on the grid.
func inside(g wave.Grid, kind string, points []wave.Point) error {
	for i, p := range points {
		if !g.Contains(p) {
			return fmt.Errorf("%s %d at %v lies outside the model, which goes to x = %g, z = %g", kind, i+1, p, g.X.At(g.X.N-1), g.Z.At(g.Z.N-1))
		}
	}
	return nil
}
