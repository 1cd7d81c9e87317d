package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Threshold is what a step does to small elements, and with that the penalty P of a
// cost.
type Threshold = device.ThresholdKind

// The thresholds and their penalties.
const (
	Soft = device.SoftThreshold // P is ‖x‖₁
	Hard = device.HardThreshold // P is ‖x‖₀, the number of elements that are not zero
	Half = device.HalfThreshold // P is Σ√|x|
)

// Shrinkage is what ISTA and FISTA minimise, and how:
//
//	½‖A·x - b‖² + Eps·P(x)
//
// Each step goes along the gradient of the first part by α and shrinks small elements
// by the prox of α·Eps·P.
type Shrinkage[D scalar.Scalar] struct {
	Eps       float64
	Threshold Threshold // Soft, Hard or Half
	// Decay[k] multiplies Eps in step k, and its last element in the steps after
	// these. nil means 1.
	Decay []float64
	// Keep is for thresholds without Eps: each step takes the one that leaves the
	// largest Keep percent of the elements. 0 means that Eps is taken.
	Keep float64
	// Transform has the elements that are sparse, see NewTransform. nil means those of x.
	Transform *Transform[D]
	// Alpha is the length α of a step along the gradient. 0 means 1/‖A‖², which power
	// iteration finds at the start.
	Alpha float64
	// Backtrack halves α until a step is short enough. It starts from Alpha, or from
	// a guess.
	Backtrack bool
	// Monitor ends the run as diverged when ‖b - A·x‖ rises.
	Monitor bool
}

// formula is the cost.
func (o *Shrinkage[D]) formula() string {
	x, of := "x", "½‖A·x - b‖²"
	if o.Transform != nil {
		x = "Sᴴ·x"
	}
	switch {
	case o.Keep != 0:
		return fmt.Sprintf("%s with %g %% of %s", of, o.Keep, x)
	case o.Threshold == Hard:
		return fmt.Sprintf("%s + %g·‖%s‖₀", of, o.Eps, x)
	case o.Threshold == Half:
		return fmt.Sprintf("%s + %g·Σ√|%s|", of, o.Eps, x)
	}
	return fmt.Sprintf("%s + %g·‖%s‖₁", of, o.Eps, x)
}

// check refuses what cannot be.
func (o *Shrinkage[D]) check(s *shared) {
	s.Parameter("Eps", o.Eps)
	s.Parameter("Keep", o.Keep)
	s.Parameter("Alpha", o.Alpha)
	for k, d := range o.Decay {
		s.Parameter(fmt.Sprintf("Decay[%d]", k), d)
	}
	switch {
	case o.Threshold > Half:
		s.Fail(fmt.Errorf("the Threshold is %d: give Soft, Hard or Half", o.Threshold))
	case o.Keep > 100:
		s.Fail(fmt.Errorf("the Keep is %g: give a percentage", o.Keep))
	case o.Keep > 0 && o.Eps > 0:
		s.Fail(fmt.Errorf("the Eps is %g and Keep is %g %%: give one of them", o.Eps, o.Keep))
	}
}

// shrink is the part that ISTA and FISTA share.
type shrink[D, R scalar.Scalar] struct {
	o        *Shrinkage[D]
	momentum bool
	monotone bool
	restart  bool

	g, d, z *Vector[D] // gradient and the next x; x - x_old; where the gradient is taken
	r, s, q *Vector[R] // A·x - b; A·z - b; that of the next x
	rank    percentile[D]

	alpha, t          float64
	rr, penalty, step float64 // ‖A·x - b‖², P(x), ‖x - x_old‖²
	curve, far        float64 // ‖A·(x - z)‖² and ‖x - z‖² of a trial
	cost              float64
	k                 float64 // steps so far
}

