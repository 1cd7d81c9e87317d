package commtest

import (
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
	return []Case{on("Random sequences", func(r *rank) {
		plan, own := rand.NewPCG(0, 0), rand.NewPCG(0, 0)
		s := sequence{rank: r, plan: rand.New(plan), own: rand.New(own)}
		var first error // failed check
		for k := range cfg.Sequences {
			plan.Seed(cfg.Seed, uint64(k))
			own.Seed(cfg.Seed+uint64(r.me)+1, uint64(k))
			r.tag = splitmix.Hash(splitmix.Hash(cfg.Seed) + uint64(k))
			err := try(func() { s.run(1+s.plan.IntN(6), true) })
			if r.bad != nil && first == nil {
				first = fmt.Errorf("seed %d, sequence %d: %w", cfg.Seed, k, r.bad)
			}
			r.bad = first
			mustf(err, "seed %d, sequence %d", cfg.Seed, k)
			r.release()
		}
	})}
}

// sequence is one rank's part of a random sequence of operations.
type sequence struct {
	*rank
	plan *rand.Rand // chooses the operations; equal on all ranks of the group
	own  *rand.Rand // chooses when requests are completed; differs between ranks
	open []pending
}

// run does n operations and completes them.
func (s *sequence) run(n int, mayDivide bool) {
	for op := range n {
		mustf(try(func() {
			s.step(mayDivide)
			for len(s.open) > 0 && s.own.IntN(3) == 0 {
				s.finish(s.own.IntN(len(s.open)))
			}
		}), "operation %d of %d", op, n)
	}
	for len(s.open) > 0 {
		s.finish(s.own.IntN(len(s.open)))
	}
}

// finish completes one of the requests under way.
func (s *sequence) finish(i int) {
	p, last := s.open[i], len(s.open)-1
	s.open[i] = s.open[last]
	s.open = s.open[:last]
	if s.own.IntN(3) == 0 {
		s.poll(p)
	} else {
		s.wait(p)
	}
	p.verify()
}

// step does or starts one operation.
func (s *sequence) step(mayDivide bool) {
	switch p := s.plan.IntN(100); {
	case p < 60:
		s.collective()
	case p < 75:
		s.open = append(s.open, s.launch(s.draw()...)...)
	case p < 79:
		s.neighbours(s.dtype(), s.count(), 1+s.plan.IntN(3))
	case p < 83:
		dt, n, d := s.dtype(), s.count(), s.plan.IntN(s.size)
		s.shift(d, dt, n)
	case p < 89:
		s.transfer(message{s.plan.IntN(s.size), s.plan.IntN(s.size), s.dtype(), s.count(), s.nextTag()})
	case p < 96 || !mayDivide:
		s.group(s.sides(s.draw()...))
	default:
		s.split()
	}
}

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

func (s *sequence) collective() {
	k := call{kind: driver.KindBarrier}
	if i := s.plan.IntN(len(collectiveKinds) + 1); i < len(collectiveKinds) {
		k.kind = collectiveKinds[i]
	}
	spec := k.kind.Spec()
	k.dt, k.op, k.n, k.root = s.dtype(), driver.Ops[s.plan.IntN(len(driver.Ops))], s.count(), s.plan.IntN(s.size)
	k.inPlace = spec.InPlace && s.plan.IntN(2) == 0
	if spec.CheckOp(k.op, k.dt) != nil {
		k.op = comm.Sum
	}
	k.counts = uniform(k.n, blocksOf(k.kind, s.size))
	for i := range k.counts {
		if spec.Counts {
			k.counts[i] = s.count()
		}
	}
	if pairwise(k.kind) && k.inPlace {
		k.counts = symmetric(k.counts, s.size)
	}
	if p := s.begin(k); p.req == (comm.Request{}) { // has completed
		p.verify()
	} else {
		s.open = append(s.open, p)
	}
}

// draw returns a few random messages.
func (s *sequence) draw() []message {
	ms := make([]message, 1+s.plan.IntN(6))
	for i := range ms {
		ms[i] = message{s.plan.IntN(s.size), s.plan.IntN(s.size), s.dtype(), s.count(), s.nextTag()}
	}
	return ms
}

// split makes groups of random ranks, which do different operations at the same time.
func (s *sequence) split() {
	sub := s.subgroup(func(int) int { return s.plan.IntN(4) - 1 }, func(int) int { return s.plan.IntN(9) - 4 })
	if sub == nil {
		return
	}
	sub.nextTag()
	t := sequence{rank: sub, plan: rand.New(rand.NewPCG(sub.tag, 1)), own: s.own}
	t.run(1+t.plan.IntN(4), false)
	must(sub.c.Close())
}
