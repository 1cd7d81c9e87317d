package commtest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/splitmix"
	"github.com/golops/golops/scalar"
)

// randomCases is one case with all random sequences. Sequence k of a seed is always the same, so
// a failure can be repeated with its seed and k+1 Sequences.
func randomCases(cfg Config) []Case {
	if cfg.Sequences < 1 {
		return nil
	}
	return []Case{on("Random sequences", func(r *rank) error {
		plan, own := rand.NewPCG(0, 0), rand.NewPCG(0, 0)
		s := sequence{rank: r, plan: rand.New(plan), own: rand.New(own)}
		var first error // failed check
		for k := range cfg.Sequences {
			plan.Seed(cfg.Seed, uint64(k))
			own.Seed(cfg.Seed+uint64(r.me)+1, uint64(k))
			r.tag = splitmix.Hash(splitmix.Hash(cfg.Seed) + uint64(k))
			if err := s.run(1+s.plan.IntN(6), true); err != nil {
				return errors.Join(first, fmt.Errorf("seed %d, sequence %d: %w", cfg.Seed, k, err))
			}
			if s.failed != nil && first == nil {
				first = fmt.Errorf("seed %d, sequence %d: %w", cfg.Seed, k, s.failed)
			}
			s.failed = nil
			r.release()
		}
		return first
	})}
}

// sequence is one rank's part of a random sequence of operations.
type sequence struct {
	*rank
	plan   *rand.Rand // chooses the operations; equal on all ranks of the group
	own    *rand.Rand // chooses when requests are completed; differs between ranks
	open   []pending
	failed error // the first failed check
}

// run does n operations and completes them.
func (s *sequence) run(n int, mayDivide bool) error {
	for op := range n {
		name, err := s.step(mayDivide)
		if err != nil {
			return fmt.Errorf("operation %d of %d, %v: %w", op, n, name, err)
		}
		for len(s.open) > 0 && s.own.IntN(3) == 0 {
			if err := s.finish(s.own.IntN(len(s.open))); err != nil {
				return fmt.Errorf("operation %d of %d: %w", op, n, err)
			}
		}
	}
	for len(s.open) > 0 {
		if err := s.finish(s.own.IntN(len(s.open))); err != nil {
			return fmt.Errorf("end of %d operations: %w", n, err)
		}
	}
	if s.bad != nil { // from a check of rank
		s.note(s.bad)
		s.bad = nil
	}
	return nil
}

func (s *sequence) note(err error) {
	if s.failed == nil {
		s.failed = err
	}
}

// finish completes one of the requests under way.
func (s *sequence) finish(i int) error {
	p, last := s.open[i], len(s.open)-1
	s.open[i] = s.open[last]
	s.open = s.open[:last]
	finish := s.wait
	if s.own.IntN(3) == 0 {
		finish = s.poll
	}
	if err := finish(p); err != nil {
		return err
	}
	s.note(p.verify())
	return nil
}

// step does or starts one operation and returns its name.
func (s *sequence) step(mayDivide bool) (name fmt.Stringer, err error) {
	switch p := s.plan.IntN(100); {
	case p < 60:
		return s.collective()
	case p < 75:
		return text("messages at once"), s.messages()
	case p < 79:
		return text("exchange"), s.neighbours(s.dtype(), s.count(), 1+s.plan.IntN(3))
	case p < 83:
		dt, n, d := s.dtype(), s.count(), s.plan.IntN(s.size)
		return text("shift"), s.shift(d, dt, n)
	case p < 89:
		m := message{s.plan.IntN(s.size), s.plan.IntN(s.size), s.dtype(), s.count(), s.nextTag()}
		if m.from == m.to {
			return m, nil
		}
		return m, s.transfer(m)
	case p < 96 || !mayDivide:
		return text("group of messages"), s.group()
	default:
		return text("split"), s.split()
	}
}

type text string

func (t text) String() string { return string(t) }

func (s *sequence) dtype() scalar.DType { return scalar.DTypes[s.plan.IntN(len(scalar.DTypes))] }

