package data_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
)

// sample is what testdata/make_segy.py wrote, times 8 for the integers.
func sample(i, k int) float32 { return float32((i+1)*(k-12)) / 8 }

// TestReadWhatSegyioWrote reads each format.
func TestReadWhatSegyioWrote(t *testing.T) {
	for name, c := range map[string]struct {
		format data.SampleFormat
		times  float32
	}{
		"ibm": {data.FormatIBM, 1}, "ieee": {data.FormatIEEE, 1}, "int32": {data.FormatInt32, 8}, "int16": {data.FormatInt16, 8}, "int8": {data.FormatInt8, 8},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := data.OpenSEGY("testdata/" + name + ".segy")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if s.NumTraces() != 6 || s.NumSamples() != 25 || s.Interval() != 4000 || s.Format() != c.format {
				t.Errorf("%d traces of %d samples at %d, format %d", s.NumTraces(), s.NumSamples(), s.Interval(), s.Format())
			}
			all, one := make([]float32, 6*25), make([]float32, 25)
			if err := s.Traces(0, 6, all); err != nil {
				t.Fatal(err)
			}
			for i := range 6 {
				if err := s.Trace(i, one); err != nil || !slices.Equal(one, all[i*25:][:25]) {
					t.Errorf("trace %d: %v %v", i, one, err)
				}
				for k, v := range one {
					if want := c.times * sample(i, k); v != want {
						t.Fatalf("sample %d of trace %d is %v, want %v", k, i, v, want)
					}
				}
			}
			lines := strings.Split(s.Text(), "\n")
			if len(lines) != 40 || !strings.HasPrefix(lines[0], "C 1") || !strings.Contains(lines[0], "MADE BY SEGYIO") || !strings.Contains(lines[1], "SHOT LINE 7") {
				t.Errorf("text is\n%s", s.Text())
			}
			checkHeaders(t, s)
		})
	}
}

func checkHeaders(t *testing.T, s *data.SEGY) {
	t.Helper()
	for i := range s.NumTraces() {
		var v [5]int
		err := s.Headers(i, v[:], data.FieldRecord, data.SourceX, data.CoordinateScalar, data.DelayTime, data.TraceSamples)
		if want := [5]int{100 + i/3, 12345 * (i + 1), -100, -8, 25}; err != nil || v != want {
			t.Errorf("trace %d: words %v %v, want %v", i, v, err, want)
		}
		x, y, err := s.Coordinates(i, data.SourceX, data.SourceY)
		if err != nil || x != 123.45*float64(i+1) || y != -0.5*float64(i) {
			t.Errorf("trace %d: source at %v %v %v", i, x, y, err)
		}
		if z, err := s.Scaled(i, data.SourceDepth, data.ElevationScalar); err != nil || z != 60 {
			t.Errorf("trace %d: depth %v %v", i, z, err)
		}
		if v, err := s.Scaled(i, data.SourceDepth, data.Word{Name: "Zero", Byte: 233, Size: 4}); err != nil || v != 6 {
			t.Errorf("trace %d: depth with scalar 0 is %v %v", i, v, err)
		}
	}
	if v, err := s.Binary(data.Word{Name: "MeasurementSystem", Byte: 3255, Size: 2}); err != nil || v != 1 {
		t.Errorf("measurement system %d %v", v, err)
	}
}

