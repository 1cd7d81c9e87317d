package main

import (
	"context"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/device"
)

// arrays writes some to a folder.
func arrays(t *testing.T) (in func(name string) string) {
	t.Helper()
	dir := t.TempDir()
	in = func(name string) string { return filepath.Join(dir, name) }
	v := make([]float64, 24)
	for i := range v {
		v[i] = float64(i)
	}
	err := errors.Join(
		data.WriteNPY(in("line.npy"), []int{24}, v),
		data.WriteNPY(in("plane.npy"), []int{4, 6}, v),
		data.WriteNPY(in("plane.dat"), []int{4, 6}, v),
		data.WriteNPY(in("array.png"), []int{4, 6}, v),
		data.WriteNPY(in("cube.npy"), []int{2, 3, 4}, v),
		data.WriteNPY(in("complex.npy"), []int{2, 2}, []complex64{1, 1i, -1, 3 + 4i}),
		data.WriteNPY(in("empty.npy"), []int{2, 0}, []float64{}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// What view cannot do it says in one line, and changes nothing.
func TestViewRefuses(t *testing.T) {
	in := arrays(t)
	before, err := os.ReadFile(in("array.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "golops view needs a file: golops view FILE.npy"},
		{"@none.npy", 2, "no such file"},
		{"@empty.npy", 2, "the array is empty"},
		{"@plane.npy --axis 99", 2, "axis and index are for a slice of 3 dimensions, there are 2"},
		{"@plane.npy --axis -1", 2, "axis and index are for a slice"},
		{"@plane.npy --axis 0", 2, "axis and index are for a slice"},
		{"@line.npy --index 9", 2, "axis and index are for a slice"},
		{"@cube.npy --axis 3", 2, "axis is 3: must be 0, 1 or 2"},
		{"@cube.npy --axis 2 --index 4", 2, "index is 4: must be from -4 to 3 on axis 2"},
		{"@plane.npy --out @x.pdf", 2, "x.pdf: the name must end in .png"},
		{"@plane.npy --out @x.jpg", 2, "x.jpg: the name must end in .png"},
		{"@plane.npy --out @plane.npy", 2, "plane.npy: the name must end in .png"},
		{"@array.png", 2, "would replace the array"},
		{"@array.png --out @array.png", 2, "would replace the array"},
		{"@plane.npy --out @array.png @array.png", 2, "--out is for the picture of one file, there are 2"},
		{"@plane.npy @plane.dat", 2, "have the same picture"},
		{"@plane.npy --map rainbow", 2, "rainbow"},
		{"@plane.npy --out @none/x.png", 1, "x.png: temporary file in the same folder"},
	} {
		code, stdout, stderr := golops(t.Context(), "view "+strings.ReplaceAll(c.args, "@", in("")+"/"))
		if code != c.code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("view %s: got exit code %d, %q and %q, want %d and %q", c.args, code, stdout, stderr, c.code, c.want)
		}
	}
	if after, err := os.ReadFile(in("array.png")); err != nil || string(after) != string(before) {
		t.Error("an array was replaced by its picture")
	}
	if made, _ := filepath.Glob(in("*.png")); len(made) != 1 {
		t.Errorf("there are %v", made)
	}
}

// Several files have a picture each.
func TestViewSeveral(t *testing.T) {
	in := arrays(t)
	code, stdout, stderr := golops(t.Context(), "view "+in("plane.npy")+" "+in("line.npy")+" "+in("cube.npy"))
	if want := in("plane.png") + "\n" + in("line.png") + "\n" + in("cube.png") + "\n"; code != 0 || stdout != want || stderr != "" {
		t.Fatalf("got exit code %d, %q and %q, want %q", code, stdout, stderr, want)
	}
	for _, name := range []string{"plane", "line", "cube"} {
		f, err := os.Open(in(name + ".png"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
}

// Negative axes and indices count from the end, as they do in operators.
func TestViewFromTheEnd(t *testing.T) {
	in := arrays(t)
	draw := func(flags string) string {
		code, _, stderr := golops(t.Context(), "view "+in("cube.npy")+" --out "+in("x.png")+" "+flags)
		b, err := os.ReadFile(in("x.png"))
		if code != 0 || err != nil {
			t.Fatalf("%s: exit code %d, %s %v", flags, code, stderr, err)
		}
		return string(b)
	}
	if draw("--axis -1 --index -2") != draw("--axis 2 --index 2") || draw("--axis 2 --index 2") == draw("--axis 2 --index 1") {
		t.Error("axis -1 and index -2 of an axis of 4 are not axis 2 and index 2")
	}
}

// The picture of complex numbers says that it shows their magnitude: it is that
// of the magnitudes, but for the words.
func TestViewMagnitude(t *testing.T) {
	in := arrays(t)
	if err := data.WriteNPY(in("abs.npy"), []int{2, 2}, []float32{1, 1, 1, 5}); err != nil {
		t.Fatal(err)
	}
	size := func(name string) int {
		if code, _, stderr := golops(t.Context(), "view "+in(name+".npy")); code != 0 {
			t.Fatal(stderr)
		}
		f, err := os.Open(in(name + ".png"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c, err := png.DecodeConfig(f)
		if err != nil {
			t.Fatal(err)
		}
		return c.Width
	}
	if c, r := size("complex"), size("abs"); c <= r {
		t.Errorf("the picture is %d pixels wide, without words %d", c, r)
	}
}

// sparse writes an array of zeros that take no room on disk.
func sparse(t *testing.T, path, shape string, bytes int64) {
	t.Helper()
	text := "{'descr': '<f8', 'fortran_order': False, 'shape': (" + shape + "), }\n"
	head := "\x93NUMPY\x01\x00" + string([]byte{byte(len(text)), 0}) + text
	if err := errors.Join(os.WriteFile(path, []byte(head), 0o666), os.Truncate(path, int64(len(head))+bytes)); err != nil {
		t.Fatal(err)
	}
}

// Of a file that is larger than memory, a slice is drawn. What cannot be drawn
// is refused in words.
func TestViewHugeFiles(t *testing.T) {
	in := arrays(t)
	sparse(t, in("slices.npy"), "100000, 1000, 100", 80e9)
	sparse(t, in("huge.npy"), "250000, 1000000", 2e12)
	if code, _, stderr := golops(t.Context(), "view "+in("slices.npy")); code != 0 {
		t.Errorf("slices: exit code %d, %s", code, stderr)
	}
	if _, total := device.HostMemory(); total == 0 {
		t.Fatalf("%s tells how much memory it has, and golops does not see it", runtime.GOOS)
	}
	if code, _, stderr := golops(t.Context(), "view "+in("huge.npy")); code != 2 || !strings.Contains(stderr, "the array is too large to draw") {
		t.Errorf("huge: exit code %d, %s", code, stderr)
	}
}

// A stop leaves no picture, whether it comes in reading or in drawing.
func TestViewStops(t *testing.T) {
	in := arrays(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, stdout, _ := golops(ctx, "view "+in("plane.npy"))
	if code != 130 || stdout != "" {
		t.Errorf("got exit code %d and %q", code, stdout)
	}
	if _, err := os.Stat(in("plane.png")); err == nil {
		t.Error("there is a picture")
	}

	ctx, cancel = context.WithCancel(t.Context())
	drawing, end := make(chan bool), make(chan bool)
	defer close(end)
	go func() {
		<-drawing
		cancel()
	}()
	err := orStop(ctx, func() error { // draws until the end of the test
		close(drawing)
		<-end
		return nil
	})
	if _, is := app.StopOf(err); !is {
		t.Errorf("got %v", err)
	}
}
