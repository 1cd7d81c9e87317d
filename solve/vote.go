package solve

import (
	"context"
	"errors"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/trace"
)

// votes are what only some ranks know after an iteration, and all must know. They
// travel with the next message of the workspace, which is one of the next step. If
// they end the run, that step ends there. It has not changed x: a change of x counts
// the votes first, with a message of their own.
type votes struct {
	n    [numVotes]float64 // how many ranks say so; before the count, this one
	cast bool              // they are not counted yet
	ctx  context.Context   // of the step, for changes of x
}

const (
	voteStop = iota // a callback has returned ErrStop
	voteFail        // a callback has failed
	voteTime        // the Budget is spent
	voteSave        // a checkpoint is due
	numVotes
)

// errVoted ends a step in which the votes have ended the run.
var errVoted = errors.New("the ranks have voted to stop")

// over reports whether the votes are counted and end the run.
func (v *votes) over() bool { return !v.cast && v.n[voteStop]+v.n[voteFail]+v.n[voteTime] > 0 }

// send empties a reduction. Votes that are not counted yet travel with it.
func (s *shared) send(ctx context.Context, red *dist.Reduction) {
	v := &s.votes
	if !v.cast {
		s.err = red.Do(ctx)
		return
	}
	var slots [numVotes]dist.Slot
	for i, n := range v.n {
		slots[i] = red.AddNumber(n)
	}
	v.n, v.cast = [numVotes]float64{}, false
	if s.err = red.Do(ctx); s.err != nil {
		return
	}
	for i := range v.n {
		v.n[i] = slots[i].Float()
	}
	if v.over() {
		s.err = errVoted
	}
}

// count counts the votes with a message of their own, if they are not counted yet.
func (s *shared) count(ctx context.Context) error {
	if !s.votes.cast {
		return nil
	}
	s.one.Reset()
	s.send(ctx, s.one)
	if s.err == errVoted {
		return nil
	}
	return s.err
}

// vote calls back and casts the votes of this rank.
func (r *session[D, R]) vote(ctx context.Context) error {
	v := &r.ws.votes
	*v = votes{cast: r.voting, ctx: ctx}
	if !r.voting {
		return nil
	}
	passed := r.now().Sub(r.start)
	if r.c.OnIter != nil {
		if err := r.copyToUser(ctx); err != nil {
			return err
		}
		reg := trace.Begin(ctx, "callback")
		r.refused = r.c.OnIter(Iteration{r.res.Iters, r.res.History[len(r.res.History)-1], passed})
		reg.End()
		switch {
		case errors.Is(r.refused, ErrStop):
			v.n[voteStop], r.refused = 1, nil
		case r.refused != nil:
			v.n[voteFail] = 1
		}
	}
	if r.comm.Rank() == 0 {
		if now := r.now(); r.c.Budget > 0 && now.Sub(r.start) >= r.c.Budget {
			v.n[voteTime] = 1
		} else if r.c.Checkpoint.Interval > 0 && now.Sub(r.saved) >= r.c.Checkpoint.Interval {
			v.n[voteSave] = 1
		}
	}
	return nil
}

// votedInStep reports whether the votes have ended the run in a step that returned
// err. A step without a message has not counted them.
func (r *session[D, R]) votedInStep(ctx context.Context, err error) (bool, error) {
	if err == nil || errors.Is(err, ErrBreakdown) || errors.Is(err, ErrNotFinite) { // on all ranks
		if e := r.ws.count(ctx); e != nil {
			return false, e
		}
	}
	r.ws.err = nil
	return r.ws.votes.over(), err
}

// verdict acts on the votes of all ranks. It is collective.
func (r *session[D, R]) verdict(ctx context.Context) error {
	n := &r.ws.votes.n
	switch {
	case n[voteFail] > 0:
		return comm.Agree(ctx, r.comm, r.refused)
	case r.res.Status != unfinished:
	case n[voteStop] > 0:
		r.res.Status = Stopped
	case n[voteTime] > 0:
		r.res.Status = OutOfTime
	}
	return nil
}
