package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Workspace is the problem that a method solves, and the vectors and numbers that
// the method works with. A method asks for them by name in its Init; a checkpoint
// saves them under these names.
//
// The first error of a helper stays in the workspace, and every later helper does
// nothing and returns NaN. So a step is a row of formulas that ends in Err:
//
//	w.Forward(ctx, m.q, m.d)                                 // q = A·d
//	alpha := m.gg / w.Positive("‖q‖²", m.q.Norm2(ctx), hint) // α = ‖g‖²/‖q‖²
//	w.X.Add(alpha, m.d)                                      // x += α·d
//	return norms, w.Err()
//
// No helper allocates memory after Init.
type Workspace[D, R scalar.Scalar] struct {
	A    linop.Map[D, R]
	B    *Vector[R]
	X    *Vector[D] // the first guess in Init, then what Step improves, by methods of Vector or of Workspace
	Damp float64

	shared
	// What a check of x overwrites.
	checkDomain *Vector[D]
	checkRange  *Vector[R]
}

// shared is what a workspace and its vectors have in common.
type shared struct {
	group     *comm.Comm
	vectors   []anyVector
	err       error // the first one since the last call of Err
	unagreed  bool  // this rank may have an error that no other rank knows of
	starting  bool  // Init is running
	hermitian bool
	minimises string          // the formula of a Minimiser
	stale     float64         // 1 while its cost is that of an earlier step
	one       *dist.Reduction // for a message of one number: a GPU is faster with it
	several   *dist.Reduction
	queue     []queued   // where the numbers of the next Reduce go
	pair      [2]float64 // room for two sums
	votes     votes
	inside    []func() // give back the memory of inner problems
	numbers   []NamedNumber
	stateful  []stateful
	pivots    pivots
	norm      float64 // of the operator, from below
	cond      float64
}

// anyVector is a Vector of any element type.
type anyVector interface {
	state() *vectorState
	named() NamedArray
	Free()
}

// queued is a number of the next Reduce and where it goes; im may be nil.
type queued struct {
	slot   dist.Slot
	re, im *float64
}

// NewWorkspace returns a workspace for p with the first guess x. Run makes one for
// every run. A program that counts or times steps calls it, then Start, then the
// method's Step.
func NewWorkspace[D, R scalar.Scalar](p Problem[D, R], x dist.Array[D], damp float64) (*Workspace[D, R], error) {
	if err := p.check(x.Space(), damp, damp == 0); err != nil {
		return nil, fmt.Errorf("solve: workspace: %w", err)
	}
	return newWorkspace(p, x, damp), nil
}

func newWorkspace[D, R scalar.Scalar](p Problem[D, R], x dist.Array[D], damp float64) *Workspace[D, R] {
	w := &Workspace[D, R]{A: p.A, Damp: damp}
	w.group = x.Space().Group()
	w.one, w.several = dist.NewReduction(x.Space(), 1), dist.NewReduction(x.Space(), 4)
	w.queue = make([]queued, 0, 4)
	w.X = &Vector[D]{x, vectorState{name: "x", isX: true}, &w.shared}
	w.B = &Vector[R]{p.B, vectorState{name: "b"}, &w.shared}
	return w
}

// Start calls the Init of a method. It is collective: where a rank finds the
// problem wrong or has too little memory, all ranks return an error. A second
// Start uses the vectors of the first again.
func (w *Workspace[D, R]) Start(ctx context.Context, m Method[D, R]) (Norms, error) {
	w.begin()
	w.minimises = formula(m)
	var n Norms
	var err error
	if err = (Problem[D, R]{w.A, w.B.Array}).check(w.X.Space(), w.Damp, w.minimises != ""); err == nil {
		n, err = m.Init(ctx, w)
	}
	if w.Fail(err); w.err == nil && w.minimises == "" {
		w.reserve(!math.IsNaN(n.Grad))
	}
	n = w.known(n)
	w.starting, err = false, w.err
	if w.unagreed {
		err = comm.Agree(ctx, w.group, err)
	}
	w.err, w.unagreed = nil, false
	return n, err
}

// begin forgets what an earlier Init has asked for, but keeps the memory.
func (w *Workspace[D, R]) begin() {
	w.err, w.unagreed, w.starting, w.hermitian, w.stale = nil, true, true, false, 0
	w.numbers, w.pivots, w.norm, w.cond = w.numbers[:0], newPivots(), 0, 0
	w.queue, w.stateful = w.queue[:0], w.stateful[:0]
	w.freeInside()
	for _, v := range w.vectors {
		v.state().taken = false
	}
}

// Domain returns the vector of the domain with this name, made of zeros. It must
// be called in Init. A checkpoint saves the vector.
func (w *Workspace[D, R]) Domain(name string) *Vector[D] {
	return take[D](&w.shared, w.X.Space(), name, false)
}

// Range is Domain for the range.
func (w *Workspace[D, R]) Range(name string) *Vector[R] {
	return take[R](&w.shared, w.A.Range(), name, false)
}

