package data_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
)

func TestReadList(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	npy := func(name string, dims []int, v ...float64) string {
		path := filepath.Join(dir, name)
		if err := data.WriteNPY(path, dims, v); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, path := range []string{
		write("a.txt", "1\n-2.5\n3e2\n"), write("b.txt", "\n  1 \r\n\n-2.5\r\n300"), npy("c.NPY", []int{3}, 1, -2.5, 300),
	} {
		if got, err := data.ReadList(path, "angle"); err != nil || !slices.Equal(got, []float64{1, -2.5, 300}) {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	for path, want := range map[string]string{
		write("word.txt", "0\n1\nnorth\n"):                   `word.txt: line 3 is "north": give one angle per line`,
		write("pair.txt", "0 1\n"):                           `line 1 is "0 1"`,
		write("nan.txt", "0\nNaN\n"):                         "number 2 is NaN",
		write("empty.txt", "\n"):                             "it has no numbers",
		write("long.txt", strings.Repeat("1", 100_000)+"\n"): "too long",
		npy("empty.npy", []int{0}):                           "it has no numbers",
		npy("inf.npy", []int{2}, 1, math.Inf(1)):             "number 2 is +Inf",
		npy("square.npy", []int{2, 2}, 1, 2, 3, 4):           "it has shape [2 2]: a list has one axis",
		filepath.Join(dir, "none.txt"):                       "none.txt: stat: no such file",
		filepath.Join(dir, "none.npy"):                       "no such file",
		dir:                                                  "no regular file",
		write("no.npy", "hello"):                             "no.npy",
	} {
		if got, err := data.ReadList(path, "angle"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", path, got, err, want)
		}
	}
}
