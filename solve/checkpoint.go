package solve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Checkpoint says how often the state of a run is saved, and where. A run that
// converges, is stopped or comes to its limit saves its last state too. A state
// that cannot be saved is a note of the Result, and the run goes on.
type Checkpoint struct {
	Saver    Saver         // such as data.Checkpoints; nil means that nothing is saved
	Every    int           // iterations between two; with 0, iterations do not count
	Interval time.Duration // time between two, by the clock of rank 0; with 0, time does not count
}

// Saver is a place for the states of one run at a time. Its text, as fmt prints it,
// must be the same on all ranks.
type Saver interface {
	Validate() error
	// Open makes the place ready, before anything is computed. note hears what a
	// user should know, on all ranks. It is collective.
	Open(ctx context.Context, g *comm.Comm, note func(text string)) (States, error)
}

// States are the states that a Saver has.
type States interface {
	// Load fills s with the newest state of the same run, and reports whether the
	// run goes on from it. It is collective.
	Load(ctx context.Context, s *State) (found bool, err error)
	// Save saves s, or says why it cannot be saved now. An error ends the run. It is
	// collective.
	Save(ctx context.Context, s *State) (refused, err error)
	// Close is not collective.
	Close()
}

// State is a run after some iterations: what tells it from other runs, and all that
// the next iteration needs.
type State struct {
	Method      string
	DType       string
	Damp        float64
	Data        Fingerprint // of b, zero if there is none
	Operator    Fingerprint // of what A makes of random numbers
	Tolerance   float64     // by which fingerprints of one run may differ, relative to the norm
	Iters       int
	History     []Norms
	NumberNames []string
	Numbers     []float64
	Vectors     []NamedArray
}

// NamedArray is a dist.Array of any element type, and its name in a State.
type NamedArray struct {
	Name  string
	Array interface{ Space() *dist.Space }
}

// NamedNumber is a number and its name in a State.
type NamedNumber struct {
	Name  string
	Value *float64
}

// state is what a checkpoint of now holds: x, the vectors of the method, the best x
// so far, and numbers. It also returns where the numbers are.
func (r *session[D, R]) state() (*State, []NamedNumber) {
	vectors, numbers := r.ws.saved()
	s := &State{
		Method: r.kind(), DType: typeName[D, R](), Damp: r.ws.Damp, Data: r.prints[0], Operator: r.prints[1], Tolerance: sameRun[D, R](),
		Iters: r.res.Iters, History: r.res.History, Vectors: append([]NamedArray{{"x", r.ws.X.Array}}, vectors...),
	}
	if r.best != nil {
		s.Vectors = append(s.Vectors, NamedArray{"best x", r.best.Array})
	}
	numbers = append(numbers, r.numbers()...)
	for _, v := range numbers {
		s.NumberNames, s.Numbers = append(s.NumberNames, v.Name), append(s.Numbers, *v.Value)
	}
	return s, numbers
}

// kind tells runs of one problem apart: the method, and what it minimises.
func (r *session[D, R]) kind() string {
	if f := r.ws.minimises; f != "" {
		return fmt.Sprintf("%s of %s", r.m.Name(), f)
	}
	return r.m.Name()
}

// save saves the state. What the disk refuses is a note: the run is worth more than
// its checkpoint, and the next one may fit. It is collective.
func (r *session[D, R]) save(ctx context.Context) error {
	s, _ := r.state()
	refused, err := r.states.Save(ctx, s)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	r.saved = r.now()
	if refused != nil {
		r.unsaved(refused)
	} else {
		r.res.Saved = r.res.Iters
	}
	return nil
}

// unsaved notes a checkpoint that could not be written. Result.Notes has one
// line for all of them, for there may be one per iteration.
func (r *session[D, R]) unsaved(reason error) {
	before := r.res.Notes
	r.note(fmt.Sprintf("the checkpoint of iteration %d could not be written: %v", r.res.Iters, reason))
	if r.failed = append(r.failed, r.res.Iters); len(r.failed) == 1 {
		r.failedAt = len(before)
		return
	}
	r.res.Notes = before
	r.res.Notes[r.failedAt] = fmt.Sprintf("%d checkpoints, of iterations %d to %d, could not be written: %v", len(r.failed), r.failed[0], r.res.Iters, reason)
}

// note tells at once and keeps for the Result.
func (r *session[D, R]) note(text string) {
	r.res.Notes = append(r.res.Notes, text)
	if r.c.OnNote != nil {
		r.c.OnNote(text)
	}
}

// resume goes on from the newest state that was saved, if there is one. It is
// collective.
func (r *session[D, R]) resume(ctx context.Context) (err error) {
	if r.states == nil {
		return nil
	}
	if err := r.fingerprint(ctx); err != nil {
		return err
	}
	s, numbers := r.state()
	found, err := r.states.Load(ctx, s)
	if err != nil || !found {
		return err
	}
	for i, n := range numbers {
		*n.Value = s.Numbers[i]
	}
	room := min(max(r.c.MaxIter-s.Iters, 0), historyRoom)
	r.res.History = slices.Grow(append(r.res.History[:0], s.History...), room)
	r.res.Iters, r.res.Resumed = s.Iters, s.Iters
	return nil
}

// Fingerprint tells two vectors apart, however they were rounded: the norm, and the
// product with a vector of random numbers.
type Fingerprint struct{ Norm, Mix float64 }

// sameRun is the relative difference that rounding makes between fingerprints of
// one problem, on another number of ranks or another device.
func sameRun[D, R scalar.Scalar]() float64 { return bySize[D, R](1e-4, 1e-8) }

// fingerprint works out those of the data and of what the operator makes of random
// numbers. It is collective, and applies the operator once.
func (r *session[D, R]) fingerprint(ctx context.Context) error {
	w := r.ws
	if linop.H(w.A) == nil {
		return nil
	}
	x, err := dist.Random[D](ctx, w.A.Domain(), 0)
	if err != nil {
		return err
	}
	defer x.Free()
	m, err := dist.Random[R](ctx, w.A.Range(), 1)
	if err != nil {
		return err
	}
	defer m.Free()
	y, err := linop.Apply(ctx, w.A, x)
	if err != nil {
		return err
	}
	defer y.Free()
	mix := &Vector[R]{Array: m, w: &w.shared}
	for i, v := range []*Vector[R]{{Array: y, w: &w.shared}, w.B} {
		if v.Space() != nil {
			v.QueueNorm2(&r.prints[1-i].Norm)
			mix.QueueDot(v, &r.prints[1-i].Mix)
		}
	}
	w.Reduce(ctx)
	for i := range r.prints {
		r.prints[i].Norm = math.Sqrt(r.prints[i].Norm)
	}
	return w.Err()
}
