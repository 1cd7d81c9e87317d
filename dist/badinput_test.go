package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
)

// bad is one rank's part of a call that must fail on every rank.
type bad struct {
	ctx   context.Context
	r     dist.Proc
	odd   bool // this is rank 1, the one that is wrong where only one is
	s     *dist.Space
	x     dist.Array[float64]
	stack dist.Array[float64]
}

func (b *bad) space(l dist.Layout, dims ...int) error {
	_, err := dist.NewSpace(b.ctx, b.r, l, dims...)
	return err
}

// or returns one value on rank 1 and another elsewhere.
func or[V any](b *bad, odd, others V) V {
	if b.odd {
		return odd
	}
	return others
}

func grid(g ...int) dist.Layout          { return dist.Layout{Grid: g} }
func counts(c ...[]int) dist.Layout      { return dist.Layout{Counts: c} }
func mask(m ...int) dist.Layout          { return dist.Layout{Mask: m} }
func second[A any](_ A, err error) error { return err }

// badInput says what every rank's error must contain.
var badInput = []struct {
	name string
	call func(b *bad) error
	want []string
}{
	{"negative extent", func(b *bad) error { return b.space(dist.Layout{}, 4, -3) }, []string{"axis 1 of [4 -3] is negative"}},
	{"too many axes", func(b *bad) error { return b.space(dist.Layout{}, 1, 1, 1, 1, 1, 1, 1, 1, 1) }, []string{"9 axes", "at most 8"}},
	{"too many elements", func(b *bad) error { return b.space(dist.Layout{}, 1<<40, 1<<40) }, []string{"more elements than an int can count"}},
	{"wrong axis", func(b *bad) error { return b.space(dist.Split(2), 4, 5) }, []string{"axis 2 of shape [4 5]", "from -2 to 1"}},
	{"wrong negative axis", func(b *bad) error { return b.space(dist.Split(-3), 4, 5) }, []string{"axis -3 of shape [4 5]"}},
	{"no axis", func(b *bad) error { return b.space(dist.Layout{}) }, []string{"axis 0 of shape []", "no axes"}},
	{"axis split twice", func(b *bad) error {
		return b.space(dist.Layout{Grid: []int{3, 1}, Axes: []int{1, -1}}, 4, 5)
	}, []string{"axes [1 -1]", "axis 1 is split twice"}},
	{"grid that does not fit", func(b *bad) error { return b.space(grid(2, 2), 4, 5) }, []string{"grid [2 2] does not fit the 3 ranks"}},
	{"huge grid", func(b *bad) error { return b.space(grid(1<<62, 4), 4, 5) }, []string{"does not fit the 3 ranks"}},
	{"grid of no ranks", func(b *bad) error { return b.space(grid(3, 0), 4, 5) }, []string{"grid [3 0]: axis 1 is 0"}},
	{"negative grid", func(b *bad) error { return b.space(grid(-1, -3), 4, 5) }, []string{"grid [-1 -3]: axis 0 is -1"}},
	{"axes for another grid", func(b *bad) error {
		return b.space(dist.Layout{Grid: []int{3}, Axes: []int{0, dist.NoAxis}}, 4, 5)
	}, []string{"axes [0 none] has 2 entries for a grid of 1 axes"}},
	{"counts for another grid", func(b *bad) error { return b.space(counts([]int{1, 2, 1}, nil), 4) }, []string{"counts [[1 2 1] []] has 2 entries"}},
	{"counts that do not add up", func(b *bad) error { return b.space(counts([]int{1, 2, 2}), 4) }, []string{"[1 2 2] adds up to 5, the axis has 4 rows"}},
	{"counts that overflow", func(b *bad) error { return b.space(counts([]int{math.MaxInt, math.MaxInt, 6}), 4) }, []string{"more than an int can count"}},
	{"negative counts", func(b *bad) error { return b.space(counts([]int{-1, 3, 2}), 4) }, []string{"[-1 3 2]: entry 0 is negative"}},
	{"counts for two ranks", func(b *bad) error { return b.space(counts([]int{2, 2}), 4) }, []string{"[2 2] has 2 entries for 3 ranks"}},
	{"counts of copies", func(b *bad) error {
		return b.space(dist.Layout{Axes: []int{dist.NoAxis}, Counts: [][]int{{1, 1, 2}}}, 4)
	}, []string{"counts [1 1 2] of grid axis 0, which splits no axis"}},
	{"mask of wrong length", func(b *bad) error { return b.space(mask(0, 1), 4) }, []string{"mask [0 1] has 2 colors for 3 ranks"}},
	{"negative color", func(b *bad) error { return b.space(mask(0, 1, -7), 4) }, []string{"color -7 of rank 2 is negative"}},
	{"unknown replication", func(b *bad) error { return b.space(dist.Layout{Replicate: 7}, 4) }, []string{"replicate is 7"}},
	{"unknown way", func(b *bad) error { return b.space(dist.Layout{Way: 7}, 4) }, []string{"way is 7: have Messages, OneSided"}},
	{"replicated on a grid", func(b *bad) error {
		return b.space(dist.Layout{Replicate: dist.Checked, Grid: []int{3}}, 4)
	}, []string{"a replicated array has no grid", "[3]"}},
	{"everything at once", func(b *bad) error {
		return b.space(dist.Layout{Grid: []int{5}, Axes: []int{4}, Mask: []int{1}}, 4)
	}, []string{"grid [5]", "axis 4", "mask [1]"}},
	{"like with another mask", func(b *bad) error { return second(b.s.Like(mask(0, 1, 0), 4)) }, []string{"mask [0 1 0]", "NewSpace"}},
	{"like with another way", func(b *bad) error { return second(b.s.Like(dist.Layout{Way: dist.OneSided}, 4)) }, []string{"way one-sided is not messages", "NewSpace"}},
	{"like with a negative extent", func(b *bad) error { return second(b.s.Like(dist.Layout{}, -4)) }, []string{"axis 0 of [-4] is negative"}},
	{"less an axis that is not there", func(b *bad) error { return second(b.s.DropAxis(2)) }, []string{"axis 2 of shape [6 4]"}},
	{"line of an axis that is not there", func(b *bad) error { return second(b.s.AxisGroup(b.ctx, -3)) }, []string{"axis -3 of shape [6 4]"}},
	{"norm NaN", func(b *bad) error { return second(dist.Norm(b.ctx, b.x, math.NaN())) }, []string{"p is NaN"}},
	{"norm NaN along an axis", func(b *bad) error { return second(dist.NormAlong(b.ctx, b.x, math.NaN(), 0)) }, []string{"p is NaN"}},
	{"norm along an axis that is not there", func(b *bad) error { return second(dist.NormAlong(b.ctx, b.x, 2, 2)) }, []string{"axis 2 of shape [6 4]"}},
	{"redistribute to another shape", func(b *bad) error {
		to, err := b.s.Like(dist.Layout{}, 4, 6)
		if err != nil {
			return err
		}
		return second(dist.Redistribute(b.ctx, b.x, to))
	}, []string{"the shapes [6 4] and [4 6] differ: one array is of shape [6 4], "}},
	{"ghosts of too many axes", func(b *bad) error {
		return second(dist.AddGhosts(b.ctx, b.x, []int{1, 2, 3}, []int{0, 0, 0}))
	}, []string{"depths [1 2 3]", "2 axes"}},
	{"negative ghosts", func(b *bad) error {
		return second(dist.AddGhosts(b.ctx, b.x, []int{1, -2}, []int{0, 0}))
	}, []string{"depths -2 and 0 of axis 1 must not be negative"}},
	{"gather on rank 3 of 3", func(b *bad) error { return second(dist.Gather(b.ctx, b.x, 3)) }, []string{"root is 3: ranks are 0 to 2"}},
	{"gather on rank -1", func(b *bad) error { return second(dist.Gather(b.ctx, b.x, -1)) }, []string{"root is -1"}},
	{"scatter too few", func(b *bad) error {
		var v []float64
		if b.r.Rank() == 0 {
			v = make([]float64, 23)
		}
		return second(dist.Scatter(b.ctx, b.s, v))
	}, []string{"rank 0", "23 elements given for shape [6 4], which has 24"}},
	{"block of wrong length", func(b *bad) error { return second(dist.FromBlock(b.ctx, b.s, make([]float64, 5))) }, []string{"5 elements for shape [2 4], which has 8"}},
	{"gather a stack on rank 3 of 3", func(b *bad) error { return second(dist.Gather(b.ctx, b.stack, 3)) }, []string{"root is 3: ranks are 0 to 2"}},
	{"scatter a stack", func(b *bad) error { return second(dist.Scatter[float64](b.ctx, b.stack.Space(), nil)) }, []string{"stack has no global order"}},
	{"block of a stack", func(b *bad) error { return second(dist.FromBlock[float64](b.ctx, b.stack.Space(), nil)) }, []string{"stack has no block"}},
	{"function of a stack", func(b *bad) error { return second(dist.FromFunc[float64](b.ctx, b.stack.Space(), nil)) }, []string{"stack has no global index"}},
	{"reshape a stack", func(b *bad) error { return second(b.stack.Ravel()) }, []string{"stack has no shape"}},
	{"norm along an axis of a stack", func(b *bad) error { return second(dist.NormAlong(b.ctx, b.stack, 2, 0)) }, []string{"stack has no axes"}},
	{"ghosts of a stack", func(b *bad) error { return second(dist.AddGhosts(b.ctx, b.stack, nil, nil)) }, []string{"stack has no axes"}},
	{"line of a stack", func(b *bad) error { return second(b.stack.Space().AxisGroup(b.ctx, 0)) }, []string{"stack has no axes"}},
	{"stack of nil", func(b *bad) error { return second(dist.Stack(b.s, nil)) }, []string{"space 1 is nil"}},
	{"stack of other ranks", func(b *bad) error { return second(dist.Stack(b.s, b.s.Alone())) }, []string{"different communicators, of 3 ranks and of 1 rank", "space 1"}},
	{"redistribute to other ranks", func(b *bad) error { return second(dist.Redistribute(b.ctx, b.x, b.s.Alone())) }, []string{"different communicators"}},
	{"redistribute a stack", func(b *bad) error { return second(dist.Redistribute(b.ctx, b.stack, b.s)) }, []string{"a stack of 2 spaces and a space that is no stack"}},
	{"no group", func(b *bad) error { return second(dist.NewSpace(b.ctx, dist.Proc{}, dist.Layout{}, 3)) }, []string{"in no group"}},
	{"no communicator", func(b *bad) error { return second(dist.NewProc(b.ctx, nil, b.r.Device)) }, []string{"no communicator"}},

	{"one extent differs", func(b *bad) error { return b.space(dist.Layout{}, 4, or(b, 7, 5)) }, []string{"rank 0 has shape [4 5]", "rank 1 has shape [4 7]"}},
	{"one extent is negative", func(b *bad) error { return b.space(dist.Layout{}, or(b, -4, 4)) }, []string{"rank 1", "axis 0 of [-4] is negative"}},
	{"one axis differs", func(b *bad) error { return b.space(dist.Split(or(b, 1, 0)), 4, 4) }, []string{"rank 0 has shape [4 4], axis 0", "rank 1 has shape [4 4], axis 1"}},
	{"one grid differs", func(b *bad) error { return b.space(or(b, grid(3, 1), grid(1, 3)), 4, 4) }, []string{"rank 1 has shape [4 4], axis 0 split [2 1 1]"}},
	{"one grid does not fit", func(b *bad) error { return b.space(grid(or(b, 2, 3)), 4, 4) }, []string{"rank 1", "grid [2] does not fit"}},
	{"one rank has other counts", func(b *bad) error { return b.space(counts(or(b, []int{1, 1, 2}, []int{2, 1, 1})), 4) }, []string{"rank 1 has shape [4], axis 0 split [1 1 2]"}},
	{"one rank replicates", func(b *bad) error { return b.space(or(b, dist.Replicated, dist.Layout{}), 4) }, []string{"rank 1 has shape [4] replicated"}},
	{"one rank checks copies", func(b *bad) error {
		return b.space(or(b, dist.Layout{Replicate: dist.Checked}, dist.Replicated), 4)
	}, []string{"rank 1 has shape [4] replicated (checked)"}},
	{"one rank debugs", func(b *bad) error { return b.space(dist.Layout{Replicate: dist.Checked, Debug: b.odd}, 4) }, []string{"rank 1 has shape [4] replicated (checked), debug"}},
	{"one way differs", func(b *bad) error { return b.space(dist.Layout{Way: dist.Way(or(b, 1, 0))}, 4) }, []string{"rank 1", "one-sided"}},
	{"one mask differs", func(b *bad) error { return b.space(mask(0, or(b, 1, 0), 0), 4) }, []string{"rank 1", "mask [0 1 0]"}},
	{"one block of wrong length", func(b *bad) error {
		return second(dist.FromBlock(b.ctx, b.s, make([]float64, or(b, 5, 8))))
	}, []string{"rank 1", "5 elements for shape [2 4], which has 8"}},
	{"one rank scatters too", func(b *bad) error {
		v := make([]float64, 24)
		if b.r.Rank() == 2 {
			v = nil
		}
		return second(dist.Scatter(b.ctx, b.s, v))
	}, []string{"rank 1", "other ranks must give nil, not 24 elements"}},
	{"one root differs", func(b *bad) error { return second(dist.Gather(b.ctx, b.x, or(b, 1, 0))) }, []string{"rank 0 has root 0", "rank 1 has root 1"}},
	{"one root is out of range", func(b *bad) error { return second(dist.Gather(b.ctx, b.x, or(b, 8, 0))) }, []string{"rank 1", "root is 8"}},
	{"one axis of a norm differs", func(b *bad) error { return second(dist.NormAlong(b.ctx, b.x, 2, or(b, 1, 0))) }, []string{"rank 1 has axis 1"}},
	{"one order of a norm differs", func(b *bad) error { return second(dist.NormAlong(b.ctx, b.x, or(b, 3.5, 2), 1)) }, []string{"rank 1 has axis 1, p 3.5"}},
	{"one rank wants more ghosts", func(b *bad) error {
		return second(dist.AddGhosts(b.ctx, b.x, []int{or(b, 2, 1), 0}, []int{0, 0}))
	}, []string{"rank 1 has front [2 0]"}},
	{"one rank wants fewer ghosts than none", func(b *bad) error {
		return second(dist.AddGhosts(b.ctx, b.x, []int{or(b, -2, 1), 0}, []int{0, 0}))
	}, []string{"rank 1", "depths -2 and 0 of axis 0"}},
	{"one rank redistributes elsewhere", func(b *bad) error {
		to, err := b.s.Like(or(b, dist.Split(1), dist.Replicated), 6, 4)
		if err != nil {
			return err
		}
		return second(dist.Redistribute(b.ctx, b.x, to))
	}, []string{"rank 0 has", "to shape [6 4] replicated", "rank 1 has", "axis 1 split [2 1 1]"}},
	{"one rank without a device", func(b *bad) error {
		return second(dist.NewProc(b.ctx, b.r.Comm, or[device.Device](b, nil, b.r.Device)))
	}, []string{"rank 1", "no device"}},
	{"one copy differs", func(b *bad) error {
		s, err := dist.NewSpace(b.ctx, b.r, dist.Layout{Replicate: dist.Checked, Debug: true}, 2, 3)
		if err != nil {
			return err
		}
		v := []float64{0, 1, math.NaN(), 3, 4, 5}
		v[4] = or(b, 7.0, 4)
		return second(dist.FromBlock(b.ctx, s, v))
	}, []string{"rank 1", "element [1 1] is 7, on rank 0 it is 4"}},
}

