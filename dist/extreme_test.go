package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
)

// Spaces of extreme numbers are an error, or have as many elements as they were
// asked for, which then are too many for an array.
func TestExtremeSpaces(t *testing.T) {
	for _, ranks := range []int{1, 2} {
		onRanks(t, ranks, func(ctx context.Context, r dist.Proc) error {
			for _, v := range []int{math.MinInt, -1, 1 << 40, 1 << 62, math.MaxInt / 2, math.MaxInt/2 + 1, math.MaxInt} {
				small, err := dist.NewSpace(ctx, r, dist.Layout{}, 6)
				if err != nil {
					return err
				}
				n := float64(v)
				for _, c := range []struct {
					name string
					make func() (*dist.Space, error)
					size float64 // -1: must be an error
				}{
					{"one axis", func() (*dist.Space, error) { return dist.NewSpace(ctx, r, dist.Layout{}, v) }, n},
					{"replicated", func() (*dist.Space, error) { return dist.NewSpace(ctx, r, dist.Replicated, v) }, n},
					{"two axes", func() (*dist.Space, error) { return dist.NewSpace(ctx, r, dist.Layout{}, v, v) }, -1},
					{"and three rows", func() (*dist.Space, error) { return dist.NewSpace(ctx, r, dist.Split(1), 3, v) }, 3 * n},
					{"grid", func() (*dist.Space, error) { return dist.NewSpace(ctx, r, dist.Layout{Grid: []int{v}}, 6) }, -1},
					{"grids", func() (*dist.Space, error) { return dist.NewSpace(ctx, r, dist.Layout{Grid: []int{v, v, v}}, 6) }, -1},
					{"split axis", func() (*dist.Space, error) { return dist.NewSpace(ctx, r, dist.Split(v), 6, 6) }, 36},
					{"counts", func() (*dist.Space, error) {
						return dist.NewSpace(ctx, r, dist.Layout{Counts: [][]int{{v, v}}}, 6)
					}, -1},
					{"counts that cancel", func() (*dist.Space, error) {
						return dist.NewSpace(ctx, r, dist.Layout{Counts: [][]int{{v, 6 - v}}}, 6)
					}, -1},
					{"mask", func() (*dist.Space, error) {
						return dist.NewSpace(ctx, r, dist.Layout{Mask: make([]int, min(max(v, 0), 5))}, 6)
					}, -1},
					{"stack", func() (*dist.Space, error) {
						s, err := small.Like(dist.Layout{}, v)
						if err != nil {
							return nil, err
						}
						return dist.Stack(s, s, s, s)
					}, 4 * n},
					{"less", func() (*dist.Space, error) { return small.DropAxis(v) }, -1},
					{"halo", func() (*dist.Space, error) {
						h, err := dist.NewHalo[float32](small, []int{v}, []int{v}, true)
						if err != nil {
							return nil, err
						}
						return h.Range(), nil
					}, 6 + 2*float64(ranks)*n},
				} {
					if c.name == "less" && v == -1 || c.name == "split axis" && v == math.MinInt { // the last axis, and NoAxis
						continue
					}
					s, err := c.make()
					if err != nil {
						continue
					}
					if float64(s.Size()) != c.size {
						return fmt.Errorf("%s of %d: %v has %d elements, want %g", c.name, v, s, s.Size(), c.size)
					}
					if s.LocalShape().Size() > 1<<36 {
						if _, err := dist.New[float32](s); !errors.Is(err, device.ErrMemory) {
							return fmt.Errorf("an array of %v: got error %v, want one about memory", s, err)
						}
					}
				}
			}
			return nil
		})
	}
}
