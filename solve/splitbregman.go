package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// L1Term is Weight·‖R·x‖₁ in a cost.
type L1Term[D, R scalar.Scalar] struct {
	R      linop.Map[D, R]
	Weight float64
	// Split is the weight λ of ‖R·x - d‖² that ties R·x to its stand-in d. 0 means
	// √Weight.
	Split float64
}

// SplitBregman minimises a cost with several terms of either kind:
//
//	μ/2·‖A·x - b‖² + ½·Σ ‖wₖ·(Rₖ·x - tₖ)‖² + Σ vᵢ·‖Lᵢ·x‖₁
//
// A step solves a problem of least squares for x, with dᵢ - cᵢ as targets of Lᵢ·x,
// shrinks dᵢ = soft(Lᵢ·x + cᵢ, vᵢ/λᵢ), and adds what is left: cᵢ += τ·(Lᵢ·x - dᵢ).
//
// It keeps 5 vectors of the domain, 3 of the range of A, 6 of that of each L and 4 of that
// of each R. With n steps of CGLS and one Shrinks, a step sends 2 + 2n messages, applies
// A n + 2 times, L n + 3 times and their adjoints n + 1 times, and makes 8 + 3n passes over
// the domain, 5 + 2n over the range of A and 10 + 2n over that of each L. Each further
// Shrinks sends 1 + 2n more.
//
// T. Goldstein and S. Osher, The Split Bregman Method for L1-Regularized Problems, 2009.
type SplitBregman[D, R scalar.Scalar] struct {
	L1      []L1Term[D, R]
	L2      []Term[D, R]
	Mu, Tau float64 // 0 means 1
	Shrinks int     // how often a step solves and shrinks; 0 means once
	Steps   int     // of CGLS in each solve, from the last x; 0 means 10

	next, d *Vector[D]
	r       *Vector[R]
	l1      []splitTerm[R]
	l2      []splitTerm[R]
	in      inner[D, R]
	rr, dd  float64
	cost    float64
}

// splitTerm is a term at work.
type splitTerm[R scalar.Scalar] struct {
	image  *Vector[R] // R·x, then R·x - target for L2
	d, c   *Vector[R] // stand-in and what is left, of L1
	target *Vector[R] // in the problem of least squares
	weight float64    // there
	sum    float64    // ‖R·x‖₁ or ‖R·x - t‖²
}

// Name implements Method.
func (m *SplitBregman[D, R]) Name() string { return "SplitBregman" }

// Minimises implements Minimiser.
func (m *SplitBregman[D, R]) Minimises() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%g·‖A·x - b‖²", or(m.Mu, 1)/2)
	for _, t := range m.L2 {
		fmt.Fprintf(&b, " + %g·‖R·x - t‖²", t.Weight*t.Weight/2)
	}
	for _, t := range m.L1 {
		fmt.Fprintf(&b, " + %g·‖L·x‖₁", t.Weight)
	}
	return b.String()
}

