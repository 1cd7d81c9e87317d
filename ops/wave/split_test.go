package wave_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops/wave"
)

// splits are the ways to spread the work over ranks.
var splits = map[string]func(context.Context, dist.Proc, wave.KirchhoffOptions) (linop.Operator[float64], error){
	"whole": func(ctx context.Context, r dist.Proc, k wave.KirchhoffOptions) (linop.Operator[float64], error) {
		return wave.Kirchhoff[float64](ctx, r.Alone(), k)
	},
	"by source": wave.KirchhoffBySource[float64],
	"by model":  wave.KirchhoffByModel[float64],
}

// weighted is the survey of small in a medium of many velocities, with all weights.
func weighted(dims int) (wave.KirchhoffOptions, error) {
	k, err := small(dims)
	if err != nil {
		return k, err
	}
	g := k.Times.Grid()
	v := make([]float64, g.Nodes())
	for i := range v {
		v[i] = 1000 + 20*g.Node(i).Z + 5*g.Node(i).X
	}
	for i := range k.Sources { // an eikonal equation wants points on the grid
		k.Sources[i].X = min(k.Sources[i].X, 40)
	}
	if k.Times, err = wave.NewEikonal(g, v, wave.EikonalDefaults()); err == nil {
		k.Weights, err = wave.NewDynamic(g, v, k.Sources, k.Receivers, wave.TaperTo(1.2), wave.TaperTo(4))
	}
	return k, err
}

// All splits are the same matrix, of one shape, with weights and without.
func TestSplitsAreEqual(t *testing.T) {
	for _, dims := range []int{2, 3} {
		plain, err := small(dims)
		if err != nil {
			t.Fatal(err)
		}
		heavy, err := weighted(dims)
		if err != nil {
			t.Fatal(err)
		}
		for name, k := range map[string]wave.KirchhoffOptions{"plain": plain, "weighted": heavy} {
			for _, ranks := range []int{1, 2, 3} {
				err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error { return equalSplits(ctx, r, k) })
				if err != nil {
					t.Errorf("dims=%d/%s/ranks=%d: %v", dims, name, ranks, err)
				}
			}
		}
	}
}

func equalSplits(ctx context.Context, r dist.Proc, k wave.KirchhoffOptions) error {
	var want []float64
	for _, name := range []string{"whole", "by source", "by model"} {
		op, err := splits[name](ctx, r, k)
		if err != nil {
			return err
		}
		if d, m := op.Range().Shape().Dims(), op.Domain().Shape().Dims(); !slices.Equal(d, []int{5, 3, 40}) || !slices.Equal(m, k.Times.Grid().Shape()) {
			return fmt.Errorf("%s: from %v to %v", name, m, d)
		}
		got, _, _, err := linop.Dense(ctx, op)
		if err != nil {
			return err
		}
		if want == nil {
			want = got
		}
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-14) {
				return fmt.Errorf("%s: element %d is %g, want %g", name, i, got[i], want[i])
			}
		}
	}
	return nil
}