// DomainScratch is Domain for a vector that a step writes before it reads it. It
// may be overwritten between two steps, and a checkpoint does not save it.
func (w *Workspace[D, R]) DomainScratch(name string) *Vector[D] {
	return take[D](&w.shared, w.X.Space(), name, true)
}

// RangeScratch is DomainScratch for the range.
func (w *Workspace[D, R]) RangeScratch(name string) *Vector[R] {
	return take[R](&w.shared, w.A.Range(), name, true)
}

// take returns the vector of a space with this name, which it makes if there is
// none yet.
func take[T scalar.Scalar](s *shared, space *dist.Space, name string, scratch bool) *Vector[T] {
	if !s.starting {
		s.Fail(fmt.Errorf("vector %q is asked for in a step: ask for it in Init", name))
	}
	var v *Vector[T]
	for _, old := range s.vectors {
		switch t, ok := old.(*Vector[T]); {
		case old.state().name != name:
		case old.state().taken:
			s.Fail(fmt.Errorf("vector %q is asked for twice: give each vector a name", name))
		case ok && t.Space() == space:
			v = t
		}
	}
	if v == nil {
		v = &Vector[T]{w: s}
		s.vectors = append(s.vectors, v)
	}
	v.vectorState = vectorState{name: name, scratch: scratch, taken: true}
	switch {
	case v.Array.Space() != nil:
		dist.Zero(v.Array)
	case s.err == nil:
		v.Array, s.err = dist.New[T](space)
		s.unagreed = true
	}
	return v
}

// reserve chooses scratch vectors that a check of x overwrites, and makes those
// that the method has none of. gradient tells whether a check needs the gradient.
func (w *Workspace[D, R]) reserve(gradient bool) {
	w.checkDomain, w.checkRange = nil, nil
	for _, v := range w.vectors {
		if s := v.state(); !s.scratch || !s.taken {
			continue
		}
		if r, ok := v.(*Vector[R]); ok && w.checkRange == nil && r.Space().Equal(w.B.Space()) {
			w.checkRange = r
		} else if d, ok := v.(*Vector[D]); ok && w.checkDomain == nil && d.Space().Equal(w.X.Space()) {
			w.checkDomain = d
		}
	}
	if w.checkRange == nil {
		w.checkRange = w.RangeScratch("b - A·x of a check")
	}
	if w.checkDomain == nil && gradient {
		w.checkDomain = w.DomainScratch("gradient of a check")
	}
}

// extra returns a vector of the domain for somebody else than the method, who frees it.
func (w *Workspace[D, R]) extra() *Vector[D] {
	v := &Vector[D]{w: &w.shared}
	if w.err == nil {
		v.Array, w.err = dist.New[D](w.X.Space())
		w.unagreed = true
	}
	return v
}

// freeInside gives back the memory of inner problems.
func (s *shared) freeInside() {
	for _, free := range s.inside {
		free()
	}
	s.inside = s.inside[:0]
}

// free gives back all device memory.
func (w *Workspace[D, R]) free() {
	w.freeInside()
	w.one.Free()
	w.several.Free()
	for _, v := range w.vectors {
		v.Free()
	}
}

// saved returns the vectors and numbers that a checkpoint keeps for the method and its
// functions.
func (w *Workspace[D, R]) saved() (vectors []NamedArray, numbers []NamedNumber) {
	for _, v := range w.vectors {
		if s := v.state(); s.taken && !s.scratch {
			vectors = append(vectors, v.named())
		}
	}
	numbers = slices.Clone(w.numbers)
	for _, f := range w.stateful {
		v, n := f.State()
		for _, v := range v {
			vectors = append(vectors, NamedArray{f.name + ": " + v.Name, v.Array})
		}
		for _, n := range n {
			numbers = append(numbers, NamedNumber{f.name + ": " + n.Name, n.Value})
		}
	}
	return vectors, numbers
}

// Number makes v, a field of the method, zero, and has checkpoints save it under
// this name. It must be called in Init.
func (s *shared) Number(name string, v *float64) {
	switch {
	case !s.starting:
		s.Fail(fmt.Errorf("number %q is named in a step: name it in Init", name))
	case slices.ContainsFunc(s.numbers, func(n NamedNumber) bool { return n.Name == name }):
		s.Fail(fmt.Errorf("number %q is named twice: give each number a name", name))
	}
	*v = 0
	s.numbers = append(s.numbers, NamedNumber{name, v})
}

// name is Number for several.
func (s *shared) name(all ...NamedNumber) {
	for _, n := range all {
		s.Number(n.Name, n.Value)
	}
}

// Hermitian says that the method needs a Hermitian operator. The problem is
// refused if the operator does not map a space to itself, or if there is damping.
// A check then works out the gradient as A·(b - A·x). It must be called in Init.
func (w *Workspace[D, R]) Hermitian() {
	switch dom, rng := w.A.Domain(), w.A.Range(); {
	case scalar.Of[D]() != scalar.Of[R]():
		w.Fail(fmt.Errorf("x is of %v and b of %v: the method needs an operator that maps a space to itself", scalar.Of[D](), scalar.Of[R]()))
	case !dom.Equal(rng):
		w.Fail(fmt.Errorf("the operator goes from %v to %v: the method needs one that maps a space to itself", dom, rng))
	case w.Damp != 0:
		w.Fail(fmt.Errorf("the Damp is %g: the method has no damping: add damp²·I to the operator, or use CGLS or LSQR", w.Damp))
	default:
		w.hermitian = true
	}
}

