package golops_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/solve"
)

// Mean is y = (x₁ + x₂ + ... + xₙ)/n. The ranks share x, and each holds y.
type Mean struct{ linop.Spaces }

func (m Mean) Forward(ctx context.Context, dst, src dist.Array[float64]) error {
	sum, err := dist.Sum(ctx, src) // over all ranks, in one message
	dist.Fill(dst, sum/float64(m.Dom.Size()))
	return err
}

func (m Mean) Adjoint(ctx context.Context, dst, src dist.Array[float64]) error {
	y, err := dist.Sum(ctx, src) // of the one element that each rank holds: no message
	dist.Fill(dst, y/float64(m.Dom.Size()))
	return err
}

func Example_operator() {
	for ranks := 1; ranks <= 3; ranks++ {
		err := launch.Config{Ranks: ranks}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
			x, err1 := dist.NewSpace(ctx, r, dist.Layout{}, 7, 5) // the 7 rows are split over the ranks
			y, err2 := dist.NewSpace(ctx, r, dist.Replicated, 1)
			return errors.Join(err1, err2, optest.Dot(ctx, Mean{linop.Spaces{Dom: x, Rng: y}}))
		})
		fmt.Println("ranks:", ranks, "error:", err)
	}
	// Output:
	// ranks: 1 error: <nil>
	// ranks: 2 error: <nil>
	// ranks: 3 error: <nil>
}

func Example_ranks() {
	c := launch.Config{Ranks: 4} // mpirun, mpiexec and srun decide for themselves
	err := c.Run(context.Background(), func(ctx context.Context, r dist.Proc) error {
		sum := []float64{float64(r.Rank() + 1)}
		if err := r.AllReduce(ctx, comm.Of(sum), comm.Of(sum), comm.Sum); err != nil {
			return err
		}
		fmt.Printf("rank %d of %d: sum %g\n", r.Rank(), r.Size(), sum[0])
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Unordered output:
	// rank 0 of 4: sum 10
	// rank 3 of 4: sum 10
	// rank 1 of 4: sum 10
	// rank 2 of 4: sum 10
}

// must returns v. A panic on one rank ends the calls of all, as an error does.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func invert(ctx context.Context, r dist.Proc) error {
	g := wave.Grid{X: wave.Axis{N: 61, Step: 10}, Z: wave.Axis{N: 41, Step: 10}} // 600 m by 400 m
	velocity, t := make([]float64, g.Nodes()), make([]float64, 21)
	for i := range velocity {
		velocity[i] = 1500 + 1.5*g.Node(i).Z // it grows with depth
	}
	for i := range t {
		t[i] = 0.004 * float64(i)
	}
	w := must(wave.Ricker(t, 20))
	k := wave.KirchhoffOptions{Times: must(wave.NewEikonal(g, velocity, wave.EikonalDefaults())),
		Samples: 201, Interval: 0.004, Wavelet: w.W, Centre: w.Centre}
	for x := 0.0; x <= 600; x += 60 {
		k.Sources = append(k.Sources, wave.Point{X: x, Z: 10})
	}
	for x := 0.0; x <= 600; x += 20 {
		k.Receivers = append(k.Receivers, wave.Point{X: x, Z: 20})
	}
	a := must(wave.KirchhoffBySource[float64](ctx, r, k)) // each rank has some of the sources
	truth := must(dist.FromFunc(ctx, a.Domain(), func(i []int) float64 {
		if i[1] == 15 || i[1] == 25+i[0]/8 { // a flat reflector and one that dips
			return 1
		}
		return 0
	}))
	data := must(linop.Apply(ctx, a, truth))
	migrated := must(linop.Apply(ctx, linop.H(a), data))
	x := must(dist.New[float64](a.Domain()))
	res := must(solve.Run(ctx, &solve.CGLS[float64, float64]{}, solve.Problem[float64, float64]{A: a, B: data}, x, solve.Config{MaxIter: 30, RelTol: 1e-6}))
	like := func(m dist.Array[float64]) float64 { // correlation; each rank holds all of an image, so nothing is sent
		return must(dist.Dot(ctx, m, truth)) / must(dist.Norm(ctx, m, 2)) / must(dist.Norm(ctx, truth, 2))
	}
	if r.Rank() == 0 {
		fmt.Printf("like the truth: migrated %.2f, inverted %.2f after %d iterations\n", like(migrated), like(x), res.Iters)
	}
	return nil
}

func Example_leastSquaresMigration() {
	if err := (launch.Config{Ranks: 2}).Local(context.Background(), invert); err != nil {
		log.Fatal(err)
	}
	// Output: like the truth: migrated 0.46, inverted 0.93 after 30 iterations
}

// TestDocumentsHoldExamples compares the programs of the documents with the
// examples of this file, word for word, and lets vet look at them.
func TestDocumentsHoldExamples(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for file, examples := range map[string][]string{
		"README.md":             {"Example_operator", "Example_ranks"},
		"docs/tutorials/lsm.md": {"Example_leastSquaresMigration"},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		programs := strings.Split(string(text), "```go\npackage main\n")[1:]
		if len(programs) != len(examples) {
			t.Fatalf("%s has %d programs, want %d", file, len(programs), len(examples))
		}
		for i, example := range examples {
			program, _, _ := strings.Cut(programs[i], "```")
			_, body, _ := strings.Cut(program, ")\n\n") // behind the imports
			body = strings.TrimSuffix(strings.Replace(body, "func main() {", "func "+example+"() {", 1), "}\n")
			if !strings.Contains(string(source), body) {
				t.Errorf("%s: the program is not %s, which is in example_test.go:\n%s", file, example, body)
			}
			main := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(main, []byte("package main\n"+program), 0o666); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("go", "vet", main).CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", file, example, err, out)
			}
			if n := strings.Count(program, "\n") + 1; example == "Example_operator" && n >= 40 {
				t.Errorf("%s: the program has %d lines, want less than 40", file, n)
			}
		}
	}
}
