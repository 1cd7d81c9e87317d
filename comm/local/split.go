package local

import (
	"cmp"
	"context"
	"slices"

	"github.com/golops/golops/comm"
)

func (r *rank) Split(ctx context.Context, color, key int) (comm.Comm, error) {
	a := args{color: color, key: key}
	a.call, a.err = comm.CheckSplit(color)
	if err := r.enter(ctx, &a); err != nil {
		return nil, err
	}
	var subgroup []int // ranks of this group with the same color
	for j := range r.n {
		if r.slotOf(j).color == color {
			subgroup = append(subgroup, j)
		}
	}
	slices.SortStableFunc(subgroup, func(a, b int) int { return cmp.Compare(r.slotOf(a).key, r.slotOf(b).key) })
	if color != comm.NoColor && subgroup[0] == r.me {
		members := make([]int, len(subgroup))
		for i, j := range subgroup {
			members[i] = r.g.members[j]
		}
		r.state.obj = newGroup(r.g.w, members)
	}
	if err := r.leave(ctx, &a.call, nil); err != nil || color == comm.NoColor {
		return nil, err
	}
	g := r.g.states[subgroup[0]].obj.(*group)
	return g.handle(slices.Index(subgroup, r.me), r.algo), nil
}
