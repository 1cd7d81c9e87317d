package dist_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/dist"
)

// TestMessages counts what each operation sends, on several numbers of ranks.
func TestMessages(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 4, 6} {
		onRanks(t, ranks, func(ctx context.Context, r dist.Proc) error { return runMessages(ctx, r, 0) })
	}
}

// counted is one rank of a program whose messages are counted.
type counted struct {
	dist.Proc
	c *commtest.Counter
}

func runMessages(ctx context.Context, r dist.Proc, _ uint64) error {
	c := commtest.NewCounter(r.Comm)
	cr, err := dist.NewProc(ctx, c.Comm, r.Device)
	if err != nil {
		return err
	}
	n := counted{cr, c}
	for _, f := range []func(context.Context) error{n.vectors, n.redistribute, n.halo} {
		if err := f(ctx); err != nil {
			return err
		}
	}
	return nil
}

// expect calls f and compares the number of AllReduces, which must be all that
// it sends.
func (n counted) expect(what string, reduces int, f func() error) error {
	n.c.Reset()
	if err := f(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if n.Size() == 1 {
		reduces = 0
	}
	if got := n.c.Calls("AllReduce"); got != reduces || n.c.Total() != reduces || n.c.Received() != 0 {
		return fmt.Errorf("%s: %v, want %d AllReduce", what, n.c, reduces)
	}
	return nil
}

// vectors looks at arrays that are split, replicated and stacks of those.
func (n counted) vectors(ctx context.Context) error {
	split, err := dist.NewSpace(ctx, n.Proc, dist.Layout{}, 13, 4)
	if err != nil {
		return err
	}
	whole, err := split.Like(dist.Replicated, 13, 4)
	if err != nil {
		return err
	}
	three, err := dist.Stack(split, split, split)
	if err != nil {
		return err
	}
	mixed, err := dist.Stack(three, whole)
	if err != nil {
		return err
	}
	for _, k := range []struct {
		name string
		s    *dist.Space
	}{{"split", split}, {"replicated", whole}, {"stack of three", three}, {"nested stack", mixed}} {
		var a [3]dist.Array[float64]
		for i := range a {
			if a[i], err = dist.New[float64](k.s); err != nil {
				return err
			}
			dist.Fill(a[i], float64(i))
		}
		if err := n.counts(ctx, a[0], a[1], a[2]); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}

// counts counts the messages of each operation. Reductions take one, of copies
// too: all ranks must get the very same number.
func (n counted) counts(ctx context.Context, x, y, z dist.Array[float64]) error {
	local := func(f func()) func() error { return func() error { f(); return nil } }
	for _, k := range []struct {
		name    string
		reduces int
		call    func() error
	}{
		{"Add", 0, local(func() { dist.Add(z, x, y) })},
		{"Sub", 0, local(func() { dist.Sub(z, x, y) })},
		{"Scale", 0, local(func() { dist.Scale(z, 2, x) })},
		{"Neg", 0, local(func() { dist.Neg(z, x) })},
		{"Axpby", 0, local(func() { dist.Axpby(2, x, 3, z) })},
		{"Combine", 0, local(func() { dist.Combine(z, 2, x, 3, y) })},
		{"Copy", 0, local(func() { dist.Copy(z, x) })},
		{"Mul", 0, local(func() { dist.Mul(z, x, y) })},
		{"MulConj", 0, local(func() { dist.MulConj(z, x, y) })},
		{"Conj", 0, local(func() { dist.Conj(z, x) })},
		{"Fill", 0, local(func() { dist.Fill(z, 3) })},
		{"New", 0, func() error { _, err := dist.New[float64](z.Space()); return err }},
		{"Reshape", 0, func() error {
			if z.NumParts() > 0 {
				return nil
			}
			_, err := z.Reshape(13, 2, 2)
			return err
		}},
		{"Dot", 1, func() error { return second(dist.Dot(ctx, x, y)) }},
		{"DotT", 1, func() error { return second(dist.DotT(ctx, x, y)) }},
		{"Reduction", 1, func() error {
			red := dist.NewReduction(x.Space(), 2)
			red.AddNumber(1)
			dist.AddDot(red, x, y)
			dist.AddAxpyNorm2(red, 2, x, z)
			dist.AddNorm(red, x, 2)
			dist.AddSum(red, x)
			dist.AddMinMax(red, x) // sums and extremes share the message
			return red.Do(ctx)
		}},
		{"Reduction of nothing", 0, func() error { return dist.NewReduction(x.Space(), 0).Do(ctx) }},
		{"Sum", 1, func() error { return second(dist.Sum(ctx, x)) }},
		{"Norm 0", 1, func() error { return second(dist.Norm(ctx, x, 0)) }},
		{"Norm 1", 1, func() error { return second(dist.Norm(ctx, y, 1)) }},
		{"Norm 2", 1, func() error { return second(dist.Norm(ctx, y, 2)) }},
		{"Norm 2 of zeros", 1, func() error { return second(dist.Norm(ctx, x, 2)) }},
		{"MinMax", 1, func() error { _, _, err := dist.MinMax(ctx, x); return err }},
	} {
		if err := n.expect(k.name, k.reduces, k.call); err != nil {
			return err
		}
	}
	return nil
}

// redistribute moves an array from axis 0 to axis 1 and compares the messages
// with the pairs of ranks that share elements; agreeing takes one AllGather.
func (n counted) redistribute(ctx context.Context) error {
	from, err := dist.NewSpace(ctx, n.Proc, dist.Split(0), 7, 5)
	if err != nil {
		return err
	}
	to, err := from.Like(dist.Split(1), 7, 5)
	if err != nil {
		return err
	}
	a, err := dist.New[float64](from)
	if err != nil {
		return err
	}
	pairs := func(s, t *dist.Space) (n, elements int) {
		me := s.Proc().Rank()
		mine := s.Box(me)
		for r := range s.Comm().Size() {
			b := t.Box(r)
			rows := min(mine.Hi[0], b.Hi[0]) - max(mine.Lo[0], b.Lo[0])
			cols := min(mine.Hi[1], b.Hi[1]) - max(mine.Lo[1], b.Lo[1])
			if r != me && rows > 0 && cols > 0 {
				n++
				elements += rows * cols
			}
		}
		return n, elements
	}
	out, elements := pairs(from, to)
	in, _ := pairs(to, from)
	n.c.Reset()
	if _, err := dist.Redistribute(ctx, a, to); err != nil {
		return err
	}
	agree := min(n.Size()-1, 1)
	if n.c.Sent() != out || n.c.Received() != in || n.c.Collectives() != agree || n.c.SentBytes() != 8*elements {
		return fmt.Errorf("redistribute: %v, want %d messages of %d elements sent and %d received", n.c, out, elements, in)
	}
	// From a replicated array nothing has to move.
	whole, err := from.Like(dist.Replicated, 7, 5)
	if err != nil {
		return err
	}
	m, err := dist.NewRedistribution[float64](whole, to)
	if err != nil {
		return err
	}
	x, err := dist.New[float64](whole)
	if err != nil {
		return err
	}
	y, err := dist.New[float64](to)
	if err != nil {
		return err
	}
	return n.expect("move from a replicated array", 0, func() error { return m.Forward(ctx, y, x) })
}

// halo exchanges ghosts on a line of ranks, one message per neighbour and
// direction, and on a grid, one message per neighbouring block.
func (n counted) halo(ctx context.Context) error {
	size := n.Size()
	grid := []int{size, 1}
	if size%2 == 0 {
		grid = []int{2, size / 2}
	}
	for _, l := range []dist.Layout{dist.Split(0), {Grid: grid}} {
		s, err := dist.NewSpace(ctx, n.Proc, l, 2*size, 3*size)
		if err != nil {
			return err
		}
		h, err := dist.NewHalo[float32](s, []int{1, 1}, []int{1, 1}, false)
		if err != nil {
			return err
		}
		u, err := dist.New[float32](h.Domain())
		if err != nil {
			return err
		}
		v, err := dist.New[float32](h.Range())
		if err != nil {
			return err
		}
		neighbours := 0
		for r := range size {
			near := r != n.Proc.Rank()
			for g, c := range s.Coords(r) {
				d := c - s.Coords(n.Proc.Rank())[g]
				near = near && -1 <= d && d <= 1
			}
			if near {
				neighbours++
			}
		}
		for _, f := range []func() error{
			func() error { return h.Forward(ctx, v, u) },
			func() error { return h.Adjoint(ctx, u, v) },
		} {
			n.c.Reset()
			if err := f(); err != nil {
				return err
			}
			if n.c.Sent() != neighbours || n.c.Received() != neighbours || n.c.Collectives() != 0 {
				return fmt.Errorf("halo of %v: %v, want %d messages", s, n.c, neighbours)
			}
		}
	}
	return nil
}
