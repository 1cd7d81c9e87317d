package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// PrimalDual minimises f(x) + g(A·x) + Re zᴴx by the method of Chambolle and Pock: a
// step of the dual y along A, and one of x along Aᴴ.
//
//	y = prox_{μg*}(y + μ·A·x̄),  x = prox_{τf}(x_old - τ·(Aᴴy + z)),  x̄ = x + θ·(x - x_old)
//
// XFirst makes x first, and y from the new x̄. It converges if τ·μ·‖A‖² ≤ 1 and θ is 1.
// A·x̄ follows from A·x and A·x_old, so that a step applies A and Aᴴ once. It keeps 2
// vectors of the domain and 4 of the range. A step makes 3 passes over the domain and 2
// over the range and sends one message, those of the functions aside; a step in which x
// rests makes 4 more over the range, the dual prox again, and sends one more.
//
// A. Chambolle and T. Pock, A First-Order Primal-Dual Algorithm for Convex Problems
// with Applications to Imaging, 2011.
type PrimalDual[D, R scalar.Scalar] struct {
	F       Function[D]
	G       Function[R]
	Tau, Mu float64       // τ and μ
	Theta   float64       // θ, 1 as a rule
	XFirst  bool          // x before y
	Z       dist.Array[D] // z; the zero Array means none
	Y       dist.Array[R] // the start of y; the zero Array means zero
	// CostEvery is how many steps go by between two evaluations of the cost, which take
	// about a third of a step. In between, the norms have the last one. 0 and 1 mean
	// that it is evaluated in each step.
	CostEvery int

	next, prev, z *Vector[D] // the next x, this x
	y, ax, old    *Vector[R] // the dual, A·x, A·x_old
	scratch       *Vector[R] // of the dual prox
	k, cost       float64    // steps so far, the last cost
}

// Name implements Method.
func (m *PrimalDual[D, R]) Name() string {
	if m.XFirst {
		return "PrimalDual, x first"
	}
	return "PrimalDual"
}

// Minimises implements Minimiser.
func (m *PrimalDual[D, R]) Minimises() string {
	if m.Z.Space() != nil {
		return "f(x) + g(A·x) + Re zᴴx"
	}
	return "f(x) + g(A·x)"
}

