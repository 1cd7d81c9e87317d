package solve

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// ADMML2 minimises ½‖A·x - b‖² + g(K·x) by ADMM:
//
//	x = argmin ½‖A·x - b‖² + ‖K·x - z + u‖²/(2τ),  z = prox_{τg}(K·x + u),  u += K·x - z
//
// CGLS works x out, from the x before. GFirst makes z first. The Step of its norms
// counts that of u. It keeps 5 vectors of the domain, 2 of the range of A and 6 of that
// of K. With n steps of CGLS, a step sends 2 + 2n messages beside those of g, applies A,
// K and their adjoints n + 1 times, K once more, and makes 6 + 3n passes over the domain,
// 2 + 2n over the range of A and 8 + 3n over that of K.
//
// S. Boyd, N. Parikh, E. Chu, B. Peleato and J. Eckstein, Distributed Optimization and
// Statistical Learning via the Alternating Direction Method of Multipliers, 2011.
type ADMML2[D, R, S scalar.Scalar] struct {
	G        Function[S]
	K        linop.Map[D, S]
	Tau      float64 // τ
	GFirst   bool
	Inner    int     // steps of CGLS at most, at least 1
	InnerTol float64 // CGLS ends when its gradient is so small, relative to its start; 0 makes all steps, or ends at rounding

	inner             twoTerms[D, R, S]
	scratch           *Vector[D]
	z, u, kx, targets *Vector[S]
	uu                float64 // ‖u - u_old‖²
}

// Name implements Method.
func (m *ADMML2[D, R, S]) Name() string {
	if m.GFirst {
		return "ADMML2, g first"
	}
	return "ADMML2"
}

// Minimises implements Minimiser.
func (m *ADMML2[D, R, S]) Minimises() string { return "½‖A·x - b‖² + g(K·x)" }

// Init implements Method.
func (m *ADMML2[D, R, S]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	w.needA()
	w.NeedB()
	w.Function("G", m.G)
	w.positive("Tau", m.Tau)
	w.Parameter("InnerTol", m.InnerTol)
	switch {
	case m.Inner < 1:
		w.Fail(fmt.Errorf("the Inner is %d, must be at least 1", m.Inner))
	case linop.H(m.K) == nil:
		w.Fail(errors.New("no K given: give an operator, such as the identity"))
	case !m.K.Domain().Equal(w.X.Space()):
		w.Fail(differentSpace("what K takes", m.K.Domain(), w.X.Space()))
	}
	if w.err != nil {
		return Norms{}, w.Err()
	}
	m.scratch = w.DomainScratch("step")
	m.z, m.u = VectorOn[S](w, m.K.Range(), "z"), VectorOn[S](w, m.K.Range(), "u")
	m.kx, m.targets = VectorOn[S](w, m.K.Range(), "K·x"), ScratchOn[S](w, m.K.Range(), "z - u")
	m.inner.init(w, m.K, 1/math.Sqrt(m.Tau))
	Forward(ctx, m.K, m.kx, w.X)
	m.z.Copy(m.kx)
	w.Forward(ctx, m.inner.r, w.X)
	rr := m.inner.r.AddNorm2(ctx, -1, w.B)
	n, err := startCost(w, rr/2+m.kx.Value(ctx, m.G))
	n.Resid = math.Sqrt(rr)
	return n, err
}

// Step implements Method.
func (m *ADMML2[D, R, S]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	if m.GFirst {
		m.z.Set(1, m.kx, 1, m.u)
		m.z.Prox(ctx, m.G, m.Tau, m.z)
	}
	m.targets.Set(1, m.z, -1, m.u)
	m.inner.solve(ctx, w, m.targets, m.Inner, m.InnerTol)
	if m.GFirst { // with K·x of the x before
		addResidual(m.u, m.kx, m.z, m.targets, &m.uu)
	}
	Forward(ctx, m.K, m.kx, m.inner.x)
	if !m.GFirst {
		m.z.Set(1, m.kx, 1, m.u)
		m.z.Prox(ctx, m.G, m.Tau, m.z)
		addResidual(m.u, m.kx, m.z, m.targets, &m.uu)
	}
	n, err := accept(ctx, w, m.inner.x, m.scratch, m.inner.rr/2+m.kx.Value(ctx, m.G))
	n.Resid = math.Sqrt(m.inner.rr)
	n.Step = math.Hypot(n.Step, math.Sqrt(m.uu)) // x may rest while u moves
	return n, err
}

// twoTerms is CGLS for ‖A·x - b‖² + ε²·‖K·x - t‖², in vectors of a workspace. It is no
// inner problem, whose stack of A and K would have to be of one element type. A check or a
// checkpoint between two steps may overwrite all of its vectors.
type twoTerms[D, R, S scalar.Scalar] struct {
	k          linop.Map[D, S]
	eps        float64
	x, g, d, h *Vector[D] // x, gradient, direction, Kᴴs
	r, q       *Vector[R] // b - A·x, A·d
	s, p       *Vector[S] // ε·(t - K·x), ε·K·d
	gg, rr, ss float64
	qq, pp     float64
}

func (c *twoTerms[D, R, S]) init(w *Workspace[D, R], k linop.Map[D, S], eps float64) {
	c.k, c.eps = k, eps
	c.x, c.g, c.d, c.h = w.DomainScratch("next x"), w.DomainScratch("gradient"), w.DomainScratch("direction"), w.DomainScratch("Kᴴs")
	c.r, c.q = w.RangeScratch("residual"), w.RangeScratch("A·direction")
	c.s, c.p = ScratchOn[S](w, k.Range(), "residual of K"), ScratchOn[S](w, k.Range(), "K·direction")
}

// solve makes x the solution, from X of the workspace. It is collective.
func (c *twoTerms[D, R, S]) solve(ctx context.Context, w *Workspace[D, R], t *Vector[S], steps int, tol float64) {
	c.x.Copy(w.X)
	w.Forward(ctx, c.q, c.x)
	c.r.Copy(w.B)
	Forward(ctx, c.k, c.p, c.x)
	c.s.SetScaled(c.eps, t)
	c.p.Scale(c.eps)
	c.gradient(ctx, w, -1)
	c.d.Copy(c.g)
	first, large, eps := c.gg, 0.0, epsilon[D, R]()
	for range steps {
		if w.err != nil || c.gg <= tol*tol*first || c.gg <= 16*eps*eps*large*(c.rr+c.ss) {
			return
		}
		w.Forward(ctx, c.q, c.d)
		Forward(ctx, c.k, c.p, c.d)
		c.p.Scale(c.eps)
		c.q.QueueNorm2(&c.qq)
		c.p.QueueNorm2(&c.pp)
		w.Reduce(ctx)
		old, alpha := c.gg, c.gg/w.Positive("‖A·d‖² + ‖K·d‖²/τ", c.qq+c.pp, nullSpace)
		large = max(large, 1/alpha)
		c.x.Add(alpha, c.d)
		c.gradient(ctx, w, -alpha)
		c.d.Combine(c.gg/old, 1, c.g)
	}
}

// gradient sets r += a·q, s += a·p and g = Aᴴr + ε·Kᴴs, and measures them in one
// message.
func (c *twoTerms[D, R, S]) gradient(ctx context.Context, w *Workspace[D, R], a float64) {
	c.r.QueueAddNorm2(a, c.q, &c.rr)
	c.s.QueueAddNorm2(a, c.p, &c.ss)
	w.Adjoint(ctx, c.g, c.r)
	Adjoint(ctx, c.k, c.h, c.s)
	c.g.QueueAddNorm2(c.eps, c.h, &c.gg)
	w.Reduce(ctx)
}
