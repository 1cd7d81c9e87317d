package solve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
)

// Checkpoint says where and how often the state of a run is written. All ranks
// must see the same folder.
type Checkpoint struct {
	Dir      string        // "" means no checkpoints
	Every    int           // iterations between two; 0 means only by time and at the end
	Interval time.Duration // time between two; 0 means only by iterations and at the end
	Keep     int           // how many are kept; 0 means 2
	Resume   bool          // go on from the newest valid one, if there is any
}

func (c Checkpoint) validate() error {
	var errs []error
	if c.Every < 0 || c.Interval < 0 || c.Keep < 0 {
		errs = append(errs, fmt.Errorf("the Checkpoint is every %d iterations or %v, keeping %d: must not be negative", c.Every, c.Interval, c.Keep))
	}
	if c.Dir == "" && (c.Every != 0 || c.Interval != 0 || c.Resume) {
		errs = append(errs, errors.New("the Checkpoint has no Dir"))
	}
	return errors.Join(errs...)
}

func (c Checkpoint) keep() int {
	if c.Keep == 0 {
		return 2
	}
	return c.Keep
}

const prefix, suffix = "iteration-", ".checkpoint"

// path names the checkpoint of an iteration so that names sort by it.
func (c Checkpoint) path(iter int) string {
	return filepath.Join(c.Dir, fmt.Sprintf("%s%09d%s", prefix, iter, suffix))
}

// list returns the checkpoints of a folder, newest first.
func (c Checkpoint) list() ([]string, error) {
	all, err := os.ReadDir(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range all {
		if n := e.Name(); strings.HasPrefix(n, prefix) && strings.HasSuffix(n, suffix) {
			names = append(names, filepath.Join(c.Dir, n))
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names, err
}

// arrays are what a checkpoint holds: x and the vectors of the method.
func (r *runner[T]) arrays() []dist.Array[T] {
	return append([]dist.Array[T]{r.x}, r.m.State().Vectors...)
}

// save writes a checkpoint and removes those that are too old. It is collective.
func (r *runner[T]) save(ctx context.Context) error {
	h := header{
		Method: r.m.Name(), Iters: r.res.Iters, Damp: r.p.Damp, History: r.res.History,
		Elapsed: time.Since(r.start),
	}
	for _, v := range r.m.State().Numbers {
		h.Numbers = append(h.Numbers, *v)
	}
	err := r.know(ctx)
	if err != nil {
		return err
	}
	h.Data = r.data
	if err := write(ctx, r.comm, r.c.Checkpoint.path(r.res.Iters), h, r.arrays()); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	r.saved = time.Now()
	if r.comm.Rank() == 0 {
		var names []string
		if names, err = r.c.Checkpoint.list(); err == nil && len(names) > r.c.Checkpoint.keep() {
			for _, n := range names[r.c.Checkpoint.keep():] {
				err = errors.Join(err, os.Remove(n))
			}
		}
	}
	return comm.Agree(ctx, r.comm, err)
}

// resume goes on from the newest checkpoint that fits, if asked for. It is
// collective.
func (r *runner[T]) resume(ctx context.Context) error {
	if !r.c.Checkpoint.Resume {
		return nil
	}
	var names []string
	var err error
	if r.comm.Rank() == 0 {
		names, err = r.c.Checkpoint.list()
	}
	if err := comm.Agree(ctx, r.comm, err); err != nil {
		return err
	}
	if err := comm.BroadcastObject(ctx, r.comm, &names, 0); err != nil {
		return err
	}
	if err := r.know(ctx); err != nil {
		return err
	}
	for _, n := range names {
		h, err := read(ctx, r.comm, n, header{Method: r.m.Name(), Damp: r.p.Damp, Data: r.data}, r.arrays())
		if err == nil {
			return r.adopt(h)
		}
		var aborted *comm.AbortError
		if ctx.Err() != nil || errors.As(err, &aborted) {
			return err
		}
		r.res.Notes = append(r.res.Notes, fmt.Sprintf("%s refused: %v", n, err))
	}
	if len(names) > 0 {
		return fmt.Errorf("no checkpoint is valid: %s: start without resuming, or in another folder", strings.Join(r.res.Notes, "; "))
	}
	return nil
}

// know takes the fingerprint of the data, once.
func (r *runner[T]) know(ctx context.Context) error {
	if r.known {
		return nil
	}
	var err error
	r.data, err = fingerprint(ctx, r.p.B)
	r.known = err == nil
	return err
}

// adopt takes over the numbers of a checkpoint whose vectors have been read.
func (r *runner[T]) adopt(h header) error {
	nums := r.m.State().Numbers
	if len(nums) != len(h.Numbers) || len(h.History) == 0 {
		return fmt.Errorf("the checkpoint has %d numbers and %d norms, %s needs %d and some", len(h.Numbers), len(h.History), r.m.Name(), len(nums))
	}
	for i, v := range h.Numbers {
		*nums[i] = v
	}
	r.res.History = append(r.res.History[:0], h.History...)
	r.res.Iters, r.res.Resumed = h.Iters, h.Iters
	return nil
}
