package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
)

// runLabels lets the last rank ask for another reduction than the others. All
// ranks get an error that names both, and go on.
func runLabels(ctx context.Context, r dist.Proc, _ uint64) error {
	for _, l := range []dist.Layout{{}, dist.Replicated} {
		s, err := dist.NewSpace(ctx, r, l, 10)
		if err == nil {
			err = labels(ctx, r, s)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
	}
	return nil
}

func labels(ctx context.Context, r dist.Proc, s *dist.Space) error {
	x, err := dist.FromFunc(ctx, s, func([]int) float64 { return 2 })
	if err != nil {
		return err
	}
	z, err := dist.FromFunc(ctx, s, func([]int) complex128 { return 2i })
	if err != nil {
		return err
	}
	norm := func(p float64) func() error {
		return func() error { _, err := dist.Norm(ctx, x, p); return err }
	}
	dot := func() error { _, err := dist.Dot(ctx, x, x); return err }
	dotT := func() error { _, err := dist.DotT(ctx, x, x); return err }
	sum := func() error { _, err := dist.Sum(ctx, x); return err }
	minMax := func() error { _, _, err := dist.MinMax(ctx, x); return err }
	along := func(p float64, axis int) func() error {
		return func() error { _, err := dist.NormAlong(ctx, x, p, axis); return err }
	}
	red := dist.NewReduction(s, 3)
	collected := func(kinds string) func() error {
		return func() error {
			for _, k := range kinds {
				switch k {
				case 'd':
					dist.AddDot(red, x, x)
				case 'c':
					dist.AddDot(red, z, z)
				case 'n':
					dist.AddNorm2(red, x)
				case 'a':
					dist.AddAxpyNorm2(red, 0, x, x)
				case 'v':
					red.AddNumber(1)
				case 'p':
					dist.AddNorm(red, x, 1)
				}
			}
			return red.Do(ctx)
		}
	}
	for _, c := range []struct {
		name string
		f, g func() error
	}{
		{"norms of order 1 and 2", norm(1), norm(2)},
		{"norms of order 1 and 3", norm(1), norm(3)},
		{"norms of order 0.1234567 and 0.1234568", norm(0.1234567), norm(0.1234568)},
		{"norms of order 1 and 1.0000001", norm(1), norm(1.0000001)},
		{"norms of order +Inf and -Inf", norm(math.Inf(1)), norm(math.Inf(-1))},
		{"a dot product and a norm", dot, norm(1)},
		{"a dot product and a norm of order 2", dot, norm(2)},
		{"a dot product and a sum", dot, sum},
		{"a sum and a norm", sum, norm(0)},
		{"dot products with and without conjugation", dot, dotT},
		{"one dot product and two", dot, collected("dd")},
		{"a norm of order 2 and min and max", norm(2), minMax},
		{"a norm of order 1 and min and max", norm(1), minMax},
		{"a norm and norms along an axis", norm(2), along(2, 0)},
		{"reductions of a dot product and of a norm", collected("d"), collected("n")},
		{"slots in another order", collected("dn"), collected("nd")},
		{"a complex dot product and two real ones", collected("c"), collected("dd")},
		{"a reduction of one slot and a sum", collected("d"), sum},
		{"norms with and without an update", collected("na"), collected("nn")},
		{"numbers and norms", collected("vd"), collected("pd")},
	} {
		f := c.f
		if r.Rank() == r.Size()-1 {
			f = c.g
		}
		err := f()
		if m := (*comm.MismatchError)(nil); !errors.As(err, &m) {
			return fmt.Errorf("%s: got error %v, want a mismatch", c.name, err)
		}
		if err := c.g(); err != nil {
			return fmt.Errorf("after %s: %w", c.name, err)
		}
	}
	if err := along(float64(1+r.Rank()), 0)(); err == nil || !strings.Contains(err.Error(), "rank 0 has axis 0, p 1, rank 1 has axis 0, p 2") {
		return fmt.Errorf("norms of order 1 and 2 along an axis: got error %v", err)
	}
	what := []string{"ops: flip", "ops: flip"}
	what[r.Rank()%2] = "ops: roll"
	if err := dist.Agree(ctx, r.Comm, what[0], nil, "axis 0"); err == nil || !strings.Contains(err.Error(), "is in ops: roll with axis 0, rank 1 in ops: flip with axis 0") {
		return fmt.Errorf("different constructors: got error %v", err)
	}
	return nil
}

func TestLabels(t *testing.T) {
	for _, ranks := range []int{2, 3} {
		onRanks(t, ranks, func(ctx context.Context, r dist.Proc) error { return runLabels(ctx, r, 0) })
	}
}

// runAlone lets rank 0 alone ask for a dot product, of split and of replicated
// arrays: seed is the Replication.
func runAlone(ctx context.Context, r dist.Proc, seed uint64) error {
	s, err := dist.NewSpace(ctx, r, dist.Layout{Replicate: dist.Replication(seed)}, 10)
	if err != nil {
		return err
	}
	x, err := dist.New[float64](s)
	if err != nil || r.Rank() != 0 {
		return err
	}
	_, err = dist.Dot(ctx, x, x)
	return err
}

// A reduction that only one rank asks for ends in an error that names it, for
// every layout.
func TestReductionOfOneRank(t *testing.T) {
	const want = `rank 0 is in AllReduce(sum, 1 float64, "dot"), rank 1 is in `
	for _, l := range []dist.Replication{dist.Scattered, dist.Unchecked, dist.Checked} {
		err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error { return runAlone(ctx, r, uint64(l)) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("replication %v: got error %v", l, err)
		}
	}
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		if out, err := underMPI(t, m, "alone", uint64(dist.Unchecked)); err == nil || !strings.Contains(out, want) {
			t.Errorf("got error %v and output %s", err, out)
		}
	})
}

