package nccl

import (
	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/staged"
)

// unowned is the host's communicator as one that stage leaves open.
type unowned struct{ comm.Comm }

func (unowned) Close() error { return nil }

// stage returns the way through host memory, for what the library cannot do.
func (c *Comm) stage() (comm.Comm, error) {
	if c.staged == nil {
		s, err := staged.New(unowned{c.host}, c.w.dev)
		if err != nil {
			c.w.mu.Lock()
			defer c.w.mu.Unlock()
			return nil, c.w.fail(err)
		}
		c.staged = s
	}
	return c.staged, nil
}
