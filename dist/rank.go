// Package dist provides arrays whose blocks are spread over the ranks of a
// group: who holds what (Space), the elements (Array), and how they move.
package dist

import (
	"context"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
)

// Rank is one rank of a program: its handle on the group and its device.
type Rank struct {
	comm.Comm
	Device device.Device
	alone  comm.Comm // a group of this rank only
}

// NewRank joins a communicator and a device. It is collective.
func NewRank(ctx context.Context, c comm.Comm, d device.Device) (Rank, error) {
	r := Rank{Comm: c, Device: d, alone: c}
	var err error
	if d == nil {
		err = fmt.Errorf("dist: rank %d has no device", c.Rank())
	}
	if err := comm.Agree(ctx, c, err); err != nil {
		return Rank{}, err
	}
	if c.Size() > 1 {
		if r.alone, err = c.Split(ctx, c.Rank(), 0); err != nil {
			return Rank{}, fmt.Errorf("dist: a group for rank %d alone: %w", c.Rank(), err)
		}
	}
	return r, nil
}

// Alone returns this rank as a group of one, for operators that work inside a
// rank. It does not communicate.
func (r Rank) Alone() Rank { return Rank{Comm: r.alone, Device: r.Device, alone: r.alone} }

// Sub makes one group of the ranks of each color, ordered by key, as
// comm.Comm.Split does. A rank with comm.NoColor gets a Rank without Comm.
func (r Rank) Sub(ctx context.Context, color, key int) (Rank, error) {
	c, err := r.Split(ctx, color, key)
	return Rank{Comm: c, Device: r.Device, alone: r.alone}, err
}
