package solve_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/fakegpu"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// budget is what a method keeps and does, as the package comment has it: vectors beside x
// and b, and per step the messages and the applications of A and Aᴴ.
type budget struct {
	m            solve.Method[float32, float32]
	domain, data int
	messages     int
	fwd, adj     int
	kind         int
}

// bothKinds is a function with a prox and a gradient.
type bothKinds interface {
	solve.Function[float32]
	Gradient(ctx context.Context, g, x dist.Array[float32]) error
}

// The kinds of problems.
const (
	anyA    = iota // more data than unknowns
	squareA        // a Hermitian operator
	noA            // none
)

// budgets has every method, with q for all functions. Those with a problem inside make n
// steps there.
func budgets(k linop.Operator[float32], q bothKinds) []budget {
	const n = 2
	f, smooth := solve.Function[float32](q), solve.Smooth[float32](q)
	l1 := solve.Shrinkage[float32]{Eps: 1e-3, Alpha: 0.1}
	back, keep := l1, solve.Shrinkage[float32]{Keep: 10, Alpha: 0.1}
	back.Backtrack = true
	term := []solve.L1Term[float32, float32]{{R: k, Weight: 0.1}}
	return []budget{
		{&solve.CG[float32]{}, 3, 0, 2, 1, 0, squareA},
		{&solve.CG[float32]{OneMessage: true}, 5, 0, 1, 1, 0, squareA},
		{&solve.MINRES[float32]{}, 6, 0, 2, 1, 0, squareA},
		{&solve.BiCGStab[float32]{}, 5, 0, 3, 2, 0, squareA},
		{&solve.GMRES[float32]{Restart: 8}, 8 + 2, 0, 2, 1, 0, squareA},
		{&solve.CGLS[float32, float32]{}, 2, 2, 2, 1, 1, anyA},
		{&solve.CGLS[float32, float32]{OneMessage: true}, 3, 4, 1, 1, 1, anyA},
		{&solve.LSQR[float32, float32]{}, 3, 2, 2, 1, 1, anyA},
		{&solve.Landweber[float32, float32]{Length: 0.1}, 2, 2, 1, 1, 1, anyA},
		{&solve.ISTA[float32, float32]{Shrinkage: l1}, 2, 1, 1, 1, 1, anyA},
		{&solve.ISTA[float32, float32]{Shrinkage: back}, 2, 2, 1, 1, 1, anyA},
		{&solve.FISTA[float32, float32]{Shrinkage: l1}, 2, 2, 1, 1, 1, anyA},
		{&solve.FISTA[float32, float32]{Shrinkage: back}, 3, 3, 1, 1, 1, anyA},
		{&solve.FISTA[float32, float32]{Shrinkage: l1, Monotone: true}, 3, 3, 1, 1, 1, anyA},
		{&solve.FISTA[float32, float32]{Shrinkage: keep}, 3, 2, 1 + 55, 1, 1, anyA},
		{&solve.BasisPursuit[float32, float32]{Sigma: 0.3}, 2, 2, -1, 1, 1, anyA},   // TestBasisPursuitMessages
		{&solve.OMP[float32, float32]{Steps: 1}, 7, 3, 3 + 2*1, 1 + 2, 1 + 2, anyA}, // columns are orthogonal: one step is enough
		{&solve.OMP[float32, float32]{Matching: true}, 5, 2, 3, 2, 1, anyA},
		{&solve.IRLS[float32, float32]{Eps: 0.1, Steps: n}, 4, 6, 2 + 2*n, n + 2, n + 1, anyA},
		{&solve.IRLS[float32, float32]{Model: true, Damp: 0.1, Steps: n}, 5, 4, 2 + 2*n, n + 2, n + 1, anyA},
		{&solve.SplitBregman[float32, float32]{L1: term, Steps: n}, 5, 3 + 6, 2 + 2*n, n + 2, n + 1, anyA},
		{&solve.SplitBregman[float32, float32]{L1: term, Steps: n, Shrinks: 3}, 5, 3 + 6, 1 + 3*(1+2*n), 3*(n+1) + 1, 3 * (n + 1), anyA},
		{&solve.ProximalPoint[float32]{F: f, Tau: 1}, 2, 0, 1, 0, 0, noA},
		{&solve.ProximalGradient[float32]{F: smooth, G: f, Weight: 1, Tau: 0.1}, 4, 0, 1, 0, 0, noA},
		{&solve.ProximalGradient[float32]{F: smooth, G: f, Weight: 1, Tau: 0.1, Backtrack: true, Shorten: 0.5, MaxBack: 1}, 4, 0, 1 + 1, 0, 0, noA},
		{&solve.GeneralizedProximalGradient[float32]{F: []solve.Smooth[float32]{q}, G: []solve.Function[float32]{q, q}, Tau: 0.1, Eta: 1}, 5 + 2, 0, 1, 0, 0, noA},
		{&solve.HQS[float32]{F: f, G: f, Tau: []float64{1}}, 3, 0, 1, 0, 0, noA},
		{&solve.ADMM[float32]{F: f, G: f, Tau: 1}, 4, 0, 1, 0, 0, noA},
		{&solve.ADMML2[float32, float32, float32]{G: f, K: k, Tau: 1, Inner: n}, 5, 2 + 6, 2 + 2*n, n + 1, n + 1, anyA},
		{&solve.LinearizedADMM[float32, float32]{F: f, G: f, Tau: 1, Mu: 0.1}, 2, 4, 1, 1, 1, anyA},
		{&solve.PrimalDual[float32, float32]{F: f, G: f, Tau: 0.1, Mu: 0.1, Theta: 1}, 2, 4, 1, 1, 1, anyA},
		{&solve.AdaptivePrimalDual[float32, float32]{F: f, G: f, Tau: 0.1, Mu: 0.1, Alpha: 0.5, Eta: 0.9, S: 1, Delta: 1.5}, 3, 5, 2, 1, 1, anyA},
		{&solve.TwIST[float32, float32]{G: f, Alpha: 1.2, Beta: 1.1}, 3, 1, 2, 1, 1, anyA},
	}
}

