package local

import (
	"cmp"
	"context"
	"slices"

	"github.com/golops/golops/comm/driver"
)

// Split implements driver.Conn.
func (r *rank) Split(ctx context.Context, c *driver.Call) (driver.Conn, error) {
	if err := r.enter(ctx, c); err != nil {
		return nil, err
	}
	var subgroup []int // ranks of this group with the same color
	for j := range r.n {
		if r.slotOf(j).color == c.Color {
			subgroup = append(subgroup, j)
		}
	}
	slices.SortStableFunc(subgroup, func(a, b int) int { return cmp.Compare(r.slotOf(a).key, r.slotOf(b).key) })
	if c.Color != driver.NoColor && subgroup[0] == r.me {
		members := make([]int, len(subgroup))
		for i, j := range subgroup {
			members[i] = r.g.members[j]
		}
		r.state.obj = newGroup(r.g.w, members)
	}
	if err := r.leave(ctx, c); err != nil || c.Color == driver.NoColor {
		return nil, err
	}
	g := r.g.states[subgroup[0]].obj.(*group)
	return g.handle(slices.Index(subgroup, r.me), r.algo), nil
}
