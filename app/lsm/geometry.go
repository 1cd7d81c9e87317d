package lsm

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/golops/golops/app"
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

// Names of the columns and of what is in column kind, the first of each being
// that of the documents.
var (
	columnNames   = [4][]string{{"kind", "type"}, {"x"}, {"y"}, {"z", "depth"}}
	sourceNames   = []string{"source", "src", "shot", "s"}
	receiverNames = []string{"receiver", "rec", "rcv", "geophone", "r"}
)

// readGeometry reads a table of sources and receivers. Columns are kind, x, y and
// z unless the first line names them, in any order, y if it is there. Lines that
// begin with # are passed over.
func readGeometry(path string) (sources, receivers []wave.Point, err error) {
	text, err := app.ReadText(path, maxGeometry)
	if err != nil {
		return nil, nil, err
	}
	sources, receivers, err = parseGeometry(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s:%w", app.Shown(path), err)
	}
	if len(sources) == 0 || len(receivers) == 0 {
		return nil, nil, fmt.Errorf("%s: has %d sources and %d receivers: needs at least one of each", app.Shown(path), len(sources), len(receivers))
	}
	return sources, receivers, nil
}

func parseGeometry(text []byte) (sources, receivers []wave.Point, err error) {
	if bytes.HasPrefix(text, []byte("\x93NUMPY")) {
		return nil, nil, errors.New(" this is a .npy file: a geometry is text, lines of kind,x,y,z")
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.Comment, r.TrimLeadingSpace, r.FieldsPerRecord, r.ReuseRecord = '#', true, -1, true
	columns := [4]int{0, 1, 2, 3} // where kind, x, y and z are; -1 for none
	width := 4
	for first := true; ; first = false {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return sources, receivers, nil
		}
		if p, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, nil, fmt.Errorf("%d:%d: %w", p.Line, p.Column, p.Err)
		}
		if err != nil {
			return nil, nil, fmt.Errorf(" %w", err)
		}
		line, _ := r.FieldPos(0)
		if first && names(rec) {
			if columns, err = header(rec); err != nil {
				return nil, nil, fmt.Errorf("%d: %w", line, err)
			}
			width = len(rec)
			continue
		}
		if len(rec) != width {
			return nil, nil, fmt.Errorf("%d: has %d columns, needs %d: kind,x,y,z, or those of a first line that names them", line, len(rec), width)
		}
		kind, p, err := station(rec, columns)
		if err != nil {
			return nil, nil, fmt.Errorf("%d: %w", line, err)
		}
		if slices.Contains(sourceNames, kind) {
			sources = append(sources, p)
		} else {
			receivers = append(receivers, p)
		}
	}
}

// names reports whether a first line holds no numbers but names of columns.
func names(rec []string) bool {
	for _, f := range rec {
		f = strings.ToLower(strings.TrimSpace(f))
		if _, err := strconv.ParseFloat(f, 64); err == nil || slices.Contains(sourceNames[:3], f) || slices.Contains(receiverNames[:4], f) {
			return false
		}
	}
	return true
}

// header returns where the columns are.
func header(rec []string) ([4]int, error) {
	at := [4]int{-1, -1, -1, -1}
	for i, f := range rec {
		f = strings.ToLower(strings.TrimSpace(f))
		c := slices.IndexFunc(columnNames[:], func(names []string) bool { return slices.Contains(names, f) })
		if c < 0 {
			return at, fmt.Errorf("column %s is unknown: have kind, x, y and z", app.Quoted(f))
		}
		if at[c] >= 0 {
			return at, fmt.Errorf("column %s is there twice", columnNames[c][0])
		}
		at[c] = i
	}
	if at[0] < 0 || at[1] < 0 || at[3] < 0 {
		return at, errors.New("columns kind, x and z are needed, and y in three dimensions")
	}
	return at, nil
}

// station reads one line.
func station(rec []string, columns [4]int) (kind string, p wave.Point, err error) {
	kind = strings.ToLower(strings.TrimSpace(rec[columns[0]]))
	if !slices.Contains(sourceNames, kind) && !slices.Contains(receiverNames, kind) {
		return "", p, fmt.Errorf("%s is neither source nor receiver", app.Quoted(rec[columns[0]]))
	}
	for i, to := range []*float64{&p.X, &p.Y, &p.Z} {
		c := columns[i+1]
		if c < 0 {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(rec[c]), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return "", p, fmt.Errorf("%s is %s: coordinates must be numbers", columnNames[i+1][0], app.Quoted(rec[c]))
		}
		*to = v
	}
	return kind, p, nil
}