func TestBadInput(t *testing.T) {
	onRanks(t, 3, func(ctx context.Context, r dist.Proc) error { return runBadInput(ctx, r, 0) })
}

// runBadInput makes each call on three ranks, compares the error of each with
// the table, and looks whether the ranks still understand each other.
func runBadInput(ctx context.Context, r dist.Proc, _ uint64) error {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, 6, 4)
	if err != nil {
		return err
	}
	x, err := dist.New[float64](s)
	if err != nil {
		return err
	}
	stack, err := dist.StackOf(x, x)
	if err != nil {
		return err
	}
	b := &bad{ctx, r, r.Rank() == 1, s, x, stack}
	for _, k := range badInput {
		err := b.try(k.call)
		for _, w := range k.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				return fmt.Errorf("%s: %v, want an error that says %q", k.name, err, w)
			}
		}
		if !strings.Contains(err.Error(), "dist: ") || strings.Count(err.Error(), "dist: ") > 1 {
			return fmt.Errorf("%s: %v, want one that names its package once", k.name, err)
		}
		n := []int64{1}
		if err := r.AllReduce(ctx, comm.Of(n), comm.Of(n), comm.Sum); err != nil || n[0] != 3 {
			return fmt.Errorf("after %s: sum over ranks is %d: %w", k.name, n[0], err)
		}
	}
	return nil
}

// try turns a panic into an error that no entry of the table wants.
func (b *bad) try(call func(*bad) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("panic")
		}
	}()
	return call(b)
}
