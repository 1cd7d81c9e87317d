package lsm

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// data reads or models what was recorded.
func (s *session[T]) data(ctx context.Context) (dist.Array[T], error) {
	if file := s.Config.Data.File; file != "" && s.traces == nil {
		d, err := data.Load[T](ctx, file, s.op.Range())
		s.usable(d, err)
		return d, nil
	}
	d, err := dist.New[T](s.op.Range())
	if err != nil {
		return d, err
	}
	if s.traces == nil {
		return d, s.model(ctx, d)
	}
	s.usable(d, s.readTraces(d))
	return d, nil
}

// usable panics with err, or with what is wrong with the data of any rank, as an
// *app.ConfigError. It is collective.
func (s *session[T]) usable(d dist.Array[T], err error) {
	if err == nil {
		err = s.finite(d)
	}
	s.r.Unusable(s.Config.Data.File, err)
}

// readTraces fills this rank's traces from a SEG-Y file.
func (s *session[T]) readTraces(d dist.Array[T]) error {
	f, err := data.OpenSEGY(s.Config.Data.File)
	if err != nil {
		return err
	}
	defer f.Close()
	b, n := d.Space().Box(s.r.Rank()), s.Config.Time.Samples
	host, trace := make([]T, d.Local().Len()), make([]float32, n)
	at := 0
	for src := b.Lo[0]; src < b.Hi[0]; src++ {
		for rec := b.Lo[1]; rec < b.Hi[1]; rec++ {
			if err := f.Trace(s.traces.trace[src*len(s.Receivers)+rec], trace); err != nil {
				return err
			}
			for _, v := range trace {
				host[at] = scalar.From[T](complex(float64(v), 0))
				at++
			}
		}
	}
	return d.Local().CopyIn(host)
}

// finite says which sample is NaN or infinite. One such sample would make the whole
// image NaN.
func (s *session[T]) finite(d dist.Array[T]) error {
	host, err := d.Host()
	if err != nil {
		return err
	}
	n, b := s.Config.Time.Samples, d.Space().Box(s.r.Rank())
	for i, v := range host {
		if x := real(scalar.Complex(v)); math.IsNaN(x) || math.IsInf(x, 0) {
			pair, receivers := i/n, b.Hi[1]-b.Lo[1]
			return fmt.Errorf("data are %g at source %d, receiver %d, sample %d: replace what is no number", x, b.Lo[0]+pair/receivers+1, b.Lo[1]+pair%receivers+1, i%n+1)
		}
	}
	return nil
}

// model computes data from the true reflectivity and adds noise if there is any.
func (s *session[T]) model(ctx context.Context, d dist.Array[T]) error {
	m, err := dist.New[T](s.op.Domain())
	if err != nil {
		return err
	}
	if err := s.fillTrue(m); err != nil {
		return err
	}
	if err := s.op.Forward(ctx, d, m); err != nil || s.Config.Data.Noise == 0 {
		return err
	}
	n, err := dist.Norm(ctx, d, 2)
	if err != nil {
		return err
	}
	sigma := s.Config.Data.Noise * n / math.Sqrt(float64(d.Space().Size()))
	noise, err := dist.Normal[T](ctx, d.Space(), sigma, 0)
	if err != nil {
		return err
	}
	dist.Add(d, d, noise)
	return nil
}

// fillTrue sets m to the true reflectivity.
func (s *session[T]) fillTrue(m dist.Array[T]) error {
	_, _, inner := m.Space().Shape().Around(0)
	lo := m.Space().Box(s.r.Rank()).Lo[0] * inner
	host := make([]T, m.Local().Len())
	for i := range host {
		host[i] = scalar.From[T](complex(s.Reflectivity[lo+i], 0))
	}
	return m.Local().CopyIn(host)
}