// count is often zero or small, rarely large.
func (s *sequence) count() int {
	switch p := s.plan.IntN(256); {
	case p < 40:
		return 0
	case p == 255:
		return 5000
	default:
		return 1 + s.plan.IntN(40)
	}
}

func (s *sequence) collective() (fmt.Stringer, error) {
	k := call{kind: driver.KindBarrier}
	if i := s.plan.IntN(len(collectiveKinds) + 1); i < len(collectiveKinds) {
		k.kind = collectiveKinds[i]
	}
	f := formOf(k.kind)
	k.dt, k.op, k.n, k.root = s.dtype(), driver.Ops[s.plan.IntN(len(driver.Ops))], s.count(), s.plan.IntN(s.size)
	k.inPlace = f.inPlace && s.plan.IntN(2) == 0
	if k.kind.Spec().CheckOp(k.op, k.dt) != nil {
		k.op = comm.Sum
	}
	if f.blocks || f.pairs {
		k.counts = s.counts(k.n, f)
	}
	if f.pairs && k.inPlace {
		k.counts = symmetric(k.counts, s.size)
	}
	p, err := s.begin(k)
	if err == nil {
		s.open = append(s.open, p)
		if p.req == (comm.Request{}) { // has completed
			s.open = s.open[:len(s.open)-1]
			s.note(p.verify())
		}
	}
	return k, err
}

// counts returns blocks of n elements or, if counts may differ, of random lengths.
func (s *sequence) counts(n int, f form) []int {
	blocks := s.size
	if f.pairs {
		blocks *= s.size
	}
	counts := uniform(n, blocks)
	if f.varying {
		for i := range counts {
			counts[i] = s.count()
		}
	}
	return counts
}

// draw returns a few random messages.
func (s *sequence) draw() []message {
	ms := make([]message, 1+s.plan.IntN(6))
	for i := range ms {
		ms[i] = message{s.plan.IntN(s.size), s.plan.IntN(s.size), s.dtype(), s.count(), s.nextTag()}
	}
	return ms
}

func (s *sequence) messages() error {
	ps, err := s.launch(s.draw())
	s.open = append(s.open, ps...)
	return err
}

// group sends a few random messages in one Group.
func (s *sequence) group() error {
	ms := s.draw()
	in, out := make([]vec, len(ms)), make([]vec, len(ms))
	for i, m := range ms {
		if m.from == s.me {
			out[i] = s.outgoing(m)
		}
		if m.to == s.me {
			in[i] = s.vec(m.dt, m.n)
		}
	}
	err := s.c.Group(s.ctx, func() error {
		for i, m := range ms {
			if out[i] != nil {
				if err := s.c.Send(s.ctx, whole(out[i]), m.to); err != nil {
					return err
				}
			}
			if in[i] != nil {
				if err := s.c.Recv(s.ctx, whole(in[i]), m.from); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, m := range ms {
		if in[i] != nil {
			s.note(s.verify(m, in[i]))
		}
	}
	return nil
}

// split makes groups of random ranks, which do different operations at the same time.
func (s *sequence) split() error {
	colors, keys := make([]int, s.size), make([]int, s.size)
	for i := range colors {
		colors[i], keys[i] = s.plan.IntN(4)-1, s.plan.IntN(9)-4
	}
	sub, err := s.subgroup(colors, keys)
	if err != nil || sub == nil {
		return err
	}
	sub.nextTag()
	t := sequence{rank: sub, plan: rand.New(rand.NewPCG(sub.tag, 1)), own: s.own}
	if err := t.run(1+t.plan.IntN(4), false); err != nil {
		return fmt.Errorf("colors %v, keys %v, group of color %d: %w", colors, keys, colors[s.me], err)
	}
	if t.failed != nil {
		s.note(fmt.Errorf("colors %v, keys %v, group of color %d: %w", colors, keys, colors[s.me], t.failed))
	}
	return sub.c.Close()
}
