package app

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
	"github.com/golops/golops/report"
)

// write writes the results to the folder, the image first. If a file cannot be
// written, it goes on with the others. It is collective.
func (r *Rank) write(ctx context.Context, found *Results) error {
	w := &writer{Rank: r, ctx: ctx}
	for i, a := range found.Arrays {
		w.array(a)
		if i > 0 {
			continue
		}
		if r.res.Stopped.Hurry { // the process may be killed before the rest is written
			w.publish(false)
		}
		if r.res.history != nil {
			w.file(residualsFile, r.res.residuals)
		}
		w.file(r.name+".yaml", func(out io.Writer) error {
			text, err := r.yaml(r.task.Config)
			if err == nil {
				_, err = out.Write(text)
			}
			return err
		})
	}
	w.pictures(found)
	if !r.res.Stopped.Hurry {
		w.publish(true)
	}
	if r.Rank() == 0 {
		r.res.Files = w.list()
		r.res.Notes = append(r.res.Notes, r.out.notes...)
	}
	err := errors.Join(w.errs...)
	if err != nil && r.Rank() == 0 {
		left := "nothing was written"
		if len(r.res.Files) > 0 {
			left = fmt.Sprintf("%s has what was written: %s", r.out.shown(), strings.Join(r.res.Files, ", "))
		}
		err = fmt.Errorf("%w: %s", err, left)
		for _, n := range r.out.notes { // callers ignore the Result of a failed run
			r.o.Note(n)
		}
	}
	return comm.Agree(ctx, r.Proc().Comm, err)
}

// writer writes one file after the other and collects errors.
type writer struct {
	*Rank
	ctx  context.Context
	errs []error
	dead bool // communication has failed
}

func (w *writer) fail(err error) {
	if err == nil {
		return
	}
	w.errs = append(w.errs, err)
	w.dead = w.dead || w.ctx.Err() != nil || errors.As(err, new(*comm.AbortError))
}

// array saves an array. It is collective.
func (w *writer) array(a Array) {
	if !w.dead {
		w.fail(a.save(filepath.Join(w.dir, a.Name)))
	}
}

// file saves what rank 0 has.
func (w *writer) file(name string, write func(io.Writer) error) {
	if w.Rank.Rank() == 0 && !w.dead {
		w.fail(report.Save(filepath.Join(w.dir, name), write))
	}
}

// pictures draws what was found, and the page that shows it all. It is collective.
func (w *writer) pictures(found *Results) {
	if w.dead {
		return
	}
	var list []Picture
	w.fail(attempt(func() { list = found.Pictures() }))
	if w.Rank.Rank() != 0 {
		return
	}
	if w.res.history != nil {
		list = append(list, w.res.convergence())
	}
	w.res.Files = w.list()
	var figures []report.Figure
	for _, p := range list { // a picture that cannot be drawn leaves the others
		f, err := report.NewFigure(p.Title, p.Caption, p.PNG)
		if err != nil {
			w.fail(err)
			continue
		}
		w.file(p.File, func(out io.Writer) error { _, err := out.Write(f.Image); return err })
		w.res.Files = append(w.res.Files, p.File)
		figures = append(figures, f)
	}
	page := w.page(figures)
	w.file(pageFile, page.HTML)
	if w.ctl.live != nil {
		page.Files = nil // they are not beside that page
		w.ctl.live.become(page.HTML)
	}
}

// convergence is the picture of the iterations.
func (r *Result) convergence() Picture {
	caption := "How much of the data is left unexplained after each iteration."
	if r.Measure == cost {
		caption = "The cost after each iteration."
	}
	return Picture{"residuals.png", "Convergence", caption, r.curve().PNG}
}

// publish moves the folder to that of the configuration, on rank 0, and broadcasts its
// path. It is collective.
func (w *writer) publish(last bool) {
	if w.dead {
		return
	}
	if w.Rank.Rank() == 0 {
		w.fail(w.out.publish(last && len(w.errs) == 0))
		if w.dir = w.out.work; w.out.has(w.image()) {
			w.o.Saved("image in " + filepath.Join(w.out.shown(), w.image()))
		}
	}
	if err := comm.BroadcastObject(w.ctx, w.Proc().Comm, &w.dir, 0); err != nil {
		w.fail(err)
	}
}

// list returns the result files that exist.
func (w *writer) list() (names []string) {
	for _, f := range w.files {
		if w.dir != "" && w.out.has(f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// residuals writes the table of the iterations.
func (r *Result) residuals(out io.Writer) error {
	w := csv.NewWriter(out)
	f := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	last := "gradient"
	if r.Measure == cost {
		last = "step"
	}
	w.Write([]string{"iteration", r.Measure, "relative", last})
	for i, n := range r.history {
		size := n.Grad
		if r.Measure == cost {
			size = n.Step
		}
		w.Write([]string{strconv.Itoa(i), f(r.size(n)), f(r.size(n) / r.size(r.history[0])), f(size)})
	}
	w.Flush()
	return w.Error()
}

// curve draws the residuals.
func (r *Result) curve() report.Curves {
	var left []float64
	for _, n := range r.history {
		left = append(left, r.size(n)/r.size(r.history[0]))
	}
	c := report.ResidualCurve(left)
	if c.Y = "residual relative to the data"; r.Measure == cost {
		c.Y = "cost relative to the start"
	}
	return c
}