// Data of the source split lie with their sources.
func TestSourcesAreSplit(t *testing.T) {
	err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
		k, err := small(2)
		if err != nil {
			return err
		}
		op, err := wave.KirchhoffBySource[float64](ctx, r, k)
		if err != nil {
			return err
		}
		if _, counts := op.Range().SplitBy(0); !slices.Equal(counts, []int{3, 2}) {
			return fmt.Errorf("sources are split %v, want [3 2]", counts)
		}
		if op, err = wave.KirchhoffByModel[float64](ctx, r, k); err != nil {
			return err
		}
		if _, counts := op.Domain().SplitBy(0); !slices.Equal(counts, []int{6, 5}) {
			return fmt.Errorf("the image is split %v, want [6 5]", counts)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// No rank has many more traces than another, however many sources there are.
func TestTracesAreBalanced(t *testing.T) {
	for _, c := range []struct{ sources, receivers, ranks, most int }{
		{5, 3, 2, 9}, {16, 51, 7, 128}, {18, 61, 16, 72}, {16, 51, 16, 51}, {1, 40, 4, 10}, {2, 2, 7, 2},
	} {
		err := testdevices.Local(t.Context(), c.ranks, func(ctx context.Context, r dist.Proc) error {
			k, err := small(2)
			if err != nil {
				return err
			}
			k.Sources, k.Receivers = slices.Repeat(k.Sources[:1], c.sources), slices.Repeat(k.Receivers[:1], c.receivers)
			op, err := wave.KirchhoffBySource[float64](ctx, r, k)
			if err != nil {
				return err
			}
			if n := op.Range().LocalShape().Size() / k.Samples; n > c.most {
				return fmt.Errorf("rank %d has %d traces", r.Rank(), n)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// What is wrong is named, by every split and on all ranks.
func TestKirchhoffRefuses(t *testing.T) {
	for want, spoil := range map[string]func(k *wave.KirchhoffOptions, me int){
		"no travel times given":                func(k *wave.KirchhoffOptions, _ int) { k.Times = nil },
		"no sources given":                     func(k *wave.KirchhoffOptions, _ int) { k.Sources = nil },
		"no receivers given":                   func(k *wave.KirchhoffOptions, _ int) { k.Receivers = nil },
		"receiver 1 is at (NaN, 0, 0)":         func(k *wave.KirchhoffOptions, _ int) { k.Receivers[1] = wave.Point{X: math.NaN()} },
		"1 samples per trace":                  func(k *wave.KirchhoffOptions, _ int) { k.Samples = 1 },
		"sample interval is 0 s":               func(k *wave.KirchhoffOptions, _ int) { k.Interval = 0 },
		"sample 4 of 4":                        func(k *wave.KirchhoffOptions, _ int) { k.Centre = 4 },
		"sample 1, and no wavelet is given":    func(k *wave.KirchhoffOptions, _ int) { k.Wavelet = nil },
		"4 samples, traces have 3: cut it":     func(k *wave.KirchhoffOptions, _ int) { k.Samples = 3 },
		"ranks disagree: rank 0 has 4 sources": func(k *wave.KirchhoffOptions, me int) { k.Sources = k.Sources[me : 4+me] },
		"ranks disagree: rank 0 has 5 sources": func(k *wave.KirchhoffOptions, me int) { k.Interval *= float64(1 + me) },
		"slice of 99 for a grid of 50 nodes":   func(k *wave.KirchhoffOptions, _ int) { k.Weights = otherGrid(k) },
		"travel time -1 to node":               func(k *wave.KirchhoffOptions, _ int) { k.Times = negative{k.Times} },
	} {
		for name, split := range splits {
			if name == "whole" && strings.HasPrefix(want, "ranks") {
				continue // each is alone
			}
			err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
				k, err := small(2)
				if err != nil {
					return err
				}
				spoil(&k, r.Rank())
				if _, err := split(ctx, r, k); err == nil || !strings.Contains(err.Error(), want) {
					return fmt.Errorf("rank %d: %v", r.Rank(), err)
				}
				return r.Barrier(ctx)
			})
			if err != nil {
				t.Errorf("%s, %s: %v", name, want, err)
			}
		}
	}
}

// otherGrid returns weights of another grid.
func otherGrid(k *wave.KirchhoffOptions) wave.Weights {
	g := wave.Grid{X: wave.Axis{N: 10, Step: 4}, Z: wave.Axis{N: 5, Step: 4}}
	w, err := wave.NewDynamic(g, slices.Repeat([]float64{1000}, 50), k.Sources, k.Receivers, wave.Taper{}, wave.Taper{})
	if err != nil {
		panic(err)
	}
	return w
}

// negative is times before the source.
type negative struct{ wave.TravelTimes }

func (negative) Fill(dst []float64, _ wave.Point) error {
	for i := range dst {
		dst[i] = -1
	}
	return nil
}

// counting counts how often times are computed, and for how many rows.
type counting struct {
	wave.TravelTimes
	*fills
}

type fills struct {
	sync.Mutex
	nodes []int
}

func (f *fills) add(n int) {
	f.Lock()
	defer f.Unlock()
	f.nodes = append(f.nodes, n)
}

func (c counting) Fill(dst []float64, p wave.Point) error {
	c.add(len(dst))
	return c.TravelTimes.Fill(dst, p)
}

// rowCounting can compute rows alone.
type rowCounting struct{ counting }

func (c rowCounting) FillRows(dst []float64, p wave.Point, lo, hi int) error {
	c.add(len(dst))
	return c.TravelTimes.(wave.RowTimes).FillRows(dst, p, lo, hi)
}

// Times of a point are computed once for all ranks of a process, weights or not, and
// only for the rows of a rank if that is possible.
func TestTimesOnce(t *testing.T) {
	plain, err := small(2)
	if err != nil {
		t.Fatal(err)
	}
	heavy, err := weighted(2)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Repeat([]int{99}, 8) // 5 sources, 3 receivers
	for _, c := range []struct {
		name, split string
		k           wave.KirchhoffOptions
		rows        bool
		want        []int // nodes of each call
	}{
		{"weighted", "by source", heavy, false, all},
		{"weighted", "by model", heavy, false, all},
		{"whole times", "by source", plain, false, all},
		{"whole times", "by model", plain, false, all},
		{"rows", "by model", plain, true, slices.Concat(slices.Repeat([]int{45}, 8), slices.Repeat([]int{54}, 8))},
	} {
		count := counting{c.k.Times, &fills{}}
		if c.k.Times = count; c.rows {
			c.k.Times = rowCounting{count}
		}
		err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
			_, err := splits[c.split](ctx, r, c.k)
			return err
		})
		if err != nil {
			t.Errorf("%s, %s: %v", c.name, c.split, err)
		}
		if slices.Sort(count.nodes); !slices.Equal(count.nodes, c.want) {
			t.Errorf("%s, %s: nodes filled: %v, want %v", c.name, c.split, count.nodes, c.want)
		}
	}
}
