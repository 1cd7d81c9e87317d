package solve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// splittingCases are what testdata/solve/make_splitting.py writes.
type splittingCases struct {
	Complex bool
	Arrays  map[string]jsonArray
	Cases   []struct {
		Name string
		X    jsonArray
		Cost []float64
	}
}

// jsonArray is a matrix or a vector.
type jsonArray struct {
	Shape  []int
	Re, Im []float64
}

func elements[T scalar.Scalar](a jsonArray) []T {
	out := make([]T, len(a.Re))
	for i, re := range a.Re {
		im := 0.0
		if a.Im != nil {
			im = a.Im[i]
		}
		out[i] = scalar.From[T](complex(re, im))
	}
	return out
}

func readSplitting(t *testing.T) (all []splittingCases) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "solve", "splitting.json"))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// parts are what the methods of the cases are made of.
type splittingParts[T scalar.Scalar] struct {
	x             *dist.Space
	a, k, k1      linop.Operator[T]
	b, c, z       dist.Array[T]
	f, near       prox.Function[T] // ½‖A·x - b‖² and ½‖x - c‖²
	l1, wide, l21 prox.Function[T] // ½‖x‖₁ of the domain, of the range of K; ½‖·‖₂₁ of it
	quarter       prox.Function[T] // ¼‖x‖₁
	narrow        prox.Function[T] // ½‖·‖₁ of the range of K1
	small         linop.Operator[T]
}

// built collects the first error of several constructors.
type built struct{ err error }

func build[V any](b *built, v V, err error) V {
	if b.err == nil {
		b.err = err
	}
	return v
}

func newSplittingParts[T scalar.Scalar](ctx context.Context, r dist.Proc, s splittingCases) (p splittingParts[T], err error) {
	var e built
	op := func(name string) linop.Operator[T] {
		m := s.Arrays[name]
		a, err := matrix(ctx, r, m.Shape[0], m.Shape[1], elements[T](m))
		return build(&e, a, err)
	}
	p.a, p.k1 = op("A"), op("K1")
	k2 := op("K2")
	if e.err != nil {
		return p, e.err
	}
	p.x = p.a.Domain()
	// The matrices have spaces of their own that are equal.
	v, err := linop.VStack(p.k1, k2)
	p.k = build(&e, v, err)
	vec := func(name string, s2 *dist.Space) dist.Array[T] {
		v, err := vector(ctx, s2, elements[T](s.Arrays[name]))
		return build(&e, v, err)
	}
	p.b, p.c, p.z = vec("b", p.a.Range()), vec("c", p.x), vec("z", p.x)
	if e.err != nil {
		return p, e.err
	}
	small, err := linop.Scale(scalar.From[T](0.125), p.a)
	p.small = build(&e, small, err)
	fn := func(f prox.Function[T], err error) prox.Function[T] { return build(&e, f, err) }
	p.f, p.near = fn(prox.L2Operator(ctx, p.a, p.b, 1, prox.InnerDefaults())), fn(prox.L2(ctx, p.x, p.c, 1))
	p.l1, p.quarter = fn(prox.L1[T](ctx, p.x, 0.5)), fn(prox.L1[T](ctx, p.x, 0.25))
	p.wide, p.l21, p.narrow = fn(prox.L1[T](ctx, p.k.Range(), 0.5)), fn(prox.L21[T](ctx, p.k.Range(), 0.5)), fn(prox.L1[T](ctx, p.k1.Range(), 0.5))
	return p, e.err
}

