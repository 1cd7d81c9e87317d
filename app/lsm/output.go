package lsm

import (
	"context"
	"encoding/csv"
	"io"
	"path/filepath"
	"strconv"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/report"
	"github.com/golops/golops/scalar"
)

// write leaves the results in the folder. It is collective.
func (s *rank[T]) write(ctx context.Context, d, adj, inv dist.Array[T], res *Result) error {
	if err := s.mkdir(ctx); err != nil {
		return err
	}
	add := func(name string) string {
		res.Files = append(res.Files, name)
		return filepath.Join(s.Config.Out, name)
	}
	save := func(name string, a dist.Array[T], view func(dist.Array[T]) (dist.Array[T], error)) error {
		v, err := view(a)
		if err != nil {
			return err
		}
		return data.Save(ctx, add(name), v)
	}
	var truth dist.Array[T]
	if s.Reflectivity != nil {
		var err error
		if truth, err = dist.New[T](s.op.Domain()); err == nil {
			err = s.fillTrue(truth)
		}
		if err := comm.Agree(ctx, s.r.Comm, err); err != nil {
			return err
		}
		if err := save("model.npy", truth, s.image); err != nil {
			return err
		}
		if err := save("data.npy", d, s.gathers); err != nil {
			return err
		}
	}
	if err := save("adjoint.npy", adj, s.image); err != nil {
		return err
	}
	if err := save("inverse.npy", inv, s.image); err != nil {
		return err
	}
	p, err := s.collect(ctx, d, adj, inv)
	if err != nil {
		return err
	}
	if s.r.Rank() == 0 {
		err = report.Save(add("residuals.csv"), func(w io.Writer) error { return residuals(res, w) })
		if err == nil {
			err = s.pictures(p, res, add)
		}
	}
	return comm.Agree(ctx, s.r.Comm, err)
}

// seen is what pictures show, on rank 0.
type seen struct {
	adjoint, inverse []float64
	gather           []float64 // of the middle source, receivers × samples
	source           int
}

// collect brings to rank 0 what pictures show. It is collective.
func (s *rank[T]) collect(ctx context.Context, d, adj, inv dist.Array[T]) (seen, error) {
	p := seen{source: len(s.Sources) / 2}
	for _, a := range []struct {
		from dist.Array[T]
		to   *[]float64
	}{{adj, &p.adjoint}, {inv, &p.inverse}} {
		img, err := s.image(a.from)
		if err != nil {
			return p, err
		}
		all, err := dist.Gather(ctx, img, 0)
		if err != nil {
			return p, err
		}
		*a.to = floats(all)
	}
	return p, s.shot(ctx, d, &p)
}

// shot brings one gather to rank 0, from the rank that has it.
func (s *rank[T]) shot(ctx context.Context, d dist.Array[T], p *seen) error {
	d3, err := s.gathers(d)
	if err != nil {
		return err
	}
	n := len(s.Receivers) * s.Config.Time.Samples
	mine := make([]T, n)
	host, err := d3.Host()
	if err == nil {
		if b := d3.Space().Box(s.r.Rank()); d3.Space().Primary() && b.Lo[0] <= p.source && p.source < b.Hi[0] {
			copy(mine, host[(p.source-b.Lo[0])*n:])
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
