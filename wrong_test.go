package golops_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/golops/golops"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops"
)

// mistake is a program with a mistake on the line that its name marks.
type mistake struct {
	name    string
	want    []string // in the message, besides file and line
	ranks   int      // that it takes to be wrong; 0 means 1
	program golops.Program
}

var config = golops.Config{MaxIter: 10, RelTol: 1e-6}

var mistakes = []mistake{
	{"compose", []string{"compose: the shapes [60 41] and [60 40] differ", "the inner operator gives shape [60 41], axis 0", "the outer one takes shape [60 40], axis 0"}, 0, func(w *golops.World) error {
		D, S := golops.FirstDerivative(w.Real(60, 40), 0), golops.Smoothing1D(w.Real(60, 41), 0, 3)
		D.Times(S) // wrong: compose
		return nil
	}},
	{"apply", []string{"the shapes [30] and [60 40] differ", "is of shape [30], axis 0", "the operator takes shape [60 40], axis 0"}, 0, func(w *golops.World) error {
		golops.Identity(w.Real(60, 40)).Apply(w.Real(30).Zero()) // wrong: apply
		return nil
	}},
	{"apply to", []string{"the shapes [30] and [60 40] differ", "is of shape [30], axis 0", "the operator gives shape [60 40], axis 0"}, 0, func(w *golops.World) error {
		A := golops.Identity(w.Real(60, 40))
		A.ApplyTo(w.Real(30).Zero(), A.Domain().Zero()) // wrong: apply to
		return nil
	}},
	{"plus of operators", []string{"the shapes [60 40] and [40 60] differ", "operator 0 takes shape [60 40], axis 0", "operator 1 takes shape [40 60], axis 0"}, 0, func(w *golops.World) error {
		golops.Identity(w.Real(60, 40)).Plus(golops.Identity(w.Real(40, 60))) // wrong: plus of operators
		return nil
	}},
	{"minus of vectors", []string{"the shapes [60 40] and [30] differ", "of shape [60 40], axis 0", "of shape [30], axis 0"}, 0, func(w *golops.World) error {
		w.Real(60, 40).Zero().Minus(w.Real(30).Zero()) // wrong: minus of vectors
		return nil
	}},
	{"add in place", []string{"the shapes [8] and [7] differ", "of shape [8], axis 0", "of shape [7], axis 0"}, 0, func(w *golops.World) error {
		w.Real(7).Zero().AddScaled(2, w.Real(8).Zero()) // wrong: add in place
		return nil
	}},
	{"layouts", []string{"the layouts differ", "axis 0 split", "axis 1 split", "Redistribute"}, 2, func(w *golops.World) error {
		X := w.Real(6, 6)
		X.Zero().Dot(X.With(dist.Split(1)).Zero()) // wrong: layouts
		return nil
	}},
	{"axis", []string{"smoothing", "axis 2", "[60 40]"}, 0, func(w *golops.World) error {
		golops.Smoothing1D(w.Real(60, 40), 2, 3) // wrong: axis
		return nil
	}},
	{"ranks disagree", []string{"smoothing: ranks disagree: rank 0 has [60 40] axis 0", "rank 2 has [60 40] axis 1"}, 3, func(w *golops.World) error {
		golops.Smoothing1D(w.Real(60, 40), w.Rank()/2, 3) // wrong: ranks disagree
		return nil
	}},
	{"data", []string{"the shapes [61] and [60] differ: b is of shape [61]", "the operator gives shape [60]"}, 0, func(w *golops.World) error {
		golops.CGLS(golops.Identity(w.Real(60)), w.Real(61).Zero(), config) // wrong: data
		return nil
	}},
	{"start", []string{"the shapes [61] and [60] differ: x is of shape [61]", "the operator takes shape [60]"}, 0, func(w *golops.World) error {
		A := golops.Identity(w.Real(60))
		golops.LSQR(A, A.Range().Zero(), config, w.Real(61).Zero()) // wrong: start
		return nil
	}},
	{"two starts", []string{"2 values", "one or none"}, 0, func(w *golops.World) error {
		X := w.Real(60)
		golops.CG(golops.Identity(X), X.Zero(), config, X.Zero(), X.Zero()) // wrong: two starts
		return nil
	}},
	{"two options", []string{"2 values of ops.LaplacianOptions", "one or none"}, 0, func(w *golops.World) error {
		golops.Laplacian(w.Real(6, 6), ops.LaplacianOptions{}, ops.LaplacianOptions{}) // wrong: two options
		return nil
	}},
	{"negative shape", []string{"axis 1 of [4 -3] is negative"}, 0, func(w *golops.World) error {
		w.Real(4, -3) // wrong: negative shape
		return nil
	}},
	{"no Vec", []string{"the Vec was never made"}, 0, func(w *golops.World) error {
		var y golops.Vec[float64]
		w.Real(4).Zero().Plus(y) // wrong: no Vec
		return nil
	}},
	{"no Op", []string{"the Op was never made"}, 0, func(w *golops.World) error {
		var A golops.Op[float64, float64]
		golops.VStack(golops.Identity(w.Real(4)), A) // wrong: no Op
		return nil
	}},
	{"no Space", []string{"the Space was never made"}, 0, func(w *golops.World) error {
		var X golops.Space[float64]
		golops.FirstDerivative(X, 0) // wrong: no Space
		return nil
	}},
	{"no World", []string{"there is no World"}, 0, func(*golops.World) error {
		var w *golops.World
		w.Real(3) // wrong: no World
		return nil
	}},
	{"alone and split", []string{"different worlds", "[4], axis 0"}, 0, func(w *golops.World) error {
		X := w.Real(4)
		X.Zero().Plus(X.Alone().Zero()) // wrong: alone and split
		return nil
	}},
	{"operator of all ranks", []string{"BlockDiagRanks", "World.Alone", "Identity"}, 0, func(w *golops.World) error {
		golops.BlockDiagRanks(w, golops.Identity(w.Real(4))) // wrong: operator of all ranks
		return nil
	}},
	{"whole matrix", []string{"matrix", "give this rank's rows"}, 2, func(w *golops.World) error {
		golops.MatrixMult(w.Real(6), 6, make([]float64, 36)) // wrong: whole matrix
		return nil
	}},
	{"not square", []string{"not square", "[9]", "[6]", "LeastSquares"}, 0, func(w *golops.World) error {
		X := w.Real(6)
		A := golops.Pad(X, []int{1}, []int{2})
		golops.Solve(A, A.Range().Zero(), config) // wrong: not square
		return nil
	}},
	{"stack of operators", []string{"the shapes [5] and [6] differ", "operator 0 takes shape [5]", "operator 1 takes shape [6]"}, 0, func(w *golops.World) error {
		golops.VStack(golops.Identity(w.Real(5)), golops.Identity(w.Real(6))) // wrong: stack of operators
		return nil
	}},
	{"stack of none", []string{"no operators"}, 0, func(w *golops.World) error {
		golops.HStack[float64, float64]() // wrong: stack of none
		return nil
	}},
	{"part", []string{"part 2", "which has 2"}, 0, func(w *golops.World) error {
		x := w.Real(5).Zero()
		golops.Stack(x, x).Part(2) // wrong: part
		return nil
	}},
	{"block", []string{"6 elements", "[2]"}, 3, func(w *golops.World) error {
		w.Real(6).Block(make([]float64, 6)) // wrong: block
		return nil
	}},
	{"scatter", []string{"[6]", "5"}, 0, func(w *golops.World) error {
		w.Real(6).Scatter(make([]float64, 5)) // wrong: scatter
		return nil
	}},
	{"power", []string{"the shapes [8] and [6] differ", "it gives shape [8]", "it takes shape [6]"}, 0, func(w *golops.World) error {
		golops.Pad(w.Real(6), []int{1}, []int{1}).Power(2) // wrong: power
		return nil
	}},
	{"types", []string{"float64 and complex128", "Realᴴ"}, 0, func(w *golops.World) error {
		golops.Real(w.Complex(6)).H().Power(2) // wrong: types
		return nil
	}},
	{"kernel", []string{"the shapes [6] and [3] differ"}, 0, func(w *golops.World) error {
		X := w.Real(6)
		golops.NewOp(X, X, badKernel{w.Real(3).Zero()}).Apply(X.Zero())
		return nil
	}},
	{"adjoint", []string{"dot test", "badAdjoint"}, 0, func(w *golops.World) error {
		X := w.Real(6)
		golops.Check(golops.NewOp(X, X, badAdjoint{}).DotTest()) // wrong: adjoint
		return nil
	}},
	{"config", []string{"MaxIter is -1"}, 0, func(w *golops.World) error {
		X := w.Real(6)
		golops.CGLS(golops.Identity(X), X.Zero(), golops.Config{MaxIter: -1}) // wrong: config
		return nil
	}},
	{"index", []string{"restriction", "index 1 is 9", "0 to 5"}, 0, func(w *golops.World) error {
		golops.Restriction(w.Real(6), 0, []int{1, 9}) // wrong: index
		return nil
	}},
	{"file", []string{"nothing.npy"}, 0, func(w *golops.World) error {
		golops.Must(w.Real(6).Load("nothing.npy")) // wrong: file
		return nil
	}},
	{"on rank 0 only", []string{"rank 0", "AllReduce"}, 2, func(w *golops.World) error {
		x := w.Real(6).Zero()
		if w.Rank() == 0 {
			x.Norm() // wrong: on rank 0 only
		}
		return nil
	}},
	{"rank 2 only", []string{"rank 2: ", "axis 1 of [4 -3] is negative"}, 3, func(w *golops.World) error {
		X := w.Real(60, 40)
		if w.Rank() == 2 {
			w.Alone().Real(4, -3) // wrong: rank 2 only
		}
		X.Zero().Norm()
		return nil
	}},
	{"compose on rank 2", []string{"rank 2: ", "the shapes [4] and [5] differ"}, 3, func(w *golops.World) error {
		I := golops.Identity(w.Alone().Real(4))
		if w.Rank() == 2 {
			golops.Compose(golops.Identity(w.Alone().Real(5)), I) // wrong: compose on rank 2
		}
		golops.CGLS(golops.BlockDiagRanks(w, I), golops.BlockDiagRanks(w, I).Range().Random(1), config)
		return nil
	}},
}

