package data_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
)

// Pages come back as they were written, on any number of ranks.
func TestTIFFRoundTrip(t *testing.T) {
	for ranks := 1; ranks <= 3; ranks++ {
		for _, dims := range [][]int{{5, 7}, {3, 4, 2}} {
			path := filepath.Join(t.TempDir(), "a.tif")
			err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
				s, err := dist.NewSpace(ctx, r, dist.Layout{}, dims...)
				if err != nil {
					return err
				}
				a, err := dist.FromFunc(ctx, s, func(i []int) float64 { return float64(i[0]) - 2.5*float64(i[1]*i[len(i)-1]) })
				if err != nil {
					return err
				}
				if err := data.SaveTIFF(ctx, path, a); err != nil {
					return err
				}
				b, err := data.LoadTIFF[float64](ctx, path, s)
				if err != nil {
					return err
				}
				dist.Sub(b, b, a)
				if d, err := dist.Norm(ctx, b, 2); err != nil || d != 0 {
					t.Errorf("ranks=%d/shape=%v: differs by %g, %v", ranks, dims, d, err)
				}
				return nil
			})
			if err != nil {
				t.Errorf("ranks=%d/shape=%v: %v", ranks, dims, err)
			}
		}
	}
}

// tiff is a file of one page in the given byte order.
func tiff(order binary.AppendByteOrder, tags [][2]int, pixels []byte) []byte {
	b := []byte("II")
	if order.String() == "BigEndian" {
		b = []byte("MM")
	}
	b = order.AppendUint32(order.AppendUint16(b, 42), 8)
	b = order.AppendUint16(b, uint16(len(tags)))
	for _, t := range tags {
		b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, uint16(t[0])), 4), 1)
		if t[0] == 273 && t[1] == 0 {
			t[1] = 8 + 2 + 12*len(tags) + 4
		}
		b = order.AppendUint32(b, uint32(t[1]))
	}
	return append(order.AppendUint32(b, 0), pixels...)
}

func page(bits, format int, more ...[2]int) [][2]int {
	return append([][2]int{{256, 2}, {257, 1}, {258, bits}, {273, 0}, {279, 2 * bits / 8}, {339, format}}, more...)
}

// All kinds of samples are read, in both byte orders.
func TestReadTIFF(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		want []float64
	}{
		"uint8":           {tiff(binary.LittleEndian, page(8, 1), []byte{1, 255}), []float64{1, 255}},
		"int8":            {tiff(binary.LittleEndian, page(8, 2), []byte{1, 255}), []float64{1, -1}},
		"uint16, big":     {tiff(binary.BigEndian, page(16, 1), []byte{1, 2, 255, 255}), []float64{258, 65535}},
		"int16":           {tiff(binary.LittleEndian, page(16, 2), []byte{1, 2, 255, 255}), []float64{513, -1}},
		"int32, big":      {tiff(binary.BigEndian, page(32, 2), []byte{0, 0, 0, 7, 255, 255, 255, 254}), []float64{7, -2}},
		"float32":         {tiff(binary.LittleEndian, page(32, 3), []byte{0, 0, 128, 63, 0, 0, 0, 64}), []float64{1, 2}},
		"float64, big":    {tiff(binary.BigEndian, page(64, 3), []byte{63, 240, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0}), []float64{1, 2}},
		"format not said": {tiff(binary.LittleEndian, page(8, 1)[:5], []byte{3, 4}), []float64{3, 4}},
	} {
		path := filepath.Join(t.TempDir(), "a.tif")
		if err := os.WriteFile(path, c.file, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, got, err := data.ReadTIFF[float64](path); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}

// What is not read is refused with the reason.
func TestBadTIFF(t *testing.T) {
	le := binary.LittleEndian
	good := tiff(le, page(8, 1), []byte{1, 2})
	for want, file := range map[string][]byte{
		"too short":         []byte("II"),
		"begins with":       []byte("\x89PNG\r\n\x1a\n"),
		"BigTIFF":           {'I', 'I', 43, 0, 8, 0, 0, 0},
		"no pages":          {'I', 'I', 42, 0, 0, 0, 0, 0},
		"beyond the end":    good[:30],
		"compressed":        tiff(le, page(8, 1, [2]int{259, 5}), []byte{1, 2}),
		"numbers per pixel": tiff(le, page(8, 1, [2]int{277, 3}), []byte{1, 2}),
		"tiles":             tiff(le, page(8, 1, [2]int{322, 16}), []byte{1, 2}),
		"bits of format":    tiff(le, page(16, 3), []byte{1, 2, 3, 4}),
		"of a file of":      tiff(le, page(8, 1), []byte{1}),
		"have no end":       loop(),
		"lack 1 bytes":      tiff(le, [][2]int{{256, 1}, {257, 2}, {258, 8}, {273, 0}, {279, 1}, {278, 1}}, []byte{1, 2}),
	} {
		path := filepath.Join(t.TempDir(), "a.tif")
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := data.InfoTIFF(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// loop is a file whose directory is its own next one.
func loop() []byte {
	b := tiff(binary.LittleEndian, page(8, 1), []byte{1, 2})
	binary.LittleEndian.PutUint32(b[8+2+12*6:], 8)
	return b
}

// FuzzReadTIFF wants an error or as many pixels as the file says.
func FuzzReadTIFF(f *testing.F) {
	f.Add(tiff(binary.LittleEndian, page(8, 1), []byte{1, 2}))
	f.Add(tiff(binary.BigEndian, page(32, 3), make([]byte, 8)))
	f.Add(loop())
	f.Add(bytes.Repeat([]byte{0}, 40))
	path := filepath.Join(f.TempDir(), "a.tif")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		h, v, err := data.ReadTIFF[float64](path)
		if err == nil && len(v) != h.Pages*h.Rows*h.Cols {
			t.Errorf("%d pixels of %+v", len(v), h)
		}
	})
}