// quiet is ½‖x‖² as a function that sends nothing: its value is not needed.
type quiet[T scalar.Scalar] struct{}

func (quiet[T]) Value(context.Context, dist.Array[T]) (float64, error) { return 1, nil }

func (quiet[T]) Prox(_ context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
	dist.Scale(y, scalar.From[T](complex(1/(1+tau), 0)), x)
	return nil
}

func (quiet[T]) Gradient(_ context.Context, g, x dist.Array[T]) error {
	dist.Copy(g, x)
	return nil
}

// Methods keep as many vectors as the package comment says, send as many messages and
// apply A and Aᴴ as often.
func TestBudgets(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would give back what is counted
	const n, m = 1000, 40_000                        // half the sizes of x and b: memory tells how many there are of each
	err := testdevices.On(t.Context(), "hidden", 2, func(ctx context.Context, r dist.Proc) error {
		d := r.Device.(*fakegpu.Device)
		r, count, err := counted(ctx, r)
		if err != nil {
			return err
		}
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 2*n)
		if err != nil {
			return err
		}
		pad, err := ops.Resize[float32](ctx, x, 0, 2*m)
		if err != nil {
			return err
		}
		w, err := dist.FromFunc(ctx, x, func(i []int) float32 { return 0.02 + 0.9*float32(i[0])/(2*n) })
		if err != nil {
			return err
		}
		diag, err := ops.Diagonal(w)
		if err != nil {
			return err
		}
		tall, err := linop.Compose(pad, diag)
		if err != nil {
			return err
		}
		for _, k := range budgets(pad, quiet[float32]{}) {
			a := linop.Map[float32, float32](tall)
			if k.kind == squareA {
				a = diag
			}
			fwd, adj := 0, 0
			counting, err := linop.Func("counting", a.Domain(), a.Range(), func(ctx context.Context, dst, src dist.Array[float32]) error {
				fwd++
				return a.Forward(ctx, dst, src)
			}, func(ctx context.Context, dst, src dist.Array[float32]) error {
				adj++
				return a.Adjoint(ctx, dst, src)
			})
			if err != nil {
				return err
			}
			p := solve.Problem[float32, float32]{A: counting}
			if k.kind == noA {
				p.A = nil
			} else {
				z, err := dist.Random[float32](ctx, x, 3)
				if err != nil {
					return err
				}
				if p.B, err = linop.Apply(ctx, a, z); err != nil {
					return err
				}
			}
			y, err := dist.Random[float32](ctx, x, 4)
			if err != nil {
				return err
			}
			got := budget{m: k.m, kind: k.kind}
			before := d.Bytes
			w, err := solve.NewWorkspace(p, y, 0)
			if err != nil {
				return err
			}
			if _, err := w.Start(ctx, k.m); err != nil {
				return err
			}
			bytes := d.Bytes - before
			got.domain, got.data = bytes/4%m/n, bytes/4/m
			const steps = 3
			var sent [2]int // callbacks cost no message
			for i := range sent {
				dist.Fill(y, 0.1)
				count.Reset()
				c := solve.Config{MaxIter: 1 + steps*i, OnIter: func(it solve.Iteration) error {
					if it.K == 1 {
						fwd, adj = 0, 0
					}
					got.fwd, got.adj = fwd/steps, adj/steps
					return nil
				}}
				if _, err := solve.Run(ctx, k.m, p, y, c); err != nil {
					return fmt.Errorf("%s: %w", k.m.Name(), err)
				}
				sent[i] = count.Collectives()
			}
			if got.messages = (sent[1] - sent[0]) / steps; k.messages < 0 {
				got.messages = k.messages
			}
			if got != k {
				return fmt.Errorf("%s: %d vectors of the domain, %d of the range, %d messages, %d A and %d Aᴴ per step, want %d, %d, %d, %d and %d",
					k.m.Name(), got.domain, got.data, got.messages, got.fwd, got.adj, k.domain, k.data, k.messages, k.fwd, k.adj)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Every method has a budget.
func TestEveryMethodHasABudget(t *testing.T) {
	have := map[string]bool{}
	for _, k := range budgets(nil, quiet[float32]{}) {
		name, _, _ := strings.Cut(fmt.Sprintf("%T", k.m), "[")
		have[strings.TrimPrefix(name, "*solve.")] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Step" {
				continue
			}
			e := fn.Recv.List[0].Type.(*ast.StarExpr).X
			if i, ok := e.(*ast.IndexExpr); ok {
				e = i.X
			} else if i, ok := e.(*ast.IndexListExpr); ok {
				e = i.X
			}
			if name := e.(*ast.Ident).Name; !have[name] {
				t.Errorf("solve.%s has no row in budgets", name)
			}
		}
	}
	if len(have) < 20 {
		t.Errorf("%d methods only", len(have))
	}
}
