package data_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/scalar"
)

// FuzzReadNPY wants an error or an array that survives being written. Each
// input is read as one of four element types, from a stream and, as it takes
// longer, half of them from a file too.
func FuzzReadNPY(f *testing.F) {
	add := func(b []byte) {
		for as := range uint8(8) {
			f.Add(b, as)
		}
	}
	for _, name := range goldenNames() {
		add(member(f, "types.npz", name))
	}
	for _, name := range []string{"version2", "version3", "scalar", "empty", "nan", "record", "text", "half"} {
		add(readFile(f, name+".npy"))
	}
	add(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (1000000, 1000000), }\n", 80))
	add(npy("{'descr': '|b1', 'fortran_order': True, 'shape': (0, -1, 2L), }", 0))
	path := filepath.Join(f.TempDir(), "a.npy")
	f.Fuzz(func(t *testing.T, b []byte, as uint8) {
		path := path
		if as&4 == 0 {
			path = ""
		}
		switch as % 4 {
		case 0:
			fuzzAs[float32](t, path, b)
		case 1:
			fuzzAs[float64](t, path, b)
		case 2:
			fuzzAs[complex64](t, path, b)
		case 3:
			fuzzAs[complex128](t, path, b)
		}
	})
}

func fuzzAs[T scalar.Scalar](t *testing.T, path string, b []byte) {
	dims, a, err := data.ReadNPYFrom[T](bytes.NewReader(b))
	if path != "" {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		_, infoErr := data.Info(path)
		fileDims, fromFile, fileErr := data.ReadNPY[T](path)
		if fileErr == nil && (err != nil || infoErr != nil || !slices.Equal(dims, fileDims) || !same(a, fromFile)) {
			t.Errorf("file has %v %v, stream %v %v %v, info %v", fileDims, fromFile, dims, a, err, infoErr)
		}
	}
	if err != nil {
		return
	}
	var out bytes.Buffer
	if err := data.WriteNPYTo(&out, dims, a); err != nil {
		t.Fatal(err)
	}
	dims2, a2, err := data.ReadNPYFrom[T](&out)
	if err != nil || !slices.Equal(dims, dims2) || !same(a, a2) {
		t.Errorf("%v %v became %v %v %v", dims, a, dims2, a2, err)
	}
}

// same compares elements; NaN is the same as NaN.
func same[T scalar.Scalar](a, b []T) bool {
	return slices.EqualFunc(a, b, func(x, y T) bool { return x == y || x != x && y != y })
}

// FuzzSEGY wants an error or traces that can all be read.
func FuzzSEGY(f *testing.F) {
	for _, name := range []string{"ibm", "ieee", "int32", "int16", "int8"} {
		f.Add(readFile(f, name+".segy"))
	}
	f.Add(readFile(f, "ibm.segy")[:3600])
	f.Add(make([]byte, 3600))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := data.NewSEGY(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		if n := s.NumTraces() * s.NumSamples(); n < 0 || n > len(b) {
			t.Fatalf("%d traces of %d samples in %d bytes", s.NumTraces(), s.NumSamples(), len(b))
		}
		if _, err := s.ExtendedText(); err != nil {
			t.Error(err)
		}
		if text := s.Text(); len(text) > 40*(2*80+1) {
			t.Errorf("text of %d bytes", len(text))
		}
		all := make([]float32, s.NumTraces()*s.NumSamples())
		allErr := s.Traces(0, s.NumTraces(), all)
		for i := range s.NumTraces() {
			one := make([]float32, s.NumSamples())
			if err := s.Trace(i, one); err == nil && allErr == nil && !same(one, all[i*len(one):][:len(one)]) {
				t.Errorf("trace %d alone differs", i)
			}
			for _, w := range data.Words() {
				_, headErr := s.Header(i, w)
				if headErr != nil && allErr == nil {
					t.Error(headErr)
				}
			}
		}
	})
}

// FuzzReadNPZ wants an error or arrays as long as their headers say, and as
// little memory as the file is short.
func FuzzReadNPZ(f *testing.F) {
	for _, name := range []string{"plain.npz", "compressed.npz"} {
		f.Add(readFile(f, name), "velocity")
	}
	for _, c := range [][]float64{nil, {1}, make([]float64, 3000)} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, method := range []uint16{zip.Store, zip.Deflate} {
			w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprint("a", method, ".npy"), Method: method})
			if err == nil {
				err = data.WriteNPYTo(w, []int{len(c)}, c)
			}
			if err != nil {
				f.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes(), "a8")
		f.Add(b.Bytes()[:b.Len()/2], "a0")
	}
	path := filepath.Join(f.TempDir(), "a.npz")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		list, _ := data.ListNPZ(path) // one damaged member is enough for an error
		names := []string{name}
		for _, m := range list {
			names = append(names, m.Name)
		}
		for _, name := range names[:min(len(names), 4)] { // an archive can name one array very often
			dims, v, err := data.ReadNPZ[complex64](path, name)
			n := 1
			for _, d := range dims {
				n *= d
			}
			if err == nil && (len(v) != n || len(v) > 1100*len(b)) {
				t.Errorf("%q has %d elements of shape %v in %d bytes", name, len(v), dims, len(b))
			}
		}
	})
}

// FuzzWord wants an error or a word inside the header that its own name finds
// again.
func FuzzWord(f *testing.F) {
	for _, w := range data.Words() {
		f.Add(w.Name)
	}
	for _, s := range []string{"73:4", "240:1", "237:4", "1:3", ":", "0:1", "sourcex", "9223372036854775807:4", "+1:+2", "SourceX:4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w, err := data.ParseWord(s)
		if err != nil {
			return
		}
		if w.Byte < 1 || w.Size != 1 && w.Size != 2 && w.Size != 4 || w.Byte+w.Size-1 > 240 {
			t.Errorf("%q is %v", s, w)
		}
		again := w.Name
		if again == "" {
			again = fmt.Sprintf("%d:%d", w.Byte, w.Size)
		}
		if v, err := data.ParseWord(again); err != nil || v != w {
			t.Errorf("%q is %v, %q is %v, %v", s, w, again, v, err)
		}
	})
}
