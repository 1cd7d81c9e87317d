package dist

import (
	"context"

	"github.com/golops/golops/comm"
)

// message is a buffer and the rank that it goes to or comes from.
type message struct {
	peer int
	buf  comm.Buf
}

// messages are receives and sends that are under way together. All that dist sends
// from one rank to another goes through them.
type messages struct {
	comm       *comm.Comm
	recv, send []message
	started    []comm.Request
}

func newMessages(c *comm.Comm, recv, send int) *messages {
	return &messages{c, make([]message, recv), make([]message, send), make([]comm.Request, 0, recv+send)}
}

func (m *messages) start(ctx context.Context) error {
	m.started = m.started[:0]
	for _, r := range m.recv {
		q, err := m.comm.IRecv(ctx, r.buf, r.peer)
		if err != nil {
			return m.giveUp(ctx, err)
		}
		m.started = append(m.started, q)
	}
	for _, s := range m.send {
		q, err := m.comm.ISend(ctx, s.buf, s.peer)
		if err != nil {
			return m.giveUp(ctx, err)
		}
		m.started = append(m.started, q)
	}
	return nil
}

func (m *messages) wait(ctx context.Context) error {
	for _, q := range m.started {
		if err := q.Wait(ctx); err != nil {
			return m.giveUp(ctx, err)
		}
	}
	return nil
}

// giveUp ends an exchange that has failed and returns err. The next exchange uses
// the same buffers, so giveUp waits for all messages. If any is still under way it
// aborts the program first, because the other rank may never answer.
func (m *messages) giveUp(ctx context.Context, err error) error {
	for _, q := range m.started {
		if done, _ := q.Test(); !done {
			m.comm.Abort(err)
			break
		}
	}
	_ = comm.WaitAll(ctx, m.started...) // err came first
	return err
}
