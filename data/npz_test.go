package data_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
)

func TestReadNPZ(t *testing.T) {
	for _, path := range []string{"testdata/plain.npz", "testdata/compressed.npz"} {
		list, err := data.ListNPZ(path)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range list {
			names = append(names, m.Name)
		}
		if want := []string{"velocity", "sources", "spectrum", "count"}; !slices.Equal(names, want) {
			t.Errorf("%s: names %v, want %v", path, names, want)
		}
		if m := list[1]; m.DType != "<f8" || !m.Fortran || !slices.Equal(m.Shape, []int{3, 2}) {
			t.Errorf("%s: %+v", path, m)
		}
		dims, a, err := data.ReadNPZ[float32](path, "sources")
		if err != nil || !slices.Equal(dims, []int{3, 2}) || !slices.Equal(a, []float32{-3, -2, -1, 0, 1, 2}) {
			t.Errorf("%s: %v %v %v", path, dims, a, err)
		}
		if _, n, err := data.ReadNPZ[float64](path, "count"); err != nil || !slices.Equal(n, []float64{7}) {
			t.Errorf("%s: count %v %v", path, n, err)
		}
		if _, c, err := data.ReadNPZ[complex64](path, "spectrum"); err != nil || c[3] != 1.5i {
			t.Errorf("%s: spectrum %v %v", path, c, err)
		}
		_, _, err = data.ReadNPZ[float32](path, "density")
		if err == nil || !strings.Contains(err.Error(), `no such array: have ["velocity" "sources"`) {
			t.Errorf("%s: %v", path, err)
		}
		if _, _, err := data.ReadNPZ[float32](path, "names"); err == nil || !strings.Contains(err.Error(), "astype") {
			t.Errorf("%s: text read as numbers: %v", path, err)
		}
	}
}

func TestWriteNPZ(t *testing.T) {
	dir := t.TempDir()
	path, again := filepath.Join(dir, "a.npz"), filepath.Join(dir, "b.npz")
	members := []data.Member{
		data.Named("model", []int{2, 2}, []float32{1, 2, 3, 4}),
		data.Named("spectra/first", []int{1}, []complex128{2i}),
		data.Named("none", []int{0, 3}, []float64{}),
	}
	for _, p := range []string{path, again} {
		if err := data.WriteNPZ(p, members...); err != nil {
			t.Fatal(err)
		}
	}
	a, err1 := os.ReadFile(path)
	b, err2 := os.ReadFile(again)
	if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Errorf("two files of the same arrays differ, %v %v", err1, err2)
	}
	if dims, x, err := data.ReadNPZ[float32](path, "model"); err != nil || !slices.Equal(dims, []int{2, 2}) || x[3] != 4 {
		t.Errorf("%v %v %v", dims, x, err)
	}
	if _, x, err := data.ReadNPZ[complex128](path, "spectra/first"); err != nil || x[0] != 2i {
		t.Errorf("%v %v", x, err)
	}
	if list, err := data.ListNPZ(path); err != nil || len(list) != 3 || !slices.Equal(list[2].Shape, []int{0, 3}) {
		t.Errorf("%v %v", list, err)
	}
}

