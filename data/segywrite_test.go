package data_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
)

func TestWriteSEGY(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2))
	const traces, samples = 5, 33
	d := make([]float32, traces*samples)
	for i := range d {
		d[i] = float32(r.NormFloat64())
	}
	mine := data.Word{Name: "Mine", Byte: 233, Size: 2}
	system := data.Word{Name: "MeasurementSystem", Byte: 3255, Size: 2}
	headers := func(i int) map[data.Word]int {
		return map[data.Word]int{data.FieldRecord: 7, data.SourceX: -1000 * i, data.CoordinateScalar: -10, mine: -5, data.TraceInterval: 60000}
	}
	for _, f := range []data.SampleFormat{0, data.FormatIBM, data.FormatIEEE} {
		t.Run(fmt.Sprintf("format=%d", f), func(t *testing.T) {
			c := data.SEGYConfig{
				NumTraces: traces, NumSamples: samples, Interval: 50000, Format: f,
				Text: "C 1 first line\nC 2 ünlaut & more\n", ExtendedText: []string{"more", "even more"}, Binary: map[data.Word]int{system: 2},
			}
			dir := t.TempDir()
			var files [2][]byte
			for k := range files {
				path := filepath.Join(dir, fmt.Sprint(k))
				if err := data.WriteSEGY(path, c, func(i int, dst []float32) error { copy(dst, d[i*samples:]); return nil }, headers); err != nil {
					t.Fatal(err)
				}
				files[k], _ = os.ReadFile(path)
			}
			if !bytes.Equal(files[0], files[1]) {
				t.Error("two files of the same traces differ")
			}
			s, err := data.OpenSEGY(filepath.Join(dir, "0"))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if s.NumTraces() != traces || s.NumSamples() != samples || s.Interval() != 50000 || s.Text() != strings.TrimSpace(c.Text) {
				t.Errorf("%d traces of %d samples at %d, text %q", s.NumTraces(), s.NumSamples(), s.Interval(), s.Text())
			}
			if texts, err := s.ExtendedText(); err != nil || !slices.Equal(texts, c.ExtendedText) {
				t.Errorf("%q %v", texts, err)
			}
			if v, err := s.Binary(system); err != nil || v != 2 {
				t.Errorf("measurement system %d %v", v, err)
			}
			got := make([]float32, len(d))
			if err := s.Traces(0, traces, got); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if v != d[i] && (f != data.FormatIBM || math.Abs(float64(v-d[i])) > 0x1p-21*math.Abs(float64(d[i]))) {
					t.Fatalf("seed %d: sample %d is %v, want %v", seed, i, v, d[i])
				}
			}
			var v [5]int
			if err := s.Headers(3, v[:], data.TraceSequenceFile, data.SourceX, mine, data.TraceInterval, data.TraceIdentification); err != nil || v != [5]int{4, -3000, -5, 60000, 1} {
				t.Errorf("words %v %v", v, err)
			}
		})
	}
}

func TestWriteSEGYDefaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.segy")
	for n, samples := range map[int]int{0: 1, 2: 65535} {
		c := data.SEGYConfig{NumTraces: n, NumSamples: samples, Interval: 1}
		if err := data.WriteSEGY(path, c, func(_ int, dst []float32) error { dst[0] = float32(math.NaN()); return nil }, nil); err != nil {
			t.Fatal(err)
		}
		s, err := data.OpenSEGY(path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		lines := strings.Split(s.Text(), "\n")
		if len(lines) != 40 || lines[38] != "C39 SEG Y REV1" || lines[39] != "C40 END TEXTUAL HEADER" || s.NumTraces() != n || s.NumSamples() != samples {
			t.Errorf("%d traces of %d samples, text\n%s", s.NumTraces(), s.NumSamples(), s.Text())
		}
		dst := make([]float32, n*samples)
		if err := s.Traces(0, n, dst); err != nil || n > 0 && dst[0] == dst[0] {
			t.Errorf("%.1v %v", dst, err) // NaN is data
		}
	}
}

