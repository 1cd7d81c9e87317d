package nccl

import (
	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/staged"
)

// keepOpen is the host's communicator without Close: staged closes its host, but this
// one stays open.
type keepOpen struct{ comm.Comm }

func (keepOpen) Close() error { return nil }

// stage returns a communicator that stages through host memory, for reductions that the
// library cannot do.
func (c *Comm) stage() (comm.Comm, error) {
	if c.staged == nil {
		s, err := staged.New(keepOpen{c.host}, c.w.dev)
		if err != nil {
			c.w.mu.Lock()
			defer c.w.mu.Unlock()
			return nil, c.w.fail(err)
		}
		c.staged = s
	}
	return c.staged, nil
}