// Err returns the first error since the last call, and forgets it.
func (s *shared) Err() error {
	err := s.err
	s.err = nil
	return err
}

// Fail makes err the error of the step, unless it is nil or there is one already.
// An error that wraps ErrBreakdown or ErrNotFinite ends the run with a Status; it
// must come on all ranks. Every other error is that of Run.
func (s *shared) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// End ends the run with a status instead of a step, for the reason given. It leaves x
// alone. All ranks must call it.
func (s *shared) End(status Status, format string, args ...any) {
	s.Fail(&refusal{status, fmt.Sprintf(format, args...)})
}

// ready reports whether a collective helper may go on. The first one of Init
// finds out whether all ranks have what they need.
func (s *shared) ready(ctx context.Context) bool {
	if s.unagreed {
		s.unagreed = false
		s.err = comm.Agree(ctx, s.group, s.err)
	}
	return s.err == nil
}

// Forward sets dst = A·src. It is collective.
func (w *Workspace[D, R]) Forward(ctx context.Context, dst *Vector[R], src *Vector[D]) {
	if w.ready(ctx) && dst.writable() {
		w.err = w.A.Forward(ctx, dst.Array, src.Array)
	}
}

// Adjoint sets dst = Aᴴ·src. It is collective.
func (w *Workspace[D, R]) Adjoint(ctx context.Context, dst *Vector[D], src *Vector[R]) {
	if w.ready(ctx) && dst.writable() {
		w.err = w.A.Adjoint(ctx, dst.Array, src.Array)
	}
}

// Gradient sets g = Aᴴr - damp²·x: the direction in which the sum of squares falls
// fastest, if r is b - A·x. It is collective.
func (w *Workspace[D, R]) Gradient(ctx context.Context, g *Vector[D], r *Vector[R]) {
	w.Adjoint(ctx, g, r)
	if w.Damp != 0 {
		g.Add(-w.Damp*w.Damp, w.X)
	}
}

// DampedNorm2 returns ‖q‖² + damp²·‖d‖², in one message.
func (w *Workspace[D, R]) DampedNorm2(ctx context.Context, q *Vector[R], d *Vector[D]) float64 {
	if w.Damp == 0 {
		return q.Norm2(ctx)
	}
	q.QueueNorm2(&w.pair[0])
	d.QueueNorm2(&w.pair[1])
	w.Reduce(ctx)
	return w.pair[0] + w.Damp*w.Damp*w.pair[1]
}

// Positive returns v, by which a step divides. The step fails if v is not
// positive: with ErrNotFinite if v is NaN or infinite, otherwise with ErrBreakdown.
// name stands for v in the error, hint says what it means.
func (s *shared) Positive(name string, v float64, hint string) float64 {
	if s.Finite(name, v); v <= 0 && s.err == nil {
		s.err = fmt.Errorf("%s is %g: %s: %w", name, v, hint, ErrBreakdown)
	}
	return v
}

// Finite returns v. The step fails with ErrNotFinite if v is NaN or infinite.
func (s *shared) Finite(name string, v float64) float64 {
	if (math.IsNaN(v) || math.IsInf(v, 0)) && s.err == nil {
		s.err = fmt.Errorf("%s is %g: %w", name, v, ErrNotFinite)
	}
	return v
}

// Definite returns vᴴAv, by which conjugate gradients divide; name stands for it
// in an error. If it is not positive, the run ends: one more message tells whether
// rounding can be the cause.
func (w *Workspace[D, R]) Definite(ctx context.Context, name string, vav float64, v *Vector[D]) float64 {
	if w.Finite(name, vav); !(vav <= 0) || w.err != nil {
		return vav
	}
	switch n := v.norm(ctx); {
	case w.err != nil:
	case vav < -10*epsilon[D, R]()*w.pivots.largest*n*n:
		w.End(Indefinite, "%s is %g: the operator is not positive definite: use MINRES, CGLS or LSQR", name, vav)
	default:
		w.End(IllConditioned, "%s is %g: the operator is singular to rounding: use MINRES, CGLS or LSQR", name, vav)
	}
	return vav
}

// Reduce adds up the queued sums over the ranks, in one message, and stores them
// where they belong. It is collective.
func (s *shared) Reduce(ctx context.Context) {
	if len(s.queue) == 0 {
		s.Fail(errors.New("nothing is queued for Reduce"))
	}
	if s.ready(ctx) {
		s.send(ctx, s.several)
	}
	for _, q := range s.queue {
		v := complex(math.NaN(), math.NaN())
		if s.err == nil {
			v = q.slot.Complex()
		}
		if *q.re = real(v); q.im != nil {
			*q.im = imag(v)
		}
	}
	s.queue = s.queue[:0]
}
