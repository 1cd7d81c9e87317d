package data_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/scalar"
)

// FuzzReadNPY wants an error or an array that survives being written.
func FuzzReadNPY(f *testing.F) {
	for _, name := range goldenNames() {
		f.Add(member(f, "types.npz", name))
	}
	for _, name := range []string{"version2", "version3", "scalar", "empty", "nan", "record", "text", "half"} {
		f.Add(readFile(f, name+".npy"))
	}
	f.Add(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (1000000, 1000000), }\n", 80))
	f.Add(npy("{'descr': '|b1', 'fortran_order': True, 'shape': (0, -1, 2L), }", 0))
	path := filepath.Join(f.TempDir(), "a.npy")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		_, infoErr := data.Info(path)
		fuzzAs[float32](t, path, b, infoErr)
		fuzzAs[float64](t, path, b, infoErr)
		fuzzAs[complex64](t, path, b, infoErr)
		fuzzAs[complex128](t, path, b, infoErr)
	})
}

func fuzzAs[T scalar.Scalar](t *testing.T, path string, b []byte, infoErr error) {
	dims, a, err := data.ReadNPYFrom[T](bytes.NewReader(b))
	fileDims, fromFile, fileErr := data.ReadNPY[T](path)
	if fileErr == nil && (err != nil || infoErr != nil || !slices.Equal(dims, fileDims) || !same(a, fromFile)) {
		t.Errorf("file has %v %v, stream %v %v %v, info %v", fileDims, fromFile, dims, a, err, infoErr)
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
