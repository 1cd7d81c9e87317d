package golops_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops"
	"github.com/golops/golops/ops/wave"
)

func unblur(w *golops.World) error {
	X := w.Real(120, 80) // arrays of 120 × 80 numbers, split over the ranks
	truth := X.Func(func(i []int) float64 { return math.Sin(float64(i[0])/9) * math.Cos(float64(i[1])/7) })
	B := golops.Smoothing2D(X, [2]int{0, 1}, [2]int{9, 9})
	data := B.Apply(truth).Plus(X.Random(1).Scaled(0.05)) // blurred, with noise
	c := golops.Config{MaxIter: 300, GradTol: 1e-6}
	plain := golops.CGLS(B, data, c) // min ‖B·x - data‖²
	A := golops.VStack(B, golops.Laplacian(X).Scaled(0.9))
	s := golops.CGLS(A, golops.Stack(data, X.Zero()), c) // min ‖B·x - data‖² + ‖0.9·L·x‖²
	off := func(x golops.Vec[float64]) float64 { return x.Minus(truth).Norm() / truth.Norm() }
	w.Printf("%v, error %.2f; without the Laplacian %.0f\n", s.Status, off(s.X), off(plain.X))
	return nil
}

func Example_first() {
	run(3, unblur)
	// Output: converged, error 0.03; without the Laplacian 7
}

func invert(w *golops.World) error {
	g := wave.Grid{X: wave.Axis{N: 61, Step: 10}, Z: wave.Axis{N: 41, Step: 10}} // 600 m by 400 m
	velocity, t := make([]float64, g.Nodes()), make([]float64, 21)
	for i := range velocity {
		velocity[i] = 1500 + 1.5*g.Node(i).Z // it grows with depth
	}
	for i := range t {
		t[i] = 0.004 * float64(i)
	}
	ricker := golops.Must(wave.Ricker(t, 20))
	k := wave.KirchhoffOptions{Times: golops.Must(wave.NewEikonal(g, velocity, wave.EikonalDefaults())),
		Samples: 201, Interval: 0.004, Wavelet: ricker.W, Centre: ricker.Centre}
	for x := 0.0; x <= 600; x += 60 {
		k.Sources = append(k.Sources, wave.Point{X: x, Z: 10})
	}
	for x := 0.0; x <= 600; x += 20 {
		k.Receivers = append(k.Receivers, wave.Point{X: x, Z: 20})
	}
	A := golops.KirchhoffBySource[float64](w, k) // each rank has some of the sources
	truth := A.Domain().Func(func(i []int) float64 {
		if i[1] == 15 || i[1] == 25+i[0]/8 { // a flat reflector and one that dips
			return 1
		}
		return 0
	})
	data := A.Apply(truth)
	migrated := A.H().Apply(data)
	s := golops.CGLS(A, data, golops.Config{MaxIter: 30, RelTol: 1e-6})
	like := func(x golops.Vec[float64]) float64 { return x.Dot(truth) / x.Norm() / truth.Norm() } // their correlation
	w.Printf("like the truth: migrated %.2f, inverted %.2f after %d iterations\n", like(migrated), like(s.X), s.Iters)
	return nil
}

func Example_leastSquaresMigration() {
	run(2, invert)
	// Output: like the truth: migrated 0.46, inverted 0.93 after 30 iterations
}

// The programs of docs/programs.md are those of programs_test.go, word for word.
func TestDocumentsHoldPrograms(t *testing.T) {
	source, err := os.ReadFile("programs_test.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("docs/programs.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```go\n")[1:]
	if len(blocks) < 5 {
		t.Errorf("docs/programs.md has %d programs, want five", len(blocks))
	}
	for _, b := range blocks {
		if program, _, _ := strings.Cut(b, "```"); !strings.Contains(string(source), program) {
			t.Errorf("docs/programs.md: this is not in programs_test.go:\n%s", program)
		}
	}
}

// TestDocumentsHoldExamples compares the programs of the documents with the
// functions of this file, word for word, and lets vet look at them.
func TestDocumentsHoldExamples(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for file, name := range map[string]string{"README.md": "unblur", "docs/tutorials/lsm.md": "invert"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		programs := strings.Split(string(text), "```go\npackage main\n")[1:]
		if len(programs) != 1 {
			t.Fatalf("%s has %d programs, want one", file, len(programs))
		}
		program, _, _ := strings.Cut(programs[0], "```")
		_, body, _ := strings.Cut(program, ")\n\n") // behind the imports
		body, main, _ := strings.Cut(body, "func main()")
		if !strings.Contains(string(source), body) || main != " { golops.Main("+name+") }\n" {
			t.Errorf("%s: the program is not %s of example_test.go:\n%s", file, name, program)
		}
		if n := strings.Count(strings.TrimSpace(body), "\n") + 1; file == "README.md" && n > 15 {
			t.Errorf("%s: the program has %d lines, want 15", file, n)
		}
		copied := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(copied, []byte("package main\n"+program), 0o666); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "vet", copied).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
