package reporttest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// message is what travels over the pipe, in both directions, each followed by
// a zero byte: a call has ID and Method, its answer the same ID, and an event
// only a Method.
type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// pipe makes one call at a time and keeps the events that arrive meanwhile.
type pipe struct {
	to     io.Writer
	from   chan message // closed when the browser has gone
	last   int          // number of the last call
	events []message
}

func newPipe(to io.Writer, from io.Reader) *pipe {
	p := &pipe{to: to, from: make(chan message, 64)}
	go p.read(bufio.NewReader(from))
	return p
}

func (p *pipe) read(r *bufio.Reader) {
	defer close(p.from)
	for {
		b, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(bytes.TrimSuffix(b, []byte{0}), &m) == nil {
			p.from <- m
		}
	}
}

// next waits for the next message of any kind.
func (p *pipe) next(ctx context.Context) (message, error) {
	select {
	case m, ok := <-p.from:
		if !ok {
			return m, fmt.Errorf("the browser has closed the connection")
		}
		return m, nil
	case <-ctx.Done():
		return message{}, ctx.Err()
	}
}

// call waits for the answer to a method and decodes it into result, unless
// that is nil.
func (p *pipe) call(ctx context.Context, session, method string, params, result any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	p.last++
	b, err := json.Marshal(message{ID: p.last, SessionID: session, Method: method, Params: raw})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if _, err := p.to.Write(append(b, 0)); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		m, err := p.next(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", method, err)
		case m.ID == 0:
			p.events = append(p.events, m)
		case m.ID != p.last:
			continue // the answer to a call that was given up
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(m.Result, result)
		}
	}
}

// await waits for an event of a session, which may have arrived already.
func (p *pipe) await(ctx context.Context, session, method string) error {
	for _, m := range p.events {
		if m.Method == method && m.SessionID == session {
			return nil
		}
	}
	for {
		m, err := p.next(ctx)
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", method, err)
		}
		if m.ID != 0 {
			continue
		}
		p.events = append(p.events, m)
		if m.Method == method && m.SessionID == session {
			return nil
		}
	}
}
