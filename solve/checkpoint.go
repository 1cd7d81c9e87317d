package solve

import (
	"context"
	"fmt"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
)

// arrays are what a checkpoint holds: x and the vectors of the method.
func (r *runner[T]) arrays() []dist.Array[T] {
	return append([]dist.Array[T]{r.x}, r.m.State().Vectors...)
}

// header is what a checkpoint of now says of itself.
func (r *runner[T]) header(ctx context.Context) (header, error) {
	if !r.known {
		var err error
		if r.prints, err = fingerprints(ctx, r.p); err != nil {
			return header{}, err
		}
		r.known = true
	}
	h := header{
		Method: r.m.Name(), Damp: r.p.Damp, Data: r.prints[0], Operator: r.prints[1],
		Iters: r.res.Iters, History: r.res.History,
	}
	for _, v := range r.m.State().Numbers {
		h.Numbers = append(h.Numbers, *v)
	}
	return h, nil
}

// save writes a checkpoint and removes those that are too old. It is collective.
func (r *runner[T]) save(ctx context.Context) error {
	h, err := r.header(ctx)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if err := write(ctx, r.comm, r.files.next(r.res.Iters), h, r.arrays()); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	r.saved = r.now()
	if r.comm.Rank() == 0 {
		err = r.files.prune()
	}
	if err := comm.Agree(ctx, r.comm, err); err != nil {
		return fmt.Errorf("checkpoint: remove old ones: %w", err)
	}
	return nil
}

// resume looks into the folder and goes on from the newest checkpoint that fits,
// if asked for. It is collective.
func (r *runner[T]) resume(ctx context.Context) error {
	if r.files.Dir == "" {
		return nil
	}
	var names []string
	var err error
	if r.comm.Rank() == 0 {
		names, _, err = r.files.list()
	}
	if err := comm.Agree(ctx, r.comm, err); err != nil {
		return err
	}
	if err := comm.BroadcastObject(ctx, r.comm, &names, 0); err != nil {
		return err
	}
	if len(names) == 0 {
		return nil
	}
	r.files.last, _ = number(names[0])
	if !r.files.Resume {
		return nil
	}
	want, err := r.header(ctx)
	if err != nil {
		return err
	}
	for _, n := range names {
		h, reason, err := read(ctx, r.comm, n, want, r.arrays())
		if err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
		if reason == nil {
			r.adopt(h)
			return nil
		}
		r.files.refused = append(r.files.refused, n)
		r.res.Notes = append(r.res.Notes, fmt.Sprintf("%s is refused: %v", n, reason))
	}
	return fmt.Errorf("no checkpoint is valid: %s: start without resuming, or in another folder", strings.Join(r.res.Notes, "; "))
}