func (m *shrink[D, R]) init(ctx context.Context, w *Workspace[D, R], o *Shrinkage[D], momentum, monotone, restart bool) (Norms, error) {
	*m = shrink[D, R]{o: o, momentum: momentum, monotone: monotone, restart: restart}
	w.NeedB()
	o.check(&w.shared)
	m.g = w.DomainScratch("next x")
	m.r = w.Range("A·x - b")
	m.z, m.s = w.X, m.r
	if momentum {
		m.z, m.s = w.Domain("z"), w.Range("A·z - b")
	}
	m.q, m.d = m.s, m.z
	if o.Backtrack || monotone {
		m.q = w.RangeScratch("A·next x - b")
	}
	if o.Backtrack || monotone || !momentum {
		m.d = w.DomainScratch("x - x_old")
	}
	if o.Transform != nil {
		o.Transform.start(&w.shared, o.Keep)
	} else {
		m.rank.start(&w.shared, w.X.Space(), o.Keep)
	}
	w.name(NamedNumber{"α", &m.alpha}, NamedNumber{"t", &m.t}, NamedNumber{"‖r‖²", &m.rr}, NamedNumber{"cost", &m.cost}, NamedNumber{"k", &m.k})
	m.alpha, m.t = o.Alpha, 1
	if o.Alpha == 0 {
		steps := normSteps
		if o.Backtrack {
			steps = 1
		}
		m.alpha = m.longest(ctx, w, steps)
	}
	w.Forward(ctx, m.r, w.X)
	m.r.QueueAddNorm2(-1, w.B, &m.rr) // r = A·x - b
	if o.Transform != nil {
		o.Transform.analyse(ctx, w.X)
	}
	m.queuePenalty(w.X)
	w.Reduce(ctx)
	m.cost = m.rr/2 + m.weighted()
	if momentum {
		m.z.Copy(w.X)
		m.s.Copy(m.r)
	}
	return m.norms(), w.Err()
}

// Numbers of the power iteration for ‖A‖².
const (
	normSteps = 60
	normTol   = 1e-4 // of two estimates, which come from below
	normRoom  = 1.05 // what is added to the last one
)

// longest returns 1/‖A‖², the longest step that the theory allows, by power iteration.
// It refuses an A whose adjoint is not its adjoint: ‖A·v‖² and vᴴAᴴA·v differ then.
func (m *shrink[D, R]) longest(ctx context.Context, w *Workspace[D, R], steps int) float64 {
	v, err := dist.Random[D](ctx, w.X.Space(), 1)
	if w.Fail(err); err == nil {
		m.d.Copy(&Vector[D]{Array: v})
		v.Free()
	}
	n2, old := 0.0, 0.0
	for k := range steps + 1 {
		var vv, qq, dot float64
		w.Forward(ctx, m.q, m.d)
		w.Adjoint(ctx, m.g, m.q)
		m.d.QueueNorm2(&vv)
		m.q.QueueNorm2(&qq)
		m.d.QueueDot(m.g, &dot)
		w.Reduce(ctx)
		n2 = w.Finite("‖A·v‖²/‖v‖² of the power iteration", qq/vv)
		if w.err == nil && math.Abs(qq-dot) > math.Cbrt(epsilon[D, R]())*qq {
			w.Fail(fmt.Errorf("‖A·v‖² is %g, but vᴴAᴴA·v is %g: Aᴴ is not the adjoint of A: optest.Dot tells", qq, dot))
		}
		if w.err != nil || qq == 0 || k > 0 && n2-old <= normTol*n2 {
			break
		}
		old = n2
		m.d.SetScaled(1/n2, m.g)
		m.d.Scale(1 / math.Sqrt(vv))
	}
	if n2 == 0 {
		return 1 // A is zero: any step will do
	}
	return 1 / (normRoom * n2)
}

// weighted is Eps·P(x).
func (m *shrink[D, R]) weighted() float64 {
	switch p := m.penalty; {
	case m.o.Eps == 0:
		return 0
	case m.o.Threshold == Half: // the norm is (Σ√|x|)²
		return m.o.Eps * math.Sqrt(p)
	default:
		return m.o.Eps * p
	}
}

// queuePenalty has the next Reduce set the penalty of x, or of what analyse has left in
// the transform.
func (m *shrink[D, R]) queuePenalty(x *Vector[D]) {
	p := []float64{Soft: 1, Hard: 0, Half: 0.5}[m.o.Threshold]
	if m.o.Eps == 0 {
		return
	}
	if m.o.Transform != nil {
		m.o.Transform.queueNorm(p, &m.penalty)
	} else {
		x.queueNorm(p, &m.penalty)
	}
}

