package golops_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/golops/golops"
	"github.com/golops/golops/internal/gpusim"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops"
)

// derivative inverts y = (D + λI)·x.
func derivative(w *golops.World) error {
	X := w.Real(60, 40)
	D := golops.FirstDerivative(X, 0, ops.DerivativeOptions{Sampling: 1, Edge: true})
	A := D.Plus(golops.Identity(X).Scaled(0.5))
	x := X.Func(func(i []int) float64 { return math.Sin(float64(i[0])/7) + math.Cos(float64(i[1])/5) })
	s := golops.CGLS(A, A.Apply(x), golops.Config{MaxIter: 300, RelTol: 1e-10})
	w.Printf("derivative: %v, error below 1e-6: %v\n", s.Status, s.X.Minus(x).Norm() < 1e-6*x.Norm())
	return nil
}

// blocks has one matrix per rank on the diagonal, solved by CG.
func blocks(w *golops.World) error {
	const n = 8
	a := make([]float64, n*n)
	for i := range n {
		a[i*n+i] = 4 + float64(w.Rank())
		if i > 0 {
			a[i*n+i-1], a[(i-1)*n+i] = -1, -1
		}
	}
	A := golops.BlockDiagRanks(w, golops.MatrixMult(w.Alone().Real(n), n, a))
	x := A.Domain().Random(1)
	s := golops.CG(A, A.Apply(x), golops.Config{MaxIter: 100, RelTol: 1e-12})
	w.Printf("blocks: %v, error below 1e-10: %v\n", s.Status, s.X.Minus(x).Norm() < 1e-10*x.Norm())
	return nil
}

// regularised minimises ‖B·x - y‖² + ‖εL·x‖² on a 3-D array. B smooths each rank's
// block.
func regularised(w *golops.World) error {
	X := w.Real(12, 10, 8)
	B := golops.BlockDiagRanks(w, golops.Smoothing1D(X.Alone(), 1, 3))
	L := golops.Laplacian(X, ops.LaplacianOptions{Axes: []int{0, 1, 2}})
	A := golops.VStack(B, L.Scaled(0.1))
	y := B.Apply(X.Random(1))
	s := golops.CGLS(A, golops.Stack(y, X.Zero()), golops.Config{MaxIter: 200, GradTol: 1e-8})
	w.Printf("regularised: %v, data fit %.4f, roughness %.4f\n", s.Status, B.Apply(s.X).Minus(y).Norm()/y.Norm(), L.Apply(s.X).Norm())
	return nil
}

// Demean is y = x - mean(x), an operator of the user's own. It is its own adjoint.
type Demean struct{}

func (Demean) Forward(y, x golops.Vec[float64]) {
	y.Fill(-x.Sum() / float64(x.Space().Size()))
	y.AddScaled(1, x)
}

func (d Demean) Adjoint(x, y golops.Vec[float64]) { d.Forward(x, y) }

// own composes the user's operator, tests it and solves.
func own(w *golops.World) error {
	X := w.Real(30, 7)
	W := golops.Diagonal(X.Func(func(i []int) float64 { return 1 + float64(i[0])/30 }))
	A := golops.NewOp(X, X, Demean{}).Times(W).Plus(golops.Identity(X).Scaled(0.1))
	golops.Check(A.DotTest())
	x := X.Random(2)
	s := golops.LSQR(A, A.Apply(x), golops.Config{MaxIter: 100, RelTol: 1e-12})
	w.Printf("own: %v, error below 1e-8: %v\n", s.Status, s.X.Minus(x).Norm() < 1e-8*x.Norm())
	return nil
}

