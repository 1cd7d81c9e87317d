package golops_test

import (
	"errors"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/ops/wave"
)

// TestPyLopsTutorials compares the programs in Go of the page with the examples,
// word for word.
func TestPyLopsTutorials(t *testing.T) {
	source, err1 := os.ReadFile("pylops_example_test.go")
	page, err2 := os.ReadFile("docs/pylops-tutorials.md")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	shown := strings.Split(string(page), "```go\n")[1:]
	if want := strings.Count(string(source), "\nfunc Example_pylops") + 1; len(shown) != want {
		t.Errorf("the page has %d blocks of Go, want %d", len(shown), want)
	}
	for _, block := range shown {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(string(source), code) {
			t.Errorf("this is not in pylops_example_test.go:\n%s", code)
		}
	}
	for line := range strings.Lines(string(source)) {
		if _, output, ok := strings.Cut(strings.TrimSpace(line), "// Output: "); ok && !strings.Contains(output, "dot") &&
			!strings.Contains(string(page), "Both print `"+output+"`") {
			t.Errorf("the page does not say that the programs print %q", output)
		}
	}
}

// These are the public names of PyLops-MPI 0.8.0.
const pylopsNames = `DistributedArray Partition StackedDistributedArray local_split subcomm_split to_scalar
	DistributedMixIn MPILinearOperator asmpilinearoperator MPIStackedLinearOperator MPIBlockDiag MPIStackedBlockDiag
	MPIStackedVStack MPIVStack MPIHStack MPIFirstDerivative MPISecondDerivative MPILaplacian MPIGradient MPIHalo
	halo_block_split MPIMatrixMult active_grid_comm block_gather local_block_split MPIFredholm1 MPIFFT2D MPIFFTND
	MPINonStationaryConvolve1D MPIMDC cg cgls CG CGLS fista ista FISTA ISTA power_iteration MPIProxOperator MPIL2 MPIL21
	ADMML2 ProximalGradient PrimalDual plot_distributed_array plot_local_arrays benchmark mark dottest reshaped
	mpi4py_fft_import nccl_import fftshift_nd ifftshift_nd mpi_allgather mpi_allreduce mpi_bcast mpi_recv mpi_send
	mpi_sendrecv mpi_op_to_nccl initialize_nccl_comm nccl_split nccl_allgather nccl_allreduce nccl_bcast nccl_asarray
	nccl_send nccl_recv nccl_sendrecv NcclOp`

// aMethod is one of the World w, a space X, a vector x or y, or an operator A or B.
var aMethod = regexp.MustCompile(`\b([wXxyAB])\.([A-Z]\w*)`)

// TestPyLopsNames asks for every public name of PyLops-MPI in the first column of a
// table, and for the methods that the page names.
func TestPyLopsNames(t *testing.T) {
	page, err := os.ReadFile("docs/pylops.md")
	if err != nil {
		t.Fatal(err)
	}
	var column []string
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			column = append(column, strings.FieldsFunc(cells[1], func(r rune) bool {
				return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
			})...)
		}
	}
	for _, code := range inCode.FindAllString(string(page), -1) {
		for _, m := range aMethod.FindAllStringSubmatch(code, -1) {
			of := map[string]string{"w": `\*World`, "X": "Space", "x": "Vec", "y": "Vec", "A": "Op", "B": "Op"}[m[1]]
			if !declares(t, "golops", `(?m)^func \(\w+ `+of+`\b[^)]*\) `+m[2]+`\(`, false) {
				t.Errorf("there is no method %s", m[0])
			}
		}
	}
	for _, name := range strings.Fields(pylopsNames) {
		if !slices.Contains(column, name) {
			t.Errorf("docs/pylops.md does not say what %s is in golops", name)
		}
	}
}

// TestUnlikePyLops shows where golops differs from PyLops 2.8 on purpose, as
// docs/pylops.md says.
func TestUnlikePyLops(t *testing.T) {
	on := func(name string, p golops.Program) {
		t.Run(name, func(t *testing.T) {
			if err := golops.Run(t.Context(), launch.Config{Ranks: 2}, p); err != nil {
				t.Error(err)
			}
		})
	}
	on("five points on three samples", func(w *golops.World) error {
		D := golops.FirstDerivative(w.Real(3), 0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeCentered5, Edge: true})
		want := [][]float64{{-1, 1, 0}, {-0.5, 0, 0.5}, {0, -1, 1}}
		for i, row := range D.Dense() {
			if !slices.Equal(row, want[i]) {
				t.Errorf("row %d is %v, want %v", i, row, want[i])
			}
		}
		return D.DotTest()
	})
	on("smoothing along axes 1 and 0", func(w *golops.World) error {
		X := w.Real(7, 7)
		y := golops.Smoothing2D(X, [2]int{1, 0}, [2]int{3, 5}).Apply(X.Func(func(i []int) float64 {
			if i[0] == 3 && i[1] == 3 {
				return 15
			}
			return 0
		})).Gather()
		for i, v := range y {
			want := 0.0
			if row, col := i/7-3, i%7-3; -2 <= row && row <= 2 && -1 <= col && col <= 1 { // 5 along axis 0, 3 along axis 1
				want = 1
			}
			if math.Abs(v-want) > 1e-14 {
				t.Errorf("element %d, %d is %g, want %g", i/7, i%7, v, want)
			}
		}
		return nil
	})
	for name, p := range map[string]func(X golops.Space[float64]){
		"sampling is -1": func(X golops.Space[float64]) {
			golops.FirstDerivative(X, 0, ops.DerivativeOptions{Sampling: -1})
		},
		"offset is -1": func(X golops.Space[float64]) { golops.Convolve1D(X, 0, []float64{1, 2, 3}, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			err := golops.Run(t.Context(), launch.Config{Ranks: 2}, func(w *golops.World) error { p(w.Real(6)); return nil })
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v, want an error with %q", err, name)
			}
		})
	}
	on("stations far outside the grid", func(w *golops.World) error {
		g := wave.Grid{X: wave.Axis{N: 5, Step: 10}, Z: wave.Axis{N: 4, Origin: 10, Step: 10}}
		v := slices.Repeat([]float64{1000}, g.Nodes())
		sources, receivers := []wave.Point{{X: -10}}, []wave.Point{{X: 120}} // 13 cells apart: PyLops drops two rows
		weights := golops.Must(wave.NewDynamic(g, v, sources, receivers, wave.Taper{}, wave.Taper{}))
		A := golops.KirchhoffBySource[float64](w, wave.KirchhoffOptions{Times: golops.Must(wave.NewConstant(g, 1000)),
			Sources: sources, Receivers: receivers, Samples: 201, Interval: 0.004, Weights: weights})
		sums := make([]float64, g.Nodes())
		for _, row := range A.Dense() {
			for i, a := range row {
				sums[i] += math.Abs(a)
			}
		}
		if slices.Min(sums) == 0 {
			t.Errorf("some image points are left out: %v", sums)
		}
		return nil
	})
}