func TestWriteSEGYWrong(t *testing.T) {
	dir := t.TempDir()
	zero := func(int, []float32) error { return nil }
	good := data.SEGYConfig{NumTraces: 3, NumSamples: 4, Interval: 5}
	for _, c := range []struct {
		change func(c *data.SEGYConfig)
		words  map[data.Word]int
		want   []string
	}{
		{func(c *data.SEGYConfig) { *c = data.SEGYConfig{NumTraces: -1, Format: 3, Text: "☃"} }, nil, []string{"NumTraces is -1", "NumSamples is 0", "Interval is 0", "Format is 3", `Text: line 1 of the text has '☃'`}},
		{func(c *data.SEGYConfig) { c.NumSamples, c.Interval = 65536, 65536 }, nil, []string{"NumSamples is 65536", "Interval is 65536"}},
		{func(c *data.SEGYConfig) { c.Text = strings.Repeat("a\n", 41) }, nil, []string{"41 lines, at most 40"}},
		{func(c *data.SEGYConfig) { c.ExtendedText = []string{"", strings.Repeat("a", 81)} }, nil, []string{"ExtendedText 1: line 1", "longer than 80"}},
		{func(c *data.SEGYConfig) { c.Binary = map[data.Word]int{{Byte: 3221, Size: 2}: 5} }, nil, []string{"Samples (bytes 3221 to 3222)", "is 4, not 5"}},
		{func(c *data.SEGYConfig) { c.Binary = map[data.Word]int{data.SourceX: 5} }, nil, []string{"Binary: header word SourceX", "bytes 3201 to 3600"}},
		{nil, map[data.Word]int{data.SourceX: 1 << 31}, []string{"trace 0", "SourceX (bytes 73 to 76) cannot hold 2147483648"}},
		{nil, map[data.Word]int{data.ElevationScalar: -40000}, []string{"from -32768 to 32767"}},
		{nil, map[data.Word]int{{Byte: 1, Size: 1}: 128}, []string{"word (bytes 1 to 1) cannot hold 128"}},
		{nil, map[data.Word]int{data.TraceSamples: 5}, []string{"TraceSamples (bytes 115 to 116) 5, must be 4"}},
		{nil, map[data.Word]int{data.SourceX: 1, {Name: "Odd", Byte: 75, Size: 4}: 1}, []string{"SourceX (bytes 73 to 76) and Odd (bytes 75 to 78) overlap"}},
		{nil, map[data.Word]int{{Name: "Far", Byte: 240, Size: 2}: 1}, []string{"outside the header"}},
	} {
		cfg := good
		if c.change != nil {
			c.change(&cfg)
		}
		err := data.WriteSEGY(filepath.Join(dir, "a.segy"), cfg, zero, func(int) map[data.Word]int { return c.words })
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	cfg := good
	cfg.Format = data.FormatIBM
	for _, v := range []float64{math.NaN(), math.Inf(-1)} {
		err := data.WriteSEGY(filepath.Join(dir, "a.segy"), cfg, func(i int, dst []float32) error { dst[i] = float32(v); return nil }, nil)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("trace 0: sample 0 is %v, which IBM floats lack", v)) {
			t.Errorf("got %v", err)
		}
	}
	wantFiles(t, dir)
}

func TestWords(t *testing.T) {
	next := 1
	names := map[string]bool{}
	for _, w := range data.Words() {
		if w.Byte != next || names[w.Name] {
			t.Errorf("%v follows byte %d", w, next-1)
		}
		next, names[w.Name] = w.Byte+w.Size, true
		for _, s := range []string{w.Name, strings.ToLower(w.Name), fmt.Sprintf("%d:%d", w.Byte, w.Size), fmt.Sprint(w.Byte)} {
			if got, err := data.ParseWord(s); err != nil || got != w {
				t.Errorf("%s is %v %v", s, got, err)
			}
		}
	}
	if next != 233 {
		t.Errorf("words end before byte %d", next)
	}
	if w, err := data.ParseWord("233:4"); err != nil || w != (data.Word{Byte: 233, Size: 4}) {
		t.Errorf("%v %v", w, err)
	}
	for _, s := range []string{"", "SourceZ", "74", "-73", "73:3", "238:4", "0:4", "a:4", "9:b"} {
		if w, err := data.ParseWord(s); err == nil || !strings.Contains(err.Error(), "such as SourceX, SourceY, GroupX,") {
			t.Errorf("%q is %v %v", s, w, err)
		}
	}
}
