package dist

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/golops/golops/comm"
)

// Agree ends a collective constructor. If err is non-nil on any rank, or the
// values are not the same on all ranks, it returns an error on every rank that
// names the rank and what is wrong; what says who asks, such as "ops: roll".
// With one rank, or all in order, it costs one message at most.
func Agree(ctx context.Context, c comm.Comm, what string, err error, values ...any) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	if c.Size() == 1 {
		return err
	}
	text := fmt.Sprint(values...)
	h := fnv.New64a()
	h.Write([]byte(text))
	mine := []int64{int64(h.Sum64() >> 1)}
	if err != nil {
		mine[0] = -1
	}
	all := make([]int64, c.Size())
	if e := c.AllGather(ctx, comm.Of(all), comm.Of(mine)); e != nil {
		return errors.Join(err, e)
	}
	for r, v := range all {
		if v == all[0] && v >= 0 {
			continue
		}
		if v == -1 || all[0] == -1 {
			return comm.Agree(ctx, c, err)
		}
		return differ(ctx, c, what, text, r)
	}
	return nil
}

// differ says on all ranks what rank 0 and rank r have.
func differ(ctx context.Context, c comm.Comm, what, mine string, r int) error {
	a, b := mine, mine
	if err := comm.BroadcastObject(ctx, c, &a, 0); err != nil {
		return err
	}
	if err := comm.BroadcastObject(ctx, c, &b, r); err != nil {
		return err
	}
	return fmt.Errorf("%s: ranks disagree: rank 0 has %s, rank %d has %s", what, a, r, b)
}
