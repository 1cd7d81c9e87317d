package fakegpu

import (
	"context"
	"errors"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
)

// conn lets ranks exchange hidden memory through a transport of the host, which sees
// where it is.
type conn struct {
	driver.Conn
	recv, send []driver.Leg
}

// NewComm returns a communicator for ranks on hidden devices. It owns c.
func NewComm(c *comm.Comm) *comm.Comm { return comm.New(&conn{Conn: c.Conn()}) }

func (c *conn) Info() driver.Info {
	i := c.Conn.Info()
	i.GPU = true
	return i
}

// seeCall makes the memory of a call that of the host.
func seeCall(q *driver.Call) { q.Dst.Place, q.Src.Place = driver.OnHost, driver.OnHost }

func seeLegs(to, legs []driver.Leg) []driver.Leg {
	to = append(to[:0], legs...)
	for i := range to {
		to[i].Buf.Place = driver.OnHost
	}
	return to
}

func (c *conn) Do(ctx context.Context, q *driver.Call) error {
	seeCall(q)
	return c.Conn.Do(ctx, q)
}

func (c *conn) Start(ctx context.Context, q *driver.Call) (uint64, error) {
	seeCall(q)
	c.recv, c.send = seeLegs(c.recv, q.Recv), seeLegs(c.send, q.Send)
	q.Recv, q.Send = c.recv, c.send
	return c.Conn.Start(ctx, q)
}

func (c *conn) StartCollective(ctx context.Context, q *driver.Call) (uint64, error) {
	seeCall(q)
	return c.Conn.(driver.NonBlocking).StartCollective(ctx, q)
}

// Window opens memory of the host, if the transport does.
func (c *conn) Window(ctx context.Context, q *driver.Call) (driver.Window, []int, error) {
	o, ok := c.Conn.(driver.OneSided)
	if !ok {
		return nil, nil, errors.ErrUnsupported
	}
	return o.Window(ctx, q)
}

func (c *conn) Split(ctx context.Context, q *driver.Call) (driver.Conn, error) {
	sub, err := c.Conn.Split(ctx, q)
	if sub == nil {
		return nil, err
	}
	return &conn{Conn: sub}, err
}
