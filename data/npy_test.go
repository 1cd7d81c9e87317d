package data_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/scalar"
)

// member returns the bytes of one .npy of an archive that NumPy wrote.
func member(t testing.TB, archive, name string) []byte {
	t.Helper()
	z, err := zip.OpenReader(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open(name + ".npy")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// file writes bytes to a file in a new folder.
func file(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.npy")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// golden is element i of what testdata/make_npy.py wrote for an element type.
func golden(elem string, i int) complex128 {
	switch elem[0] {
	case 'c':
		return complex(float64(i-3), float64(i)/2)
	case 'b':
		return complex(float64(i%2), 0)
	case 'u':
		return complex(float64(i), 0)
	}
	return complex(float64(i-3), 0)
}

// goldenNames are the members of types.npz.
func goldenNames() (names []string) {
	for _, e := range []string{"f4", "f8", "c8", "c16", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"} {
		for _, order := range []string{"C", "F"} {
			ends := []string{"little", "big"}
			if e[1:] == "1" {
				ends = []string{"any"}
			}
			for _, end := range ends {
				names = append(names, strings.Join([]string{e, order, end}, "-"))
			}
		}
	}
	return names
}

func TestReadWhatNumPyWrote(t *testing.T) {
	for _, name := range goldenNames() {
		t.Run(name, func(t *testing.T) {
			readGolden[float32](t, name)
			readGolden[float64](t, name)
			readGolden[complex64](t, name)
			readGolden[complex128](t, name)
		})
	}
}

func readGolden[T scalar.Scalar](t *testing.T, name string) {
	t.Helper()
	elem, _, _ := strings.Cut(name, "-")
	b := member(t, "types.npz", name)
	dims1, got1, err1 := data.ReadNPY[T](file(t, b))
	dims2, got2, err2 := data.ReadNPYFrom[T](io.MultiReader(bytes.NewReader(b), neverRead{t}))
	dims3, got3, err3 := data.ReadNPZ[T]("testdata/types.npz", name)
	if elem[0] == 'c' && !scalar.Of[T]().IsComplex() {
		for _, err := range []error{err1, err2, err3} {
			if err == nil || !strings.Contains(err.Error(), "complex and cannot be read as "+scalar.Of[T]().String()) {
				t.Errorf("complex as %v: %v", scalar.Of[T](), err)
			}
		}
		return
	}
	want := make([]T, 24)
	for i := range want {
		want[i] = scalar.From[T](golden(elem, i))
	}
	for i, err := range []error{err1, err2, err3} {
		dims, got := [][]int{dims1, dims2, dims3}[i], [][]T{got1, got2, got3}[i]
		if err != nil || !slices.Equal(dims, []int{2, 3, 4}) || !slices.Equal(got, want) {
			t.Errorf("way %d as %v: %v %v %v, want %v", i, scalar.Of[T](), dims, got, err, want)
		}
	}
}

// neverRead fails a test that reads more than it should.
type neverRead struct{ t *testing.T }

func (n neverRead) Read([]byte) (int, error) {
	n.t.Error("read behind the array")
	return 0, io.EOF
}

func TestInfo(t *testing.T) {
	for _, c := range []struct {
		name string
		want data.NPY
		as   scalar.DType
	}{
		{"f4-C-little", data.NPY{DType: "<f4"}, scalar.Float32},
		{"f8-F-big", data.NPY{DType: ">f8", Fortran: true}, scalar.Float64},
		{"c8-C-big", data.NPY{DType: ">c8"}, scalar.Complex64},
		{"c16-F-little", data.NPY{DType: "<c16", Fortran: true}, scalar.Complex128},
		{"b1-C-any", data.NPY{DType: "|b1"}, scalar.Float32},
		{"i2-C-big", data.NPY{DType: ">i2"}, scalar.Float32},
		{"u4-C-big", data.NPY{DType: ">u4"}, scalar.Float64},
	} {
		h, err := data.Info(file(t, member(t, "types.npz", c.name)))
		if err != nil || h.DType != c.want.DType || h.Fortran != c.want.Fortran || h.Offset != 128 || !slices.Equal(h.Shape, []int{2, 3, 4}) || h.Scalar() != c.as {
			t.Errorf("%s: %+v %v, read as %v, want %+v, read as %v", c.name, h, err, h.Scalar(), c.want, c.as)
		}
	}
}

// TestWriteWhatNumPyWrote wants the very bytes of NumPy.
func TestWriteWhatNumPyWrote(t *testing.T) {
	writeGolden[float32](t, "f4-C-little")
	writeGolden[float64](t, "f8-C-little")
	writeGolden[complex64](t, "c8-C-little")
	writeGolden[complex128](t, "c16-C-little")
	for _, name := range []string{"scalar", "nan"} {
		sameFile[float64](t, name)
	}
	for _, name := range []string{"vector", "empty"} {
		sameFile[float32](t, name)
	}
}

func writeGolden[T scalar.Scalar](t *testing.T, name string) {
	t.Helper()
	want := member(t, "types.npz", name)
	dims, a, err := data.ReadNPYFrom[T](bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := data.WriteNPYTo(&got, dims, a); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s: %v\n%q is not\n%q", name, err, got.Bytes(), want)
	}
}

func sameFile[T scalar.Scalar](t *testing.T, name string) {
	t.Helper()
	in, out := filepath.Join("testdata", name+".npy"), filepath.Join(t.TempDir(), "out.npy")
	dims, a, err := data.ReadNPY[T](in)
	if err == nil {
		err = data.WriteNPY(out, dims, a)
	}
	if err != nil {
		t.Fatal(err)
	}
	want, err1 := os.ReadFile(in)
	got, err2 := os.ReadFile(out)
	if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %v %v\n%q is not\n%q", name, err1, err2, got, want)
	}
}

func TestVersionsAndShapes(t *testing.T) {
	for name, want := range map[string][]int{"version2": {2, 3, 4}, "version3": {2, 3, 4}, "scalar": {}, "vector": {5}, "empty": {3, 0, 2}} {
		dims, a, err := data.ReadNPY[float64]("testdata/" + name + ".npy")
		n := 1
		for _, d := range want {
			n *= d
		}
		if err != nil || !slices.Equal(dims, want) || len(a) != n {
			t.Errorf("%s: %v %v %v, want %v", name, dims, a, err, want)
		}
	}
}

// TestOddNumbers wants NaN and infinity as they are, and rounding as documented.
func TestOddNumbers(t *testing.T) {
	_, a, err := data.ReadNPY[float64]("testdata/nan.npy")
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(a[0]) || !math.IsInf(a[1], 1) || !math.IsInf(a[2], -1) || !math.Signbit(a[3]) || a[6] != 5e-324 {
		t.Errorf("read %v", a)
	}
	_, b, err := data.ReadNPY[complex64]("testdata/nan.npy")
	if err != nil || real(b[0]) == real(b[0]) || imag(b[0]) != 0 || real(b[4]) != float32(math.Inf(1)) || real(b[5]) != 0 {
		t.Errorf("read as complex64 %v %v", b, err)
	}
	// A NaN keeps its payload where nothing is converted.
	odd := math.Float32frombits(0x7fa12345)
	path := filepath.Join(t.TempDir(), "nan.npy")
	if err := data.WriteNPY(path, []int{1}, []float32{odd}); err != nil {
		t.Fatal(err)
	}
	if _, c, err := data.ReadNPY[float32](path); err != nil || math.Float32bits(c[0]) != 0x7fa12345 {
		t.Errorf("NaN %x became %x %v", 0x7fa12345, math.Float32bits(c[0]), err)
	}
}

// npy returns a .npy file with this text as header, followed by n zero bytes.
func npy(text string, n int) []byte {
	return append([]byte("\x93NUMPY\x01\x00"+string([]byte{byte(len(text)), byte(len(text) >> 8)})+text), make([]byte, n)...)
}

func TestOddHeaders(t *testing.T) {
	for text, want := range map[string][]int{
		"{'shape': (2L, 3L), 'fortran_order': False, 'descr': '<f4'}":        {2, 3}, // Python 2
		`{"descr":"<f4","fortran_order":True,"shape":(3,2,),}` + "  \n":      {3, 2},
		"\n{ 'descr' : '=f4' , 'fortran_order' : False , 'shape' : ( 6 , )}": {6},
	} {
		dims, a, err := data.ReadNPY[float32](file(t, npy(text, 24)))
		if err != nil || !slices.Equal(dims, want) || len(a) != 6 {
			t.Errorf("%s: %v %v, want %v", text, dims, err, want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	head := func(descr, shape string) []byte {
		return npy(fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }\n", descr, shape), 24)
	}
	good := head("'<f4'", "(2, 3)")
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"empty":            {nil, "truncated"},
		"no magic":         {[]byte("\x89PNG\r\n\x1a\n, and so on"), "no .npy file"},
		"version 9":        {[]byte("\x93NUMPY\x09\x00aaaa"), "version 9.0 is unknown"},
		"no length":        {[]byte("\x93NUMPY\x01\x00a"), "truncated"},
		"no header":        {good[:30], "truncated"},
		"giant header":     {[]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{"), "claims 4294967295 bytes"},
		"one byte less":    {good[:len(good)-1], "truncated: it has"},
		"one byte more":    {append(slices.Clone(good), 0), "ReadNPYFrom"},
		"huge":             {head("'<f4'", "(1000000, 1000000)"), "truncated: it has"},
		"overflow":         {head("'<f4'", "(9223372036854775807, 3)"), "more elements than an int can count"},
		"overflow of zero": {head("'<f4'", "(0, 9223372036854775807, 3)"), "more elements than an int can count"},
		"overflow of size": {head("'<f8'", "(9223372036854775807,)"), "more elements than a file can hold"},
		"no int":           {head("'<f4'", "(9223372036854775808,)"), "integer that fits"},
		"negative":         {head("'<f4'", "(2, -3)"), "axis 1 of shape [2 -3] is negative"},
		"two minus":        {head("'<f4'", "(2, --3)"), "integer that fits"},
		"float shape":      {head("'<f4'", "(2.0, 3)"), ") expected"},
		"no tuple":         {head("'<f4'", "6"), "( expected"},
		"open tuple":       {npy("{'shape': (2, 3", 24), ") expected"},
		"many axes":        {head("'<f4'", "("+strings.Repeat("1,", 65)+")"), "65 axes"},
		"half":             {head("'<f2'", "(12,)"), `"<f2" cannot be read`},
		"no order":         {head("'f4'", "(6,)"), "order of its bytes"},
		"text":             {head("'<U4'", "(6,)"), "astype"},
		"fields":           {head("[('a', '<f4')]", "(6,)"), "records of several fields"},
		"objects":          {head("'|O'", "(3,)"), "cannot be read"},
		"unquoted":         {head("<f4", "(3,)"), "quoted name"},
		"twice":            {npy("{'shape': (6,), 'shape': (6,)}", 24), "twice"},
		"missing":          {npy("{'descr': '<f4', 'shape': (6,)}", 24), `"fortran_order" is missing`},
		"unknown":          {npy("{'descr': '<f4', 'color': (6,)}", 24), `"color" is unknown`},
		"no boolean":       {npy("{'fortran_order': 1}", 24), "True or False"},
		"more":             {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} + 1", 24), "nothing more expected"},
		"code":             {npy("__import__('os')", 24), "{ expected"},
	} {
		path := file(t, c.b)
		_, infoErr := data.Info(path)
		_, _, readErr := data.ReadNPY[float32](path)
		for _, err := range []error{infoErr, readErr} {
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "data: ") || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
	}
}

// TestLiesCostNothing wants memory in proportion to what a stream really holds.
func TestLiesCostNothing(t *testing.T) {
	b := npy("{'descr': '<f8', 'fortran_order': True, 'shape': (1000000, 1000000), }\n", 800)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := data.ReadNPYFrom[complex128](bytes.NewReader(b))
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err == nil || n > 4<<20 {
		t.Errorf("%d bytes allocated for a stream of %d, error %v", n, len(b), err)
	}
}

func TestArraysInARow(t *testing.T) {
	var b bytes.Buffer
	for i := range 3 {
		if err := data.WriteNPYTo(&b, []int{i}, make([]float32, i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		if dims, _, err := data.ReadNPYFrom[float64](&b); err != nil || dims[0] != i {
			t.Errorf("array %d: %v %v", i, dims, err)
		}
	}
}

func TestWriteWrong(t *testing.T) {
	for want, dims := range map[string][]int{"5 elements given for shape [2 3], which has 6": {2, 3}, "negative": {-5}, "65 axes": slices.Repeat([]int{1}, 65)} {
		n := 5
		if len(dims) > 2 {
			n = 1
		}
		path := filepath.Join(t.TempDir(), "a.npy")
		if err := data.WriteNPY(path, dims, make([]float32, n)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", dims, err, want)
		}
		wantFiles(t, filepath.Dir(path))
	}
}