// Init implements Method.
func (m *SplitBregman[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	w.NeedB()
	m.check(w)
	mu := or(m.Mu, 1)
	m.next, m.d, m.r = w.DomainScratch("next x"), w.DomainScratch("x - x_old"), w.RangeScratch("A·x - b")
	m.l1, m.l2 = make([]splitTerm[R], len(m.L1)), make([]splitTerm[R], len(m.L2))
	maps, data := []linop.Map[D, R]{w.A}, []dist.Array[R]{w.B.Array}
	add := func(op linop.Map[D, R], t *splitTerm[R], name string) {
		if w.err != nil {
			return
		}
		scaled, err := linop.Scale(fromFloat[R](t.weight), op)
		if w.Fail(err); err != nil {
			return
		}
		t.image = ScratchOn[R](w, op.Range(), name+" of x")
		t.target = ScratchOn[R](w, op.Range(), "target of "+name)
		maps, data = append(maps, scaled), append(data, t.target.Array)
	}
	for i, k := range m.L2 {
		t := &m.l2[i]
		t.weight = k.Weight / math.Sqrt(mu)
		add(k.R, t, fmt.Sprintf("L2 term %d", i))
	}
	for i, k := range m.L1 {
		t := &m.l1[i]
		t.weight = math.Sqrt(m.split(i) / mu)
		name := fmt.Sprintf("L1 term %d", i)
		if add(k.R, t, name); w.err == nil {
			t.d, t.c = VectorOn[R](w, k.R.Range(), name), VectorOn[R](w, k.R.Range(), "rest of "+name)
		}
	}
	if w.err == nil {
		a, err := linop.VStack(maps...)
		b, err2 := dist.StackOf(data...)
		w.Fail(errors.Join(err, err2))
		m.in.start(ctx, &w.shared, Problem[D, R]{a, b}, m.next, 0, or(m.Steps, 10))
	}
	w.name(NamedNumber{"cost", &m.cost})
	if w.err != nil {
		return Norms{}, w.Err()
	}
	m.next.Copy(w.X)
	m.measure(ctx, w)
	return m.norms(), w.Err()
}

func (m *SplitBregman[D, R]) split(i int) float64 {
	return or(m.L1[i].Split, math.Sqrt(m.L1[i].Weight))
}

// check refuses what cannot be.
func (m *SplitBregman[D, R]) check(w *Workspace[D, R]) {
	w.Parameter("Mu", m.Mu)
	w.Parameter("Tau", m.Tau)
	if m.Steps < 0 || m.Shrinks < 0 {
		w.Fail(fmt.Errorf("%d Steps and %d Shrinks: neither may be negative", m.Steps, m.Shrinks))
	}
	for i, t := range m.L1 {
		w.Parameter(fmt.Sprintf("the Weight of L1 term %d", i), t.Weight)
		w.Parameter(fmt.Sprintf("the Split of L1 term %d", i), t.Split)
		if linop.H(t.R) == nil || t.Weight == 0 {
			w.Fail(fmt.Errorf("L1 term %d has no operator or a weight of zero: leave it out", i))
		}
	}
	for i, t := range m.L2 {
		w.Parameter(fmt.Sprintf("the Weight of L2 term %d", i), t.Weight)
		if linop.H(t.R) == nil {
			w.Fail(fmt.Errorf("L2 term %d has no operator", i))
		} else if s := t.Target.Space(); s != nil && !s.Equal(t.R.Range()) {
			w.Fail(fmt.Errorf("L2 term %d: the target is of %v, the operator gives %v", i, s, t.R.Range()))
		}
	}
}

// Step implements Method.
func (m *SplitBregman[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	m.next.Copy(w.X)
	for i, k := range m.L2 {
		if t := &m.l2[i]; k.Target.Space() != nil && w.err == nil {
			dist.Scale(t.target.Array, fromFloat[R](t.weight), k.Target)
		} else {
			t.target.Zero()
		}
	}
	for range or(m.Shrinks, 1) {
		for i := range m.l1 {
			t := &m.l1[i]
			t.target.Set(t.weight, t.d, -t.weight, t.c)
		}
		m.in.solve(ctx, &w.shared)
		for i := range m.l1 {
			t := &m.l1[i]
			Forward(ctx, m.L1[i].R, t.image, m.next)
			t.d.Set(1, t.image, 1, t.c)
			t.d.Threshold(Soft, m.L1[i].Weight/m.split(i), t.d)
		}
	}
	for i := range m.l1 {
		t := &m.l1[i]
		t.c.Add(or(m.Tau, 1), t.image)
		t.c.Add(-or(m.Tau, 1), t.d)
	}
	m.measure(ctx, w)
	w.X.Copy(m.next)
	return m.norms(), w.Err()
}

// measure works out the cost of next, in one message.
func (m *SplitBregman[D, R]) measure(ctx context.Context, w *Workspace[D, R]) {
	w.Forward(ctx, m.r, m.next)
	m.r.QueueAddNorm2(-1, w.B, &m.rr)
	m.d.Set(1, m.next, -1, w.X)
	m.d.QueueNorm2(&m.dd)
	for i, k := range m.L2 {
		t := &m.l2[i]
		if Forward(ctx, k.R, t.image, m.next); k.Target.Space() != nil && w.err == nil {
			dist.Axpby(fromFloat[R](-1), k.Target, fromFloat[R](1), t.image.Array)
		}
		t.image.QueueNorm2(&t.sum)
	}
	for i, k := range m.L1 {
		t := &m.l1[i]
		Forward(ctx, k.R, t.image, m.next)
		t.image.QueueNorm1(&t.sum)
	}
	w.Reduce(ctx)
	m.cost = or(m.Mu, 1) / 2 * m.rr
	for i, k := range m.L2 {
		m.cost += k.Weight * k.Weight / 2 * m.l2[i].sum
	}
	for i, k := range m.L1 {
		m.cost += k.Weight * m.l1[i].sum
	}
	w.Finite("the cost", m.cost)
}

func (m *SplitBregman[D, R]) norms() Norms {
	return Norms{Resid: math.Sqrt(m.rr), Grad: math.NaN(), Cost: m.cost, Step: math.Sqrt(m.dd)}
}
