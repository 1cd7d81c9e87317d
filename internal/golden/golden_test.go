package golden

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/scalar"
)

// Every array that the manifest names is there, and has the shape it should.
func TestWholeFolder(t *testing.T) {
	all, err := load("golden")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range all {
		if names[c.Name] {
			t.Errorf("two cases are called %s", c.Name)
		}
		names[c.Name] = true
		for _, key := range c.Keys() {
			a, err := c.read(key)
			if err != nil {
				t.Fatal(err)
			}
			want := c.Dims
			if key == "y" || key == "u" {
				want = c.Dimsd
			}
			if strings.Contains("xyuv", key) && !slices.Equal(a.shape, want) {
				t.Errorf("%s: %s has shape %v, want %v", c.Name, key, a.shape, want)
			}
		}
		if !c.DotTest && !c.Has("v_true") {
			t.Errorf("%s: fails the dot test and has no v_true, only %v", c.Name, c.Keys())
		}
	}
}

// The numbers come out right: a forward difference is easily done by hand.
func TestForwardDifference(t *testing.T) {
	n := 0
	for _, c := range Cases(t, "FirstDerivative") {
		if c.String("kind") != "forward" || len(c.Dims) != 1 || c.DType != scalar.Complex128 {
			continue
		}
		n++
		shape, x := Array[complex128](t, c, "x")
		_, y := Array[complex128](t, c, "y")
		if !slices.Equal(shape, c.Dims) {
			t.Errorf("%s: shape %v, want %v", c.Name, shape, c.Dims)
		}
		for i := range len(x) - 1 {
			want := (x[i+1] - x[i]) / complex(c.Float("sampling"), 0)
			if d := y[i] - want; math.Hypot(real(d), imag(d)) > 1e-14 {
				t.Errorf("%s: y[%d] is %v, want %v", c.Name, i, y[i], want)
			}
		}
	}
	if n == 0 {
		t.Error("no forward difference of complex128 in one dimension")
	}
}

func TestParams(t *testing.T) {
	c := Cases(t, "Laplacian")[0]
	if got := c.Ints("axes"); !slices.Equal(got, []int{-2, -1}) {
		t.Errorf("axes are %v, want [-2 -1]", got)
	}
	if got := c.Floats("weights"); !slices.Equal(got, []float64{1, 1}) {
		t.Errorf("weights are %v, want [1 1]", got)
	}
	if c.Bool("edge") || c.String("kind") != "centered" {
		t.Errorf("edge %v, kind %q: want false, centered", c.Bool("edge"), c.String("kind"))
	}
	c = Cases(t, "array.norm")[0]
	if got := c.Strings("ord"); !slices.Equal(got, []string{"0", "1", "2", "3", "inf", "-inf"}) {
		t.Errorf("orders are %v, want 0 1 2 3 inf -inf", got)
	}
	c = Cases(t, "MPIHalo")[0]
	if got := c.IntRows("local_dims"); len(got) != c.Ranks || !slices.Equal(got[0], c.Dims) {
		t.Errorf("%s: local shapes are %v, want %v", c.Name, got, c.Dims)
	}
	c = Cases(t, "algebra.scale")[2]
	if got := c.Complex("alpha"); got != 2-0.5i {
		t.Errorf("%s: alpha is %v, want 2-0.5i", c.Name, got)
	}
	c = Cases(t, "FirstDerivative")[0]
	if got := c.Int("order"); got != 3 {
		t.Errorf("order is %d, want 3", got)
	}
	if got := c.Ints("order"); !slices.Equal(got, []int{3}) {
		t.Errorf("order as a list is %v, want [3]", got)
	}
	if got := c.Complex("sampling"); got != 0.7 {
		t.Errorf("sampling is %v, want 0.7", got)
	}
}

func TestWrongParamPanics(t *testing.T) {
	c := Cases(t, "FirstDerivative")[0]
	for name, ask := range map[string]func(){
		"missing":  func() { c.Int("nosuch") },
		"int":      func() { c.Int("kind") },
		"fraction": func() { c.Int("sampling") },
		"float":    func() { c.Float("edge") },
		"complex":  func() { c.Complex("kind") },
		"bool":     func() { c.Bool("kind") },
		"string":   func() { _ = c.String("edge") },
		"ints":     func() { c.Ints("kind") },
		"floats":   func() { c.Floats("kind") },
		"strings":  func() { c.Strings("order") },
		"rows":     func() { c.IntRows("kind") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if msg, ok := recover().(string); !ok || !strings.Contains(msg, c.Name) {
					t.Errorf("panic %q does not name the case", msg)
				}
			}()
			ask()
		})
	}
}

func TestManifestErrors(t *testing.T) {
	for name, text := range map[string]string{
		"cut":    `[{"name":"a","op":"b"`,
		"dtype":  `[{"name":"a","op":"b","dtype":"float128","file":"c.npz"}]`,
		"nofile": `[{"name":"a","op":"b","dtype":"float32"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := readManifest(dir)
			wantError(t, err, "manifest.json")
		})
	}
	_, err := readManifest(t.TempDir())
	wantError(t, err, "manifest.json")
}

func TestMissingArray(t *testing.T) {
	c := Cases(t, "FirstDerivative")[0]
	_, err := c.read("nosuch")
	wantError(t, err, "nosuch")
	c.arrays = map[string]string{"x": "nosuch"}
	_, err = c.read("x")
	wantError(t, err, "nosuch")
	c.file = "nosuch.npz"
	_, err = c.read("x")
	wantError(t, err, "nosuch.npz")
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error is %v, want one that has %q", err, part)
	}
}
