// Package dist provides arrays whose blocks are spread over the ranks of a
// group: who holds what (Space), the elements (Array), and how they move.
package dist

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
)

// Proc is one rank of a program: its handle on the group and its device.
type Proc struct {
	*comm.Comm
	Device device.Device
	alone  *comm.Comm // a group of this rank only
	shared *shared
}

// shared is what the copies of a Proc have in common: subgroups and a buffer.
type shared struct {
	made    []partition    // for spaces; kept, because MPI has room for a few thousand only
	own     []*comm.Comm   // what Close gives back besides
	windows []*comm.Window // of Exposed and of mailboxes
	once    Reduction      // of functions such as Dot

	putsWork  bool  // this group has windows
	hidden    bool  // the host does not see the arrays of this rank
	mailboxes []any // of each element type that was sent one-sided
}

type partition struct {
	first []int // of each rank: the lowest rank in the same subgroup
	group *comm.Comm
}

// NewProc joins a communicator and a device. It is collective.
func NewProc(ctx context.Context, c *comm.Comm, d device.Device) (Proc, error) {
	if c == nil {
		return Proc{}, errors.New("dist: new rank: no communicator given")
	}
	r := Proc{Comm: c, Device: d, alone: c, shared: &shared{}}
	var err error
	if d == nil {
		err = errors.New("no device given")
	}
	if err := Agree(ctx, c, "dist: new rank", err); err != nil {
		return Proc{}, err
	}
	if c.Size() > 1 {
		if r.alone, err = c.Split(ctx, c.Rank(), 0); err != nil {
			return Proc{}, fmt.Errorf("dist: a group for rank %d alone: %w", c.Rank(), err)
		}
		r.shared.own = append(r.shared.own, r.alone)
	}
	return r, nil
}

// Alone returns this rank as a group of one, for operators that work inside a
// rank. It does not communicate.
func (r Proc) Alone() Proc {
	return Proc{Comm: r.alone, Device: r.Device, alone: r.alone, shared: &shared{}}
}

// Subgroup makes one group of the ranks of each color, ordered by key, as
// *comm.Comm.Split does. A rank with comm.NoColor gets a Proc without Comm.
// Close gives the group back.
func (r Proc) Subgroup(ctx context.Context, color, key int) (Proc, error) {
	c, err := r.Split(ctx, color, key)
	s := Proc{Comm: c, Device: r.Device, alone: r.alone, shared: &shared{}}
	if c != nil {
		s.shared.own = append(s.shared.own, c)
	}
	return s, err
}

// Close gives back the groups that were made for this rank and for the spaces
// on it, which cannot be used afterwards. It is collective. The communicator
// that NewProc was given stays open.
func (r Proc) Close() error {
	if r.shared == nil {
		return nil
	}
	var errs []error
	for _, w := range r.shared.windows {
		errs = append(errs, w.UnlockAll(context.Background()), w.Close(context.Background()))
	}
	for _, p := range r.shared.made {
		errs = append(errs, p.group.Close())
	}
	for _, c := range r.shared.own {
		errs = append(errs, c.Close())
	}
	r.shared.once.device.room.Free()
	*r.shared = shared{}
	return errors.Join(errs...)
}

// subgroup returns the group of the ranks that have this rank's color, in the order
// of ranks. Colors are those of all ranks, the same on each. The first call with
// these colors is collective. The group belongs to the Proc.
func (r Proc) subgroup(ctx context.Context, colors []int) (*comm.Comm, error) {
	first := make([]int, len(colors))
	same, distinct := true, true
	for i, c := range colors {
		first[i] = slices.Index(colors, c)
		same = same && first[i] == 0
		distinct = distinct && first[i] == i
	}
	switch {
	case same:
		return r.Comm, nil
	case distinct:
		return r.alone, nil
	}
	for _, p := range r.shared.made {
		if slices.Equal(p.first, first) {
			return p.group, nil
		}
	}
	c, err := r.Split(ctx, first[r.Rank()], 0)
	if err != nil {
		return nil, err
	}
	r.shared.made = append(r.shared.made, partition{first, c})
	return c, nil
}