// Init implements Method.
func (m *PrimalDual[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	w.needA()
	w.Function("F", m.F)
	w.Function("G", m.G)
	w.positive("Tau", m.Tau)
	w.positive("Mu", m.Mu)
	w.Parameter("Theta", m.Theta)
	w.Parameter("CostEvery", float64(m.CostEvery))
	if w.err != nil {
		return Norms{}, w.Err()
	}
	needSpace(&w.shared, "Z", m.Z, w.X.Space())
	needSpace(&w.shared, "Y", m.Y, w.A.Range())
	m.next, m.prev = w.DomainScratch("next x"), w.Domain("this x")
	w.name(NamedNumber{"k", &m.k}, NamedNumber{"cost", &m.cost})
	m.prev.Copy(w.X)
	m.y, m.ax, m.old = w.Range("dual"), w.Range("A·x"), w.Range("A·x_old")
	m.scratch, m.z = w.RangeScratch("scratch of the dual prox"), &Vector[D]{Array: m.Z, w: &w.shared}
	if m.Y.Space() != nil {
		m.y.Copy(&Vector[R]{Array: m.Y, w: &w.shared})
	}
	w.Forward(ctx, m.ax, w.X)
	m.old.Copy(m.ax) // x̄ is x at the start
	m.evaluate(ctx, w.X)
	return startCost(w, m.cost)
}

// needSpace refuses an array of another space; the zero Array is none.
func needSpace[T scalar.Scalar](s *shared, name string, a dist.Array[T], space *dist.Space) {
	if a.Space() != nil && !a.Space().Equal(space) {
		s.Fail(differentSpace(name, a.Space(), space))
	}
}

// Step implements Method.
func (m *PrimalDual[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	if !m.XFirst {
		m.dual(ctx)
	}
	w.Adjoint(ctx, m.next, m.y)
	if m.Z.Space() != nil {
		m.next.Add(1, m.z)
	}
	m.next.Combine(-m.Tau, 1, m.prev)
	m.next.Prox(ctx, m.F, m.Tau, m.next)
	m.ax.Swap(m.old)
	w.Forward(ctx, m.ax, m.next)
	if m.XFirst {
		m.dual(ctx)
	}
	m.k++
	if w.stale = 1; m.CostEvery <= 1 || int(m.k)%m.CostEvery == 0 {
		w.stale = 0
		m.evaluate(ctx, m.next)
	}
	step := w.Finite("‖x - x_old‖", math.Sqrt(m.prev.AddNorm2(ctx, -1, m.next)))
	if math.IsNaN(m.cost) {
		w.Finite("the cost", m.cost)
	}
	w.X.Copy(m.next)
	m.prev.Swap(m.next)
	n, err := Norms{Resid: math.NaN(), Grad: math.NaN(), Cost: m.cost, Step: step}, w.Err()
	if err == nil && n.Step == 0 { // f may hold x for a while: how far would y go?
		m.old.Copy(m.ax)
		n.Step = m.restOfDual(ctx)
		err = w.Err()
	}
	return n, err
}

// evaluate works out the cost of x, whose image is A·x.
func (m *PrimalDual[D, R]) evaluate(ctx context.Context, x *Vector[D]) {
	m.cost = x.Value(ctx, m.F) + m.ax.Value(ctx, m.G)
	if m.Z.Space() != nil {
		m.cost += m.z.Dot(ctx, x)
	}
}

// restOfDual returns the length of the next step of y, if x has not moved. It is
// collective: one message.
func (m *PrimalDual[D, R]) restOfDual(ctx context.Context) float64 {
	m.old.Combine(m.Mu, 1, m.y)
	m.old.DualProx(ctx, m.G, m.Mu, m.old, m.scratch)
	left := math.Sqrt(m.old.AddNorm2(ctx, -1, m.y))
	m.old.Copy(m.ax) // A·x_old, for x has not moved
	return left
}

// dual sets y = prox(y + μ·A·x̄).
func (m *PrimalDual[D, R]) dual(ctx context.Context) {
	m.y.Add(m.Mu*(1+m.Theta), m.ax)
	if m.Theta != 0 {
		m.y.Add(-m.Mu*m.Theta, m.old)
	}
	m.y.DualProx(ctx, m.G, m.Mu, m.y, m.scratch)
}

// AdaptivePrimalDual is PrimalDual with θ = 1 and x first, which balances τ and μ by
// the residuals p and d of the two steps:
//
//	p = ‖(x_old - x)/τ - Aᴴ(y_old - y)‖,  d = ‖(y_old - y)/μ - A·(x_old - x)‖
//
// If p > s·δ·d, τ grows and μ falls by the factor 1 - α, if p < s·d/δ the other way,
// and α falls by η each time. It keeps 3 vectors of the domain and 5 of the range. A
// step makes 7 passes over the domain and 6 over the range and sends two messages,
// those of the functions aside.
//
// T. Goldstein, M. Li, X. Yuan, E. Esser and R. Baraniuk, Adaptive Primal-Dual Hybrid
// Gradient Methods for Saddle-Point Problems, 2013.
type AdaptivePrimalDual[D, R scalar.Scalar] struct {
	F       Function[D]
	G       Function[R]
	Tau, Mu float64 // τ and μ of the first step
	Alpha   float64 // α of the first change, below 1; ½ is usual
	Eta     float64 // η below 1; 0.95 is usual
	S       float64 // s; 1 is usual, 255 for images of bytes
	Delta   float64 // δ above 1; 1.5 is usual

	next, aty, atyOld *Vector[D] // Aᴴy and the one before
	y, yOld, ax, old  *Vector[R]
	scratch           *Vector[R]
	tau, mu, alpha    float64
	pp, dd            float64
}

// Name implements Method.
func (m *AdaptivePrimalDual[D, R]) Name() string { return "AdaptivePrimalDual" }

// Minimises implements Minimiser.
func (m *AdaptivePrimalDual[D, R]) Minimises() string { return "f(x) + g(A·x)" }

// Init implements Method.
func (m *AdaptivePrimalDual[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	w.needA()
	w.Function("F", m.F)
	w.Function("G", m.G)
	for _, p := range []NamedNumber{{"Tau", &m.Tau}, {"Mu", &m.Mu}, {"S", &m.S}, {"Delta", &m.Delta}} {
		w.positive(p.Name, *p.Value)
	}
	w.share("Alpha", m.Alpha)
	w.share("Eta", m.Eta)
	if w.err != nil {
		return Norms{}, w.Err()
	}
	m.next, m.aty, m.atyOld = w.DomainScratch("next x"), w.Domain("Aᴴ·dual"), w.DomainScratch("Aᴴ·dual_old")
	m.y, m.yOld, m.ax, m.old = w.Range("dual"), w.RangeScratch("dual_old"), w.Range("A·x"), w.RangeScratch("A·x_old")
	m.scratch = m.y
	if _, ok := m.G.(Dual[R]); !ok {
		m.scratch = w.RangeScratch("scratch of the dual prox")
	}
	w.name(NamedNumber{"τ", &m.tau}, NamedNumber{"μ", &m.mu}, NamedNumber{"α", &m.alpha})
	m.tau, m.mu, m.alpha = m.Tau, m.Mu, m.Alpha
	w.Forward(ctx, m.old, w.X)
	return startCost(w, w.X.Value(ctx, m.F)+m.old.Value(ctx, m.G))
}

// Step implements Method. A·x of the start counts as zero, as pyproximal has it.
func (m *AdaptivePrimalDual[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	m.next.Set(1, w.X, -m.tau, m.aty)
	m.next.Prox(ctx, m.F, m.tau, m.next)
	m.ax.Swap(m.old)
	w.Forward(ctx, m.ax, m.next)
	m.yOld.Copy(m.y)
	m.y.Add(2*m.mu, m.ax)
	m.y.Add(-m.mu, m.old)
	m.y.DualProx(ctx, m.G, m.mu, m.y, m.scratch)
	m.aty.Swap(m.atyOld)
	w.Adjoint(ctx, m.aty, m.y)
	m.balance(ctx, w)
	cost := m.next.Value(ctx, m.F) + m.ax.Value(ctx, m.G)
	n, err := accept(ctx, w, m.next, m.atyOld, cost)
	if n.Step == 0 { // f holds x: then d is how far y went
		n.Step = math.Sqrt(m.dd)
	}
	return n, err
}

// balance measures the residuals of both steps and changes τ and μ.
func (m *AdaptivePrimalDual[D, R]) balance(ctx context.Context, w *Workspace[D, R]) {
	m.atyOld.Add(-1, m.aty)
	m.atyOld.Combine(-1, 1/m.tau, w.X)
	m.atyOld.QueueAddNorm2(-1/m.tau, m.next, &m.pp)
	m.yOld.Combine(1/m.mu, -1/m.mu, m.y)
	m.yOld.Add(-1, m.old)
	m.yOld.QueueAddNorm2(1, m.ax, &m.dd)
	w.Reduce(ctx)
	switch p, d := math.Sqrt(m.pp), math.Sqrt(m.dd); {
	case p > m.S*d*m.Delta:
		m.tau, m.mu, m.alpha = m.tau/(1-m.alpha), m.mu*(1-m.alpha), m.alpha*m.Eta
	case p < m.S*d/m.Delta:
		m.tau, m.mu, m.alpha = m.tau*(1-m.alpha), m.mu/(1-m.alpha), m.alpha*m.Eta
	}
}