func TestExtendedText(t *testing.T) {
	s, err := data.OpenSEGY("testdata/ieee.segy")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	texts, err := s.ExtendedText()
	if err != nil || len(texts) != 2 || !strings.Contains(texts[0], "EXTENDED 1") || !strings.Contains(texts[1], "EXTENDED 2") {
		t.Errorf("%q %v", texts, err)
	}
	// The same file that does not say how many texts there are.
	b := readFile(t, "ieee.segy")
	binary.BigEndian.PutUint16(b[3504:], 0xffff)
	if _, err := data.NewSEGY(bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("without an end: %v", err)
	}
	copy(b[3600+3200:], "((SEG: EndText))"+strings.Repeat(" ", 3184))
	s, err = data.NewSEGY(bytes.NewReader(b), int64(len(b)))
	if err != nil || s.NumTraces() != 6 {
		t.Errorf("with an end: %v", err)
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestASCIIText(t *testing.T) {
	b := readFile(t, "ibm.segy")
	copy(b, "C 1 plain text, 100% of it: ÿ\x00\x01"+strings.Repeat(" ", 3200-32))
	s, err := data.NewSEGY(bytes.NewReader(b), int64(len(b)))
	if err != nil || s.Text() != "C 1 plain text, 100% of it: Ã¿" {
		t.Errorf("%q %v", s.Text(), err)
	}
	clear(b[:3200])
	if s, err = data.NewSEGY(bytes.NewReader(b), int64(len(b))); err != nil || s.Text() != "" {
		t.Errorf("%q %v", s.Text(), err)
	}
}

// TestLengthFromTrace reads a file whose binary header says nothing of samples.
func TestLengthFromTrace(t *testing.T) {
	b := readFile(t, "ibm.segy")
	clear(b[3216:3224])
	s, err := data.NewSEGY(bytes.NewReader(b), int64(len(b)))
	if err != nil || s.NumSamples() != 25 || s.Interval() != 4000 || s.NumTraces() != 6 {
		t.Errorf("%+v %v", s, err)
	}
}

func TestBadSEGY(t *testing.T) {
	const first, each = 3600, 240 + 25*4
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		want   string
	}{
		"empty":          {func([]byte) []byte { return nil }, "0 bytes"},
		"text only":      {func(b []byte) []byte { return b[:3599] }, "3599 bytes"},
		"half a sample":  {func(b []byte) []byte { return b[:len(b)-2] }, "not a whole number of traces of 340 bytes"},
		"half a header":  {func(b []byte) []byte { clear(b[3220:3222]); return b[:first+100] }, "header of the first trace"},
		"other length":   {func(b []byte) []byte { b[3221] = 24; return b }, "vary in length"},
		"unknown format": {func(b []byte) []byte { b[3225] = 4; return b }, "format code 4"},
		"little-endian":  {func(b []byte) []byte { b[3224], b[3225] = 1, 0; return b }, "little-endian"},
		"no length":      {func(b []byte) []byte { clear(b[3220:3222]); clear(b[first+114:][:2]); return b }, "how many samples"},
		"many texts":     {func(b []byte) []byte { b[3504] = 0x7f; return b }, "truncated: it ends in extended textual header 1"},
		"negative texts": {func(b []byte) []byte { b[3504] = 0x80; return b }, "claims -32768"},
		"extra headers":  {func(b []byte) []byte { b[3500], b[3509] = 2, 1; return b }, "revision 2"},
		"wide lengths":   {func(b []byte) []byte { b[3500], b[3269] = 2, 1; return b }, "samples per trace (bytes 3269 to 3272) are 65536"},
		"odd interval": {func(b []byte) []byte {
			b[3500] = 2
			binary.BigEndian.PutUint64(b[3272:], math.Float64bits(0.5))
			return b
		}, "interval (bytes 3273 to 3280) is 0.5"},
		"start elsewhere": {func(b []byte) []byte { b[3500], b[3527] = 2, 9; return b }, "start of the first trace"},
	} {
		b := c.change(readFile(t, "ibm.segy"))
		if _, err := data.NewSEGY(bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	// A file of revision 2 that uses nothing of it is fine.
	b := readFile(t, "ibm.segy")
	b[3500], b[3271] = 2, 25
	if _, err := data.NewSEGY(bytes.NewReader(b), int64(len(b))); err != nil {
		t.Error(err)
	}
	// A trace that is longer than the others is found when it is read.
	binary.BigEndian.PutUint16(b[first+2*each+114:], 50)
	s, err := data.NewSEGY(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	_, headErr := s.Header(2, data.SourceX)
	for _, err := range []error{headErr, s.Trace(2, make([]float32, 25)), s.Traces(0, 6, make([]float32, 150))} {
		if err == nil || !strings.Contains(err.Error(), "it has 50 samples, the file 25") || !strings.Contains(err.Error(), "trace 2") {
			t.Errorf("got %v", err)
		}
	}
	if err := s.Traces(0, 2, make([]float32, 50)); err != nil {
		t.Error(err)
	}
}

func TestSEGYWrongCalls(t *testing.T) {
	if _, err := data.OpenSEGY("testdata/none.segy"); err == nil || !strings.Contains(err.Error(), "data: open testdata/none.segy: stat: no such file") {
		t.Error(err)
	}
	s, err := data.OpenSEGY("testdata/ibm.segy")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	one := make([]float32, 25)
	head := func(i int, w data.Word) error { _, err := s.Header(i, w); return err }
	_, binErr := s.Binary(data.SourceX)
	for want, err := range map[string]error{
		"data: trace 6: the file has 6 traces":      s.Trace(6, one),
		"data: trace -1: ":                          s.Trace(-1, one),
		"data: trace 9223372036854775807":           s.Trace(math.MaxInt, one),
		"data: traces 3 to 1: ":                     s.Traces(3, 2, nil),
		"room for 24 samples":                       s.Trace(0, one[:24]),
		"data: header of trace 6: ":                 head(6, data.SourceX),
		"outside the header, which has bytes 1 to":  head(0, data.Word{Name: "Far", Byte: 238, Size: 4}),
		"has 3 bytes, must be 1, 2 or 4":            head(0, data.Word{Byte: 1, Size: 3}),
		"bytes 3201 to 3600":                        binErr,
		"room for 1 values of 2 words":              s.Headers(0, make([]int, 1), data.SourceX, data.SourceY),
		"SourceX (bytes 73 to 76) is outside the h": binErr,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
