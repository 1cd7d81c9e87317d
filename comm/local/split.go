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
	if err := r.meet(ctx, &a); err != nil {
		return nil, err
	}
	var mine []int // ranks of this group that share the color
	for j := range r.n {
		if r.slot(j).color == color {
			mine = append(mine, j)
		}
	}
	slices.SortStableFunc(mine, func(a, b int) int { return cmp.Compare(r.slot(a).key, r.slot(b).key) })
	if color != comm.NoColor && mine[0] == r.me {
		members := make([]int, len(mine))
		for i, j := range mine {
			members[i] = r.g.members[j]
		}
		r.cell.obj = newGroup(r.g.w, members)
	}
	if err := r.part(ctx, &a.call, nil); err != nil || color == comm.NoColor {
		return nil, err
	}
	g := r.g.cells[mine[0]].obj.(*group)
	return g.handle(slices.Index(mine, r.me), r.algo), nil
}
