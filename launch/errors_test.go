package launch_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/launch"
)

// Each cause is printed once, with the rank where it began.
func TestText(t *testing.T) {
	full := errors.New("disk is full")
	at := func(rank int, err error) error { return &comm.RankError{Rank: rank, Err: err} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{full, "disk is full"},
		{at(1, full), "rank 1: disk is full"},
		{errors.Join(at(0, full), at(1, at(0, full)), at(2, at(0, full))), "rank 0: disk is full"},
		{at(0, fmt.Errorf("lsm: %w", at(1, full))), "rank 1: lsm: disk is full"},
		{&comm.AbortError{Rank: 1, Err: errors.New("rank 2: disk is full")}, "rank 2: disk is full"},
		{at(0, fmt.Errorf("lsm: %w", &comm.AbortError{Rank: 1, Err: full})), "rank 1: disk is full"},
		{at(1, fmt.Errorf("lsm: %w", &comm.AbortError{Rank: 1, Err: full})), "rank 1: lsm: disk is full"},
		{errors.Join(errors.Join(at(0, full), at(1, full)), nil), "rank 0: disk is full\nrank 1: disk is full"},
		{errors.Join(at(0, full), at(1, errors.New("no memory"))), "rank 0: disk is full\nrank 1: no memory"},
		{at(1, fmt.Errorf("%w: empty it: %w", full, errors.ErrUnsupported)), "rank 1: disk is full: empty it: unsupported operation"},
		{fmt.Errorf("%w: empty it: %w", full, errors.ErrUnsupported), "disk is full: empty it: unsupported operation"},
		{at(0, fmt.Errorf("main.go:7: %w", at(1, full))), "rank 1: main.go:7: disk is full"},
		{&comm.AbortError{Rank: 0, Err: errors.New("main.go:7: rank 1: disk is full")}, "rank 1: main.go:7: disk is full"},
	} {
		if got := launch.Text(c.err); got != c.want {
			t.Errorf("%v: got %q, want %q", c.err, got, c.want)
		}
	}
}