// mixed has a real model and complex data.
func mixed(w *golops.World) error {
	X, Y := w.Real(40), w.Complex(40)
	F := golops.Real(Y).H() // stands for a Fourier transform: ℝ → ℂ
	W := golops.Diagonal(Y.Func(func(i []int) complex128 { return complex(2, float64(i[0])/10) }))
	D := golops.FirstDerivative(X, 0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeForward}).Plus(golops.Identity(X).Scaled(2))
	A := golops.Compose(W, F).Times(D) // ℝ → ℝ → ℂ → ℂ
	x := X.Random(3)
	s := golops.CGLS(A, A.Apply(x), golops.Config{MaxIter: 200, RelTol: 1e-12})
	w.Printf("mixed: %v, error below 1e-9: %v\n", s.Status, s.X.Minus(x).Norm() < 1e-9*x.Norm())
	return nil
}

// programs runs the five programs.
func programs(w *golops.World) error {
	for _, p := range []golops.Program{derivative, blocks, regularised, own, mixed} {
		if err := p(w); err != nil {
			return err
		}
	}
	return nil
}

// printed is what the five programs print, on any number of ranks.
const printed = `derivative: converged, error below 1e-6: true
blocks: converged, error below 1e-10: true
regularised: converged, data fit 0.3343, roughness 32.7254
own: converged, error below 1e-8: true
mixed: converged, error below 1e-9: true
`

func run(ranks int, p golops.Program) {
	if err := golops.Run(context.Background(), launch.Config{Ranks: ranks}, p); err != nil {
		fmt.Println(err)
	}
}

// runEach runs a program on one, two and three ranks. It prints the same on all.
func runEach(p golops.Program) {
	for ranks := 1; ranks <= 3; ranks++ {
		run(ranks, p)
	}
}

func Example_derivative() {
	runEach(derivative)
	// Output:
	// derivative: converged, error below 1e-6: true
	// derivative: converged, error below 1e-6: true
	// derivative: converged, error below 1e-6: true
}

func Example_blocks() {
	runEach(blocks)
	// Output:
	// blocks: converged, error below 1e-10: true
	// blocks: converged, error below 1e-10: true
	// blocks: converged, error below 1e-10: true
}

func Example_regularised() {
	runEach(regularised)
	// Output:
	// regularised: converged, data fit 0.3343, roughness 32.7254
	// regularised: converged, data fit 0.3343, roughness 32.7254
	// regularised: converged, data fit 0.3343, roughness 32.7254
}

func Example_own() {
	runEach(own)
	// Output:
	// own: converged, error below 1e-8: true
	// own: converged, error below 1e-8: true
	// own: converged, error below 1e-8: true
}

func Example_mixed() {
	runEach(mixed)
	// Output:
	// mixed: converged, error below 1e-9: true
	// mixed: converged, error below 1e-9: true
	// mixed: converged, error below 1e-9: true
}

// The bodies of the five programs take 55 lines together.
func TestProgramsAreShort(t *testing.T) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "programs_test.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	lines, found := 0, 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		switch f.Name.Name {
		case "derivative", "blocks", "regularised", "own", "mixed", "Forward", "Adjoint":
			found++
			lines += max(1, files.Position(f.Body.Rbrace).Line-files.Position(f.Body.Lbrace).Line-1)
		}
	}
	if found != 7 || lines > 55 {
		t.Errorf("%d functions have %d lines of body, want 7 with 55 at most", found, lines)
	}
}

func TestProgramsUnderMPI(t *testing.T) {
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		c := m.Command(t.Context(), 2, os.Args[0])
		c.Env = append(c.Env, childVar+"=programs")
		if out, err := c.Output(); err != nil || string(out) != printed {
			t.Errorf("%v, printed:\n%s", err, out)
		}
	})
}

// The five programs run on two simulated GPUs as they are.
func TestProgramsOnGPUs(t *testing.T) {
	dir, err := gpusim.Build()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), childVar+"=programs", "GOLOPS_DEVICE=cuda", "GOLOPS_CUDA="+dir, "GOLOPS_NCCL="+dir, "GPUSIM_DEVICES=2")
	var stderr strings.Builder
	c.Stderr = &stderr
	if out, err := c.Output(); err != nil || string(out) != printed || !strings.Contains(stderr.String(), "cuda:1") {
		t.Errorf("%v, printed:\n%s%s", err, out, stderr.String())
	}
}