// moves goes forward on rank 0 and back on the others.
func moves(ctx context.Context, r dist.Proc, name string) error {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, 6, 6)
	if err != nil {
		return err
	}
	type operator interface {
		Domain() *dist.Space
		Range() *dist.Space
		Forward(context.Context, dist.Array[float32], dist.Array[float32]) error
		Adjoint(context.Context, dist.Array[float32], dist.Array[float32]) error
	}
	var op operator
	if name == "halo" {
		op, err = dist.NewHalo[float32](s, []int{1, 0}, []int{1, 0}, true)
	} else {
		to, e := s.Like(dist.Split(1), 6, 6)
		if e != nil {
			return e
		}
		op, err = dist.NewRedistribution[float32](s, to)
	}
	if err != nil {
		return err
	}
	x, err := dist.New[float32](op.Domain())
	if err != nil {
		return err
	}
	y, err := dist.New[float32](op.Range())
	if err != nil {
		return err
	}
	if r.Rank() == 0 {
		return op.Forward(ctx, y, x)
	}
	return op.Adjoint(ctx, x, y)
}

func TestForwardMeetsAdjoint(t *testing.T) {
	for name, words := range map[string][2]string{"move": {`"move"`, `"back"`}, "halo": {`"halo"`, `"halo adj"`}} {
		err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error { return moves(ctx, r, name) })
		if m := (*comm.MismatchError)(nil); !errors.As(err, &m) || !strings.Contains(err.Error(), words[0]) || !strings.Contains(err.Error(), words[1]) {
			t.Errorf("%s forward on rank 0, adjoint on rank 1: got error %v", name, err)
		}
	}
}

// flaky is a transport whose exchange number fails, from 1, fails. It notes what it has
// started.
type flaky struct {
	driver.Conn
	fails, starts int
	started       []uint64
}

var errFlaky = errors.New("the network is down")

func (f *flaky) Start(ctx context.Context, q *driver.Call) (uint64, error) {
	if f.starts++; f.starts == f.fails {
		return 0, errFlaky
	}
	id, err := f.Conn.Start(ctx, q)
	f.started = append(f.started, id)
	return id, err
}

// An exchange that fails halfway leaves no message under way: the buffers are
// those of the next one.
func TestExchangeFailsHalfway(t *testing.T) {
	err := launch.Config{Ranks: 3}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
		f := &flaky{Conn: r.Comm.Conn()}
		flakyRank, err := dist.NewProc(ctx, comm.New(f), r.Device)
		if err != nil {
			return err
		}
		s, err := dist.NewSpace(ctx, flakyRank, dist.Layout{}, 6, 6)
		if err != nil {
			return err
		}
		to, err := s.Like(dist.Split(1), 6, 6)
		if err != nil {
			return err
		}
		m, err := dist.NewRedistribution[float32](s, to)
		if err != nil {
			return err
		}
		x, err := dist.New[float32](s)
		if err != nil {
			return err
		}
		y, err := dist.New[float32](to)
		if err != nil {
			return err
		}
		f.started, f.starts = nil, 0
		if r.Rank() == 1 {
			f.fails = 1
		}
		err = m.Forward(ctx, y, x)
		if r.Rank() == 1 && !errors.Is(err, errFlaky) {
			return fmt.Errorf("got error %v", err)
		}
		for i, q := range f.started {
			if done, _ := f.Test(q); !done {
				return fmt.Errorf("exchange %d of %d is still under way", i, len(f.started))
			}
		}
		if r.Rank() == 1 && len(f.started) != 0 {
			return fmt.Errorf("%d exchanges were started, want none", len(f.started))
		}
		return err
	})
	if !errors.Is(err, errFlaky) || strings.Contains(err.Error(), "under way") || strings.Contains(err.Error(), "started") {
		t.Errorf("got error %v", err)
	}
}