func TestWriteNPZWrong(t *testing.T) {
	dir := t.TempDir()
	one := data.Named("a", []int{1}, []float32{1})
	for want, members := range map[string][]data.Member{
		"is there twice":         {one, one},
		"has no name":            {data.Named("", []int{1}, []float32{1})},
		"make it with Named":     {{Name: "b"}},
		"must not start with /":  {data.Named("/etc/a", []int{1}, []float32{1})},
		"1 elements given":       {one, data.Named("b", []int{2}, []float32{1})},
		"1, \"a\", is there twi": {one, one, {}},
	} {
		err := data.WriteNPZ(filepath.Join(dir, "a.npz"), members...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	wantFiles(t, dir)
}

// archive makes a .npz file of members that may lie.
func archive(t testing.TB, members map[string][]byte, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name})
		if err == nil {
			_, err = w.Write(members[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return file(t, b.Bytes())
}

func TestBadNPZ(t *testing.T) {
	good := encode(t, []int{3}, []float32{1, 2, 3})
	members := map[string][]byte{
		"a.npy": good, "long.npy": append(slices.Clone(good), 0), "short.npy": good[:len(good)-1], "readme.txt": []byte("hello"),
		"huge.npy": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000), }", 4),
	}
	for want, path := range map[string]string{
		"no .npz file":                   file(t, good),
		"two arrays of this name":        archive(t, members, "a.npy", "a.npy"),
		`no such array: have ["readme.t`: archive(t, members, "readme.txt"),
	} {
		if _, _, err := data.ReadNPZ[float32](path, "a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, name := range []string{"long", "short", "huge"} {
		path := archive(t, members, name+".npy")
		if _, _, err := data.ReadNPZ[float32](path, name); err == nil || !strings.Contains(err.Error(), "bytes, [") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := data.ListNPZ(path); err == nil || !strings.Contains(err.Error(), "bytes, [") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A damaged element is found by the checksum.
	path := archive(t, members, "a.npy")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(b, good[128:])
	b[i]++
	if _, _, err := data.ReadNPZ[float32](file(t, b), "a"); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("damaged element: %v", err)
	}
}

// An archive that compresses well takes the memory of its array, not more.
func TestNPZTakesMemoryOnce(t *testing.T) {
	const n = 4 << 20
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("a.npy") // compressed
	if err == nil {
		err = data.WriteNPYTo(w, []int{n}, make([]float64, n))
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	if b.Len() > n/50 {
		t.Fatalf("%d bytes are not compressed", b.Len())
	}
	path := file(t, b.Bytes())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, v, err := data.ReadNPZ[float64](path, "a")
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; err != nil || len(v) != n || got > 8*n+1<<20 {
		t.Errorf("%d bytes allocated for an array of %d: %v", got, 8*n, err)
	}
}

// lying makes a .npz file whose one member, a.npy, claims other lengths than it
// has.
func lying(t testing.TB, h zip.FileHeader, content []byte) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	h.Name = "a.npy"
	w, err := z.CreateRaw(&h)
	if err == nil {
		_, err = w.Write(content)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return file(t, b.Bytes())
}

// deflated compresses.
func deflated(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err == nil {
		_, err = w.Write(b)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A member that is not as long as the archive claims is refused, at no cost.
func TestNPZLengthsThatLie(t *testing.T) {
	const n = 1000
	whole := encode(t, []int{n}, make([]float64, n))
	sum := crc32.ChecksumIEEE
	short, long := whole[:len(whole)-8], append(slices.Clone(whole), make([]byte, 100_000_000)...)
	huge := npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000,), }\n", 800)
	for _, c := range []struct {
		name    string
		claims  uint64
		content []byte // before it is compressed
		want    string
	}{
		{"right", uint64(len(whole)), whole, ""},
		{"shorter", uint64(len(whole)), short, "truncated"},
		{"longer", uint64(len(whole)), long, "longer than the archive claims, or damaged"},
		{"impossible", uint64(len(huge)) - 800 + 80e9, huge, "which cannot be in"},
		{"overflow", math.MaxUint64, whole, "which cannot be in"},
	} {
		packed := deflated(t, c.content)
		h := zip.FileHeader{Method: zip.Deflate, CRC32: sum(whole), CompressedSize64: uint64(len(packed)), UncompressedSize64: c.claims}
		path := lying(t, h, packed)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := data.ReadNPZ[float64](path, "a")
		runtime.ReadMemStats(&after)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%s: %d bytes allocated", c.name, got)
		}
	}
	h := zip.FileHeader{Method: zip.Store, CRC32: sum(whole), CompressedSize64: 80e9, UncompressedSize64: 80e9}
	if _, _, err := data.ReadNPZ[float64](lying(t, h, whole), "a"); err == nil || !strings.Contains(err.Error(), "claims 80000000000 bytes of a file of") {
		t.Errorf("stored: got %v", err)
	}
}
