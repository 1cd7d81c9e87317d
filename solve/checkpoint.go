package solve

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/golops/golops/comm"
)

// vectors are what a checkpoint holds: x, the vectors of the method, and the best
// x so far.
func (r *session[D, R]) vectors() []savedVector {
	all := append(saveVector("x", r.ws.X.Array), r.ws.saved()...)
	if r.best.Space() != nil {
		all = append(all, saveVector("best x", r.best)...)
	}
	return all
}

// header is what a checkpoint of now says of itself.
func (r *session[D, R]) header(ctx context.Context) (header, error) {
	if !r.known {
		var err error
		if r.prints, err = fingerprints(ctx, Problem[D, R]{r.ws.A, r.ws.B.Array}); err != nil {
			return header{}, err
		}
		r.known = true
	}
	h := header{
		Method: r.m.Name(), DType: typeName[D, R](), Damp: r.ws.Damp, Data: r.prints[0], Operator: r.prints[1],
		Iters: r.res.Iters, History: r.res.History, tol: sameRun[D, R](),
	}
	for _, v := range r.numbers() {
		h.NumberNames, h.Numbers = append(h.NumberNames, v.name), append(h.Numbers, *v.v)
	}
	return h, nil
}

// save writes a checkpoint and removes those that are too old. What the disk
// refuses is a note: the run is worth more than its checkpoint, and the next one
// may fit. It is collective.
func (r *session[D, R]) save(ctx context.Context) error {
	h, err := r.header(ctx)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	reason, err := write(ctx, r.comm, r.files.next(r.res.Iters), h, r.vectors())
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	r.saved = r.now()
	if reason != nil {
		r.unsaved(reason)
		return nil
	}
	r.res.Saved = r.res.Iters
	var fault error
	if r.comm.Rank() == 0 {
		fault = r.files.prune()
	}
	if reason, err = refuse(ctx, r.comm, fault); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if reason != nil {
		r.note(fmt.Sprintf("old checkpoints cannot be removed: %v", reason))
	}
	return nil
}

// unsaved notes a checkpoint that could not be written. Result.Notes has one
// line for all of them, for there may be one per iteration.
func (r *session[D, R]) unsaved(reason error) {
	text := fmt.Sprintf("the checkpoint of iteration %d could not be written: %v", r.res.Iters, reason)
	if r.c.OnNote != nil {
		r.c.OnNote(text)
	}
	failed := append(r.files.failed, r.res.Iters)
	if r.files.failed = failed; len(failed) == 1 {
		r.files.failedAt = len(r.res.Notes)
		r.res.Notes = append(r.res.Notes, text)
		return
	}
	r.res.Notes[r.files.failedAt] = fmt.Sprintf("%d checkpoints, of iterations %d to %d, could not be written: %v", len(failed), failed[0], r.res.Iters, reason)
}

// note tells at once and keeps for the Result.
func (r *session[D, R]) note(text string) {
	r.res.Notes = append(r.res.Notes, text)
	if r.c.OnNote != nil {
		r.c.OnNote(text)
	}
}

// open makes the folder ready, unless the caller has. It is collective.
func (r *session[D, R]) open(ctx context.Context) (err error) {
	mine := r.files.Checkpoint.open == nil
	if r.files.Checkpoint, err = r.files.Open(ctx, r.comm, r.c.OnNote); err != nil {
		return err
	}
	r.closes = mine
	if o := r.files.Checkpoint.open; o != nil {
		r.res.Notes = append(r.res.Notes, o.notes...)
	}
	return nil
}

// resume goes on from the newest checkpoint that fits, if asked for. It is
// collective.
func (r *session[D, R]) resume(ctx context.Context) error {
	if r.files.Dir == "" || len(r.files.Checkpoint.open.names) == 0 {
		return nil
	}
	names := r.files.Checkpoint.open.names
	r.files.last, _, _ = parseName(names[0])
	if r.files.Restart {
		r.files.refused = names
		return nil
	}
	want, err := r.header(ctx)
	if err != nil {
		return err
	}
	var refused []string
	foreign := false
	for _, n := range names {
		h, reason, err := read(ctx, r.comm, n, want, r.vectors())
		if err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
		if reason == nil && foreign {
			return fmt.Errorf("the folder has newer checkpoints of another run: %s: use another folder for one of them", strings.Join(refused, "; "))
		}
		if reason == nil {
			r.restore(h)
			return nil
		}
		if foreign, err = r.anyRank(ctx, foreign || errors.As(reason, new(*otherRun))); err != nil {
			return err
		}
		r.files.refused = append(r.files.refused, n)
		refused = append(refused, fmt.Sprintf("%s is refused: %v", n, reason))
		r.note(refused[len(refused)-1])
	}
	return fmt.Errorf("no checkpoint is valid: %s: start without resuming, or in another folder", strings.Join(refused, "; "))
}

// anyRank reports whether v holds on any rank. It is collective.
func (r *session[D, R]) anyRank(ctx context.Context, v bool) (bool, error) {
	b := []int32{0}
	if v {
		b[0] = 1
	}
	err := r.comm.AllReduce(ctx, comm.Of(b), comm.Of(b), comm.Max)
	return b[0] != 0, err
}