// method returns the method of a case, and its problem.
func (p *splittingParts[T]) method(name string) (solve.Method[T, T], solve.Problem[T, T]) {
	type problem = solve.Problem[T, T]
	first := strings.HasSuffix(name, "True")
	momentum := solve.NoMomentum
	switch {
	case strings.HasSuffix(name, "vandenberghe"):
		momentum = solve.Vandenberghe
	case strings.HasSuffix(name, "fista"):
		momentum = solve.FISTAMomentum
	}
	k, g := p.k, p.wide
	if strings.HasPrefix(name, "mpi ") {
		name, k, g = name[4:], p.k1, p.narrow
	}
	smooth := p.f.(solve.Smooth[T])
	switch what, _, _ := strings.Cut(name, " "); what {
	case "ProximalGradient":
		m := &solve.ProximalGradient[T]{F: smooth, G: p.l1, Weight: 0.75, Tau: 0.0625, Momentum: momentum}
		switch name {
		case "ProximalGradient eta":
			m.Relax = 0.75
		case "ProximalGradient backtracking":
			m = &solve.ProximalGradient[T]{F: smooth, G: p.l1, Weight: 1, Tau: 2, Momentum: solve.FISTAMomentum, Backtrack: true, Shorten: 0.5, MaxBack: 100}
		}
		return m, problem{}
	case "ProximalPoint":
		return &solve.ProximalPoint[T]{F: p.l1, Tau: 0.125}, problem{}
	case "GeneralizedProximalGradient":
		return &solve.GeneralizedProximalGradient[T]{F: []solve.Smooth[T]{smooth, p.near.(solve.Smooth[T])}, G: []solve.Function[T]{p.l1, p.quarter},
			Weights: []float64{1, 0.5}, Shares: []float64{0.25, 0.75}, Tau: 0.03125, Eta: 1, Momentum: momentum}, problem{}
	case "HQS":
		return &solve.HQS[T]{F: p.near, G: p.l1, Tau: []float64{0.25}, FFirst: !first}, problem{}
	case "ADMM":
		return &solve.ADMM[T]{F: p.near, G: p.l1, Tau: 0.25, GFirst: first}, problem{}
	case "PrimalDual":
		m := &solve.PrimalDual[T, T]{F: p.near, G: g, Tau: 0.25, Mu: 0.125, Theta: 1, XFirst: strings.HasSuffix(name, "False")}
		switch name {
		case "PrimalDual theta and z":
			m.Theta, m.Z = 0.5, p.z
		case "PrimalDual L21":
			m.G = p.l21
		}
		return m, problem{A: k}
	case "ADMML2":
		m := &solve.ADMML2[T, T, T]{G: g, K: k, Tau: 0.25, GFirst: first, Inner: 40}
		if name == "ADMML2 three steps" {
			m.Inner = 3
		}
		return m, problem{A: p.a, B: p.b}
	case "LinearizedADMM":
		return &solve.LinearizedADMM[T, T]{F: p.near, G: g, Tau: 0.25, Mu: 0.03125}, problem{A: k}
	case "AdaptivePrimalDual":
		return &solve.AdaptivePrimalDual[T, T]{F: p.near, G: g, Tau: 0.25, Mu: 0.125, Alpha: 0.5, Eta: 0.95, S: 1, Delta: 1.5}, problem{A: k}
	case "TwIST":
		m := &solve.TwIST[T, T]{G: p.l1}
		m.Alpha, m.Beta = solve.TwISTWeights(0.25, 1)
		return m, problem{A: p.small, B: p.b}
	}
	panic("no method " + name)
}

// Models and costs are those of pyproximal, and models those of PyLops-MPI.
func TestSplittingGolden(t *testing.T) {
	seen := 0
	for _, s := range readSplitting(t) {
		for _, ranks := range []int{1, 2, 3, 7} {
			on(t, ranks, func(ctx context.Context, r dist.Proc) error {
				switch {
				case s.Complex && ranks == 2:
					return splittingGolden[complex64](ctx, r, s, 2e-4)
				case s.Complex:
					return splittingGolden[complex128](ctx, r, s, 1e-9)
				case ranks == 3:
					return splittingGolden[float32](ctx, r, s, 2e-4)
				}
				return splittingGolden[float64](ctx, r, s, 1e-9)
			})
		}
		seen += len(s.Cases)
	}
	if seen < 40 {
		t.Errorf("%d cases only", seen)
	}
}

func splittingGolden[T scalar.Scalar](ctx context.Context, r dist.Proc, s splittingCases, tol float64) error {
	p, err := newSplittingParts[T](ctx, r, s)
	if err != nil {
		return err
	}
	for _, c := range s.Cases {
		m, problem := p.method(c.Name)
		x, err := vector(ctx, p.x, elements[T](s.Arrays["x0"]))
		if err != nil {
			return err
		}
		res, err := solve.Run(ctx, m, problem, x, solve.Config{MaxIter: 15})
		if err == nil && res.Status != solve.MaxIter {
			err = fmt.Errorf("%v after %d: %s", res.Status, res.Iters, res.Why)
		}
		if err == nil {
			near := tol
			if strings.HasPrefix(c.Name, "mpi") { // which has steps of 32 bits
				near = max(tol, 1e-6)
			}
			err = compare(ctx, x, elements[T](c.X), near)
		}
		if err == nil {
			err = sameCosts(c.Name, s.Complex, res.History, c.Cost, tol)
		}
		if err != nil {
			return fmt.Errorf("%s of %v: %w", c.Name, scalar.Of[T](), err)
		}
	}
	return nil
}

// sameCosts compares a history. Of ADMML2 with g first, pyproximal takes g of the
// model before; of complex numbers its zᵀx has no conjugate.
func sameCosts(name string, complex bool, got []solve.Norms, want []float64, tol float64) error {
	if len(want) == 0 || name == "ADMML2 True" || name == "PrimalDual theta and z" && complex {
		return nil
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d costs, pyproximal has %d", len(got), len(want))
	}
	for k, n := range got {
		if math.Abs(n.Cost-want[k]) > max(tol, 1e-7)*math.Abs(want[0]) { // pyproximal has weights of 32 bits
			return fmt.Errorf("cost %d is %.12g, pyproximal has %.12g", k, n.Cost, want[k])
		}
	}
	return nil
}
