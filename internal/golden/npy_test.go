package golden

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// npyBytes builds a file in NumPy's format.
func npyBytes(version byte, header string, data ...byte) []byte {
	b := append([]byte(magic), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(append(b, header...), data...)
}

func float64s(v ...float64) (b []byte) {
	for _, f := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
	}
	return b
}

func TestParseNpy(t *testing.T) {
	for _, tt := range []struct {
		name  string
		file  []byte
		shape []int
		want  []float64
	}{
		{"c", npyBytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", float64s(1, 2, 3, 4, 5, 6)...),
			[]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		{"fortran", npyBytes(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", float64s(1, 4, 2, 5, 3, 6)...),
			[]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		{"version 2", npyBytes(2, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", float64s(1, 2)...),
			[]int{2}, []float64{1, 2}},
		{"scalar", npyBytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", float64s(7)...),
			[]int{}, []float64{7}},
		{"empty", npyBytes(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 3), }"),
			[]int{0, 3}, []float64{}},
		{"float32", npyBytes(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
			binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.5))...), []int{1}, []float64{0.5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := parseNpy(tt.file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := convert[float64](a, true)
			if err != nil || !slices.Equal(got, tt.want) || !slices.Equal(a.shape, tt.shape) {
				t.Errorf("shape %v, data %v, error %v: want %v, %v", a.shape, got, err, tt.shape, tt.want)
			}
		})
	}
}

func TestParseNpyErrors(t *testing.T) {
	const good = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"
	whole := npyBytes(1, good, float64s(1, 2)...)
	for n := range whole {
		if _, err := parseNpy(whole[:n]); err == nil {
			t.Errorf("no error for the first %d of %d bytes", n, len(whole))
		}
	}
	for name, tt := range map[string]struct {
		file []byte
		part string
	}{
		"magic":   {[]byte("PK\x03\x04 is no array"), "magic"},
		"version": {npyBytes(3, good, float64s(1, 2)...), "version 3"},
		"long":    {append(whole, 0), "17 follow"},
		"object":  {npyBytes(1, "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }"), "descr"},
		"half":    {npyBytes(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }"), "<f2"},
		"big":     {npyBytes(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }"), ">f8"},
		"noshape": {npyBytes(1, "{'descr': '<f8', 'fortran_order': False}"), "header"},
		"minus":   {npyBytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }"), "header"},
		"length":  {npyBytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }"), "range"},
		"product": {npyBytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"), "too big"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseNpy(tt.file)
			wantError(t, err, tt.part)
		})
	}
}

func TestBadNpz(t *testing.T) {
	dir, err := folder("golden")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "FirstDerivative.npz"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(whole)
	for i := 100; i < 200; i++ {
		damaged[i] ^= 0xff
	}
	for name, data := range map[string][]byte{
		"empty.npz": nil, "cut.npz": whole[:len(whole)/2], "tail.npz": whole[len(whole)/2:], "damaged.npz": damaged,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := readNpz(path)
			wantError(t, err, name)
		})
	}
}

func TestConvert(t *testing.T) {
	tenth := array{"f8", []int{1}, float64s(0.1)}
	if _, err := convert[float32](tenth, true); err == nil {
		t.Error("0.1 became a float32 without loss")
	}
	if got, err := convert[float32](tenth, false); err != nil || got[0] != float32(0.1) {
		t.Errorf("0.1 rounded is %v, error %v", got, err)
	}
	if got, err := convert[complex128](tenth, true); err != nil || got[0] != 0.1 {
		t.Errorf("0.1 as complex is %v, error %v", got, err)
	}
	if _, err := convert[complex64](tenth, true); err == nil {
		t.Error("0.1 became a complex64 without loss")
	}
	special := array{"f8", []int{2}, float64s(math.Inf(-1), math.NaN())}
	if got, err := convert[float32](special, true); err != nil || !math.IsInf(float64(got[0]), -1) || got[1] == got[1] {
		t.Errorf("-Inf and NaN are %v, error %v", got, err)
	}
	z := array{"c16", []int{1}, float64s(1, 0)}
	if _, err := convert[float64](z, true); err == nil {
		t.Error("a complex number became real")
	}
	if got, err := convert[complex64](z, true); err != nil || got[0] != 1 {
		t.Errorf("1+0i is %v, error %v", got, err)
	}
	if _, err := convert[float64](array{"i8", []int{1}, float64s(0)}, true); err == nil {
		t.Error("integers became floats")
	}
}

func TestInts(t *testing.T) {
	minus := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	for _, tt := range []struct {
		descr string
		data  []byte
		want  []int64
	}{
		{"i8", minus, []int64{-1}},
		{"i4", minus, []int64{-1, -1}},
		{"b1", []byte{0, 1}, []int64{0, 1}},
	} {
		got, err := ints(array{tt.descr, []int{len(tt.want)}, tt.data})
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, error %v: want %v", tt.descr, got, err, tt.want)
		}
	}
	if _, err := ints(array{"f8", []int{1}, minus}); err == nil {
		t.Error("floats became integers")
	}
}
