package dist

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/golops/golops/comm"
)

// failed stands for the hash of the values of a rank that has an error.
const failed = -1

// Agree ends a collective constructor. It returns an error on every rank if err is
// non-nil on any, or if what or the values differ between ranks. The error names
// the rank, unless all ranks have one. what names the constructor, such as
// "ops: roll". With one rank Agree sends nothing. With several it sends one
// message, and more only if there is an error.
func Agree(ctx context.Context, c *comm.Comm, what string, err error, values ...any) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	if c.Size() == 1 {
		return err
	}
	text := fmt.Sprint(values...)
	h := fnv.New64a()
	h.Write([]byte(what + "\x00" + text))
	mine := []int64{int64(h.Sum64() >> 1)}
	if err != nil {
		mine[0] = failed
	}
	all := make([]int64, c.Size())
	if e := c.AllGather(ctx, comm.Of(all), comm.Of(mine).Labelled(labelAgree)); e != nil {
		return errors.Join(err, e)
	}
	if r := slices.Index(all, failed); r >= 0 {
		return spread(ctx, c, err, r, !slices.ContainsFunc(all, func(v int64) bool { return v != failed }))
	}
	if r := slices.IndexFunc(all, func(v int64) bool { return v != all[0] }); r >= 0 {
		return differ(ctx, c, what, text, r)
	}
	return nil
}

// spread returns the error of rank r, the first that has one, on all ranks that
// have none.
func spread(ctx context.Context, c *comm.Comm, err error, r int, all bool) error {
	if all {
		return err
	}
	text := ""
	if c.Rank() == r {
		text = err.Error()
	}
	if e := comm.BroadcastObject(ctx, c, &text, r); e != nil {
		return errors.Join(err, e)
	}
	if err != nil {
		return &comm.RankError{Rank: c.Rank(), Err: err}
	}
	return &comm.RankError{Rank: r, Err: errors.New(text)}
}

// differ says on all ranks what rank 0 and rank r have.
func differ(ctx context.Context, c *comm.Comm, what, mine string, r int) error {
	a, b := [2]string{what, mine}, [2]string{what, mine}
	if err := comm.BroadcastObject(ctx, c, &a, 0); err != nil {
		return err
	}
	if err := comm.BroadcastObject(ctx, c, &b, r); err != nil {
		return err
	}
	if a[0] != b[0] {
		return fmt.Errorf("dist: ranks disagree: rank 0 is in %s with %s, rank %d in %s with %s", a[0], a[1], r, b[0], b[1])
	}
	return fmt.Errorf("%s: ranks disagree: rank 0 has %s, rank %d has %s", what, a[1], r, b[1])
}