type badKernel struct{ z golops.Vec[float64] }

func (k badKernel) Forward(y, x golops.Vec[float64]) { y.Copy(k.z) } // wrong: kernel
func (k badKernel) Adjoint(x, y golops.Vec[float64]) { x.Copy(y) }

type badAdjoint struct{}

func (badAdjoint) Forward(y, x golops.Vec[float64]) { y.Fill(x.Sum()) }
func (badAdjoint) Adjoint(x, y golops.Vec[float64]) { x.Copy(y) }

// at returns file:line of the mistake.
func (p mistake) at(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("wrong_test.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(text) {
		if n++; bytes.HasSuffix(bytes.TrimSpace(line), []byte("// wrong: "+p.name)) {
			return fmt.Sprint("wrong_test.go:", n)
		}
	}
	t.Fatalf("no line is marked %q", p.name)
	return ""
}

// Each wrong program ends on all ranks, with one message that names file, line and
// reason.
func TestWrongPrograms(t *testing.T) {
	for _, p := range mistakes {
		for _, ranks := range []int{1, 3} {
			if ranks < p.ranks {
				continue
			}
			t.Run(fmt.Sprintf("%s/ranks=%d", p.name, ranks), func(t *testing.T) {
				err := golops.Run(t.Context(), launch.Config{Ranks: ranks}, p.program)
				var e *golops.Error
				if !errors.As(err, &e) {
					t.Fatalf("the error is %v, want an *Error", err)
				}
				if e.At != p.at(t) {
					t.Errorf("it is at %s, want %s", e.At, p.at(t))
				}
				p.check(t, err.Error())
			})
		}
	}
}

