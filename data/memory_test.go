package data_test

import (
	"archive/zip"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/device"
)

// holes is a file in which zeros take no room on disk.
type holes struct{ *os.File }

// zeros is what is skipped. It is only looked at by its address: no page of it
// is ever touched.
var zeros = make([]byte, 1<<30)

func (h holes) Write(b []byte) (int, error) {
	if len(b) == len(zeros) && &b[0] == &zeros[0] {
		_, err := h.Seek(int64(len(b)), 1)
		return len(b), err
	}
	return h.File.Write(b)
}

// Arrays that the machine cannot hold are refused in words, whatever file they
// are in, though the file is as long as it says.
func TestLargerThanMemory(t *testing.T) {
	_, total := device.HostMemory()
	if total == 0 {
		t.Fatalf("%s tells how much memory it has, and golops does not see it", runtime.GOOS)
	}
	const chunks = 2 << 10 // 2 TB
	head := npy("{'descr': '<f8', 'fortran_order': False, 'shape': (262144, 1048576), }\n", 0)
	dir := t.TempDir()
	array, archive := filepath.Join(dir, "a.npy"), filepath.Join(dir, "a.npz")
	size := uint64(len(head) + chunks<<30)
	err := os.WriteFile(array, head, 0o666)
	if err = errors.Join(err, os.Truncate(array, int64(size))); err != nil {
		t.Fatalf("a file with holes: %v", err)
	}

	f, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(holes{f})
	w, err := z.CreateRaw(&zip.FileHeader{Name: "a.npy", Method: zip.Store, CompressedSize64: size, UncompressedSize64: size})
	if err == nil {
		_, err = w.Write(head)
	}
	if err = errors.Join(err, z.Flush()); err != nil { // so that zeros come without a copy
		t.Fatal(err)
	}
	for range chunks {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}

	for name, read := range map[string]func() error{
		"ReadNPY":               func() error { _, _, err := data.ReadNPY[float64](array); return err },
		"ReadNPY as complex128": func() error { _, _, err := data.ReadNPY[complex128](array); return err },
		"ReadBlock": func() error {
			_, err := data.ReadBlock[float64](t.Context(), array, []int{0, 1}, []int{262144, 1048576})
			return err
		},
		"ReadNPZ": func() error { _, _, err := data.ReadNPZ[float64](archive, "a"); return err },
	} {
		if err := read(); !errors.Is(err, device.ErrMemory) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if v, err := data.ReadBlock[float64](t.Context(), array, []int{math.MaxInt32 % 262144, 0}, []int{math.MaxInt32%262144 + 1, 1048576}); err != nil || len(v) != 1048576 {
		t.Errorf("a row: got %d elements, %v", len(v), err)
	}
}