// next sets g to the next x by a step of length α, q = A·g - b, and d = g - x, and
// measures them in one message.
func (m *shrink[D, R]) next(ctx context.Context, w *Workspace[D, R]) {
	o := m.o
	w.Adjoint(ctx, m.g, m.s)
	m.g.Combine(-m.alpha, 1, m.z) // g = z - α·Aᴴ(A·z - b)
	m.threshold(ctx)
	w.Forward(ctx, m.q, m.g)
	if o.Backtrack {
		m.q.Add(-1, w.B)
		m.d.Set(1, m.g, -1, m.z)
		m.d.QueueNorm2(&m.far)
		m.q.QueueNorm2(&m.rr)
		m.q.Add(-1, m.s)
		m.q.QueueNorm2(&m.curve)
		m.q.Add(1, m.s)
	} else {
		m.q.QueueAddNorm2(-1, w.B, &m.rr)
	}
	m.d.Set(1, m.g, -1, w.X)
	m.d.QueueNorm2(&m.step)
	m.queuePenalty(m.g)
	w.Reduce(ctx)
}

// threshold shrinks the elements of g.
func (m *shrink[D, R]) threshold(ctx context.Context) {
	o, t := m.o, 0.0
	if o.Transform != nil {
		o.Transform.analyse(ctx, m.g)
	}
	if o.Keep > 0 {
		if o.Transform != nil {
			t = o.Transform.percentile(ctx)
		} else {
			t = m.rank.of(ctx, m.g)
		}
		t = parameterOf(o.Threshold, t)
	} else {
		t = m.alpha * o.Eps
		if k := int(m.k); len(o.Decay) > 0 {
			t *= o.Decay[min(k, len(o.Decay)-1)]
		}
		if o.Threshold == Half {
			t *= 2 // the kernel is the prox of t/2·Σ√|x|
		}
	}
	if o.Transform != nil {
		o.Transform.synthesise(ctx, m.g, o.Threshold, t)
	} else {
		m.g.Threshold(o.Threshold, t, m.g)
	}
}

// advance is a step of ISTA or FISTA.
func (m *shrink[D, R]) advance(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	old := m.rr
	m.next(ctx, w)
	for halved := 0; m.o.Backtrack && w.err == nil && m.curve > m.far/m.alpha*(1+1e-10); halved++ {
		if halved == 60 {
			w.End(Breakdown, "‖A·d‖² stays above ‖d‖²/α down to α = %g: Aᴴ is not the adjoint of A, or A is not linear", m.alpha)
		}
		m.alpha /= 2
		m.next(ctx, w)
	}
	cost := w.Finite("the cost", m.rr/2+m.weighted())
	rises := cost > m.cost
	switch {
	case w.err != nil:
	case m.o.Monitor && m.rr > old:
		w.End(Diverged, "‖b - A·x‖ rises from %g to %g: take a smaller Alpha, or another Eps", math.Sqrt(old), math.Sqrt(m.rr))
	case m.monotone && rises:
		return m.stay(w, old)
	}
	if w.err != nil {
		return m.norms(), w.Err()
	}
	m.cost = cost
	if m.momentum {
		told := m.t
		m.t = (1 + math.Sqrt(1+4*told*told)) / 2
		beta := (told - 1) / m.t
		if m.restart && rises {
			beta, m.t = 0, 1
		}
		m.z.Set(1, m.g, beta, m.d)      // z = x + β·(x - x_old)
		m.r.Combine(-beta, 1+beta, m.q) // A·z - b
		m.s.Swap(m.r)
	}
	if m.q != m.s {
		m.r.Swap(m.q)
	}
	w.X.Copy(m.g)
	m.k++
	return m.norms(), w.Err()
}

// stay leaves x, because the next one has a higher cost, and takes the next step from
// beyond it.
func (m *shrink[D, R]) stay(w *Workspace[D, R], rr float64) (Norms, error) {
	told := m.t
	m.t = (1 + math.Sqrt(1+4*told*told)) / 2
	beta := told / m.t
	m.z.Set(1, w.X, beta, m.d) // z = x + β·(next - x)
	m.s.Set(1-beta, m.r, beta, m.q)
	m.rr = rr // Step stays that of the x that was tried: the run goes on
	m.k++
	return m.norms(), w.Err()
}

func (m *shrink[D, R]) norms() Norms {
	return Norms{Resid: math.Sqrt(m.rr), Grad: math.NaN(), Cost: m.cost, Step: math.Sqrt(m.step)}
}