// check looks at a message.
func (p mistake) check(t *testing.T, text string) {
	t.Helper()
	if n := strings.Count(text, p.at(t)); n != 1 || strings.Contains(strings.TrimSpace(text), "\n") {
		t.Errorf("%s is named %d times, want one message of one line", p.at(t), n)
	}
	for _, want := range p.want {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the message", want)
		}
	}
	if t.Failed() || testing.Verbose() {
		t.Log(text)
	}
}

// Under mpirun, standard error has the message once, and the exit code is not 0.
func TestWrongUnderMPI(t *testing.T) {
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		for _, p := range mistakes {
			switch p.name {
			case "compose", "ranks disagree", "rank 2 only":
			default:
				continue
			}
			t.Run(p.name, func(t *testing.T) {
				c := m.Command(t.Context(), 3, os.Args[0])
				c.Env = append(c.Env, childVar+"="+p.name)
				var stderr bytes.Buffer
				c.Stderr = &stderr
				var exit *exec.ExitError
				if err := c.Run(); !errors.As(err, &exit) {
					t.Errorf("mpirun ended with %v, want an exit code", err)
				}
				var lines []string
				for line := range strings.Lines(stderr.String()) { // of ours, not of mpirun's
					if strings.Contains(line, "_test.go:") {
						lines = append(lines, line)
					}
				}
				p.check(t, strings.Join(lines, ""))
			})
		}
	})
}
