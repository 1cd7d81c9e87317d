package lsm

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/report"
	"github.com/golops/golops/scalar"
)

// write writes the results to the folder, the image first. If a file cannot be
// written, it goes on with the others. It is collective.
func (s *session[T]) write(ctx context.Context, d, adj, inv dist.Array[T], o Observer, res *Result) error {
	w := &writer[T]{session: s, ctx: ctx}
	w.array(imageFile, inv)
	if res.Stopped.Hurry { // the process may be killed before the rest is written
		w.publish(o, false)
	}
	w.file("residuals.csv", func(out io.Writer) error { return residuals(res, out) })
	w.file("lsm.yaml", func(out io.Writer) error {
		text, err := s.Config.YAML()
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	})
	w.array("adjoint.npy", adj)
	if s.Reflectivity != nil {
		w.truth()
		w.array("data.npy", d)
	}
	w.pictures(d, adj, inv, res)
	if !res.Stopped.Hurry {
		w.publish(o, true)
	}
	if s.r.Rank() == 0 {
		res.Files = w.names()
		res.Notes = append(res.Notes, s.out.notes...)
	}
	err := errors.Join(w.errs...)
	if err != nil && s.r.Rank() == 0 {
		left := "nothing was written"
		if len(res.Files) > 0 {
			left = fmt.Sprintf("%s has what was written: %s", s.out.shown(), strings.Join(res.Files, ", "))
		}
		err = fmt.Errorf("%w: %s", err, left)
		for _, n := range s.out.notes { // callers ignore the Result of a failed run
			o.Note(n)
		}
	}
	return comm.Agree(ctx, s.r.Comm, err)
}

// writer writes one file after the other and collects errors.
type writer[T scalar.Scalar] struct {
	*session[T]
	ctx  context.Context
	errs []error
	dead bool // communication has failed
}

func (w *writer[T]) fail(err error) {
	if err == nil {
		return
	}
	w.errs = append(w.errs, err)
	w.dead = w.dead || w.ctx.Err() != nil || errors.As(err, new(*comm.AbortError))
}

// array saves an array. It is collective.
func (w *writer[T]) array(name string, a dist.Array[T]) {
	if !w.dead {
		w.fail(data.Save(w.ctx, filepath.Join(w.dir, name), a))
	}
}

// truth saves the true model. It is collective.
func (w *writer[T]) truth() {
	if w.dead {
		return
	}
	truth, err := dist.New[T](w.op.Domain())
	if err == nil {
		err = w.fillTrue(truth)
	}
	if err = comm.Agree(w.ctx, w.r.Comm, err); err != nil {
		w.fail(err)
		return
	}
	w.array("model.npy", truth)
}

// file saves what rank 0 has.
func (w *writer[T]) file(name string, write func(io.Writer) error) {
	if w.r.Rank() == 0 && !w.dead {
		w.fail(report.Save(filepath.Join(w.dir, name), write))
	}
}

// pictures draws what was found. It is collective.
func (w *writer[T]) pictures(d, adj, inv dist.Array[T], res *Result) {
	if w.dead {
		return
	}
	p, err := w.collect(w.ctx, d, adj, inv)
	if err != nil {
		w.fail(err)
		return
	}
	if w.r.Rank() == 0 {
		res.Files = w.names()
		w.fail(w.session.pictures(p, res, func(name string) string {
			res.Files = append(res.Files, name)
			return filepath.Join(w.dir, name)
		}))
	}
}

// publish moves the folder to Config.Out, on rank 0, and broadcasts its path. It is
// collective.
func (w *writer[T]) publish(o Observer, last bool) {
	if w.dead {
		return
	}
	if w.r.Rank() == 0 {
		w.fail(w.out.publish(last && len(w.errs) == 0))
		if w.dir = w.out.work; w.out.has(imageFile) {
			o.Saved("image in " + filepath.Join(w.out.shown(), imageFile))
		}
	}
	if err := comm.BroadcastObject(w.ctx, w.r.Comm, &w.dir, 0); err != nil {
		w.fail(err)
	}
}

// names lists the result files that exist.
func (w *writer[T]) names() (names []string) {
	for _, n := range resultFiles {
		if w.dir != "" && w.out.has(n) {
			names = append(names, n)
		}
	}
	return names
}

// pictureData is what pictures show, on rank 0.
type pictureData struct {
	adjoint, inverse []float64
	gather           []float64 // of the middle source, receivers × samples
	source           int
}

// collect gathers the data of the pictures on rank 0. It is collective.
func (s *session[T]) collect(ctx context.Context, d, adj, inv dist.Array[T]) (pictureData, error) {
	p := pictureData{source: len(s.Sources) / 2}
	for _, a := range []struct {
		from dist.Array[T]
		to   *[]float64
	}{{adj, &p.adjoint}, {inv, &p.inverse}} {
		all, err := dist.Gather(ctx, a.from, 0)
		if err != nil {
			return p, err
		}
		*a.to = floats(all)
	}
	return p, s.shot(ctx, d, &p)
}

// shot sends one gather to rank 0, from the ranks that have its traces.
func (s *session[T]) shot(ctx context.Context, d dist.Array[T], p *pictureData) error {
	n := s.Config.Time.Samples
	mine := make([]T, len(s.Receivers)*n)
	host, err := d.Host()
	if err == nil {
		if b := d.Space().Box(s.r.Rank()); d.Space().Primary() && b.Lo[0] <= p.source && p.source < b.Hi[0] {
			receivers := b.Hi[1] - b.Lo[1]
			copy(mine[b.Lo[1]*n:b.Hi[1]*n], host[(p.source-b.Lo[0])*receivers*n:])
		}
	}
	if err := comm.Agree(ctx, s.r.Comm, err); err != nil {
		return err
	}
	b := comm.Of(mine)
	if err := s.r.Reduce(ctx, b, b, comm.Sum, 0); err != nil { // the others have zeros
		return err
	}
	p.gather = floats(mine)
	return nil
}

func floats[T scalar.Scalar](v []T) []float64 {
	f := make([]float64, len(v))
	for i, x := range v {
		f[i] = real(scalar.Complex(x))
	}
	return f
}

// residuals writes the table of the iterations.
func residuals(res *Result, out io.Writer) error {
	w := csv.NewWriter(out)
	f := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	w.Write([]string{"iteration", "residual", "relative", "gradient"})
	for i, n := range res.history {
		w.Write([]string{strconv.Itoa(i), f(n.Resid), f(n.Resid / res.history[0].Resid), f(n.Grad)})
	}
	w.Flush()
	return w.Error()
}
