// Package comm is how the ranks of one program communicate: collectives, messages,
// exchanges, windows and their errors. Comm is the door to it. Transports stand behind
// it as drivers: see package comm/driver.
//
// Buffers come destination first. A caller asks for an operation in place by
// passing the same memory twice: the same Buf as dst and src (AllReduce,
// Reduce on the root, AllToAll), or this rank's own block of the larger buffer
// as the smaller one (AllGather, Gather, Scatter, ReduceScatter). Buffers that
// overlap in any other way are an error.
package comm

import (
	"context"
	"fmt"
	"slices"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/trace"
)

// Comm is one rank's handle on a group of ranks.
//
// All ranks of the group call collectives in the same order with matching
// arguments. Messages from one rank to another arrive in the order sent.
// One goroutine uses a handle at a time. Goroutines that communicate at the same
// time use separate handles, made by Split.
//
// If one rank's arguments are invalid, a collective returns an error on all ranks:
// the cause on that rank, a *RankError with the cause on the others. MPI does so
// only in checked mode. Otherwise the others see the error once the failed rank
// aborts, which the launcher does on any error. A ctx that ends while a rank waits
// aborts the program.
type Comm struct {
	conn        driver.Conn
	info        driver.Info
	rank, size  int
	gpu         bool // buffers may be in GPU memory
	closed      bool // this rank has closed it
	nonBlocking driver.NonBlocking
	oneSided    driver.OneSided
	registrar   driver.Registrar

	call    driver.Call // the call under way; a value here allocates nothing
	depth   int         // of nested Groups
	queued  []message   // messages of the Group under way
	started []Request
	trace   traced
}

// New returns the door to a group. It owns conn.
func New(conn driver.Conn) *Comm {
	i := conn.Info()
	c := &Comm{conn: conn, info: i, rank: i.Rank, size: i.Size, gpu: i.GPU}
	c.nonBlocking, _ = conn.(driver.NonBlocking)
	c.oneSided, _ = conn.(driver.OneSided)
	c.registrar, _ = conn.(driver.Registrar)
	return c
}

// Rank returns the number of this rank in the group, from 0.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks in the group.
func (c *Comm) Size() int { return c.size }

// String names the transport, such as "goroutines" or "Open MPI 4.1.4".
func (c *Comm) String() string { return c.info.Name }

// Conn returns the driver, for a transport that is built on this one. That transport
// owns c, which must not be used any more.
func (c *Comm) Conn() driver.Conn { return c.conn }

// SetAlgo chooses the algorithm of later collectives on this handle. All ranks must
// choose the same. driver.Auto lets the transport choose.
func (c *Comm) SetAlgo(a driver.Algo) error {
	if a != driver.Auto && !slices.Contains(c.info.Algos, a) {
		return fmt.Errorf("comm: algorithm %v is not for %v: have auto, %v", a, c, c.info.Algos)
	}
	c.call.Algo = a
	return nil
}

// largeCall is the number of elements from which a buffer is forgotten after a call, so that
// the garbage collector can free it.
const largeCall = 4 << 10

// set notes the arguments of the next call.
func (c *Comm) set(k driver.Kind, dst, src Buf, op Op, peer int) {
	q := &c.call
	q.Kind, q.Op, q.Peer, q.Dst, q.Src, q.In, q.Out = k, op, int32(peer), dst, src, nil, nil
}

// do checks the call that set has noted and runs it.
func (c *Comm) do(ctx context.Context) error {
	if c.closed {
		return ErrClosed
	}
	q := &c.call
	q.Check(c.rank, c.size, c.gpu)
	var err error
	if trace.On() {
		err = c.tracedDo(ctx, q)
	} else {
		err = c.conn.Do(ctx, q)
	}
	if q.Dst.N|q.Src.N > largeCall {
		q.Dst, q.Src = Buf{}, Buf{}
	}
	return err
}

// Barrier returns when all ranks have called it.
func (c *Comm) Barrier(ctx context.Context) error {
	c.set(driver.KindBarrier, Buf{}, Buf{}, 0, -1)
	return c.do(ctx)
}

// AllReduce leaves the reduction of all ranks' src in every rank's dst.
func (c *Comm) AllReduce(ctx context.Context, dst, src Buf, op Op) error {
	c.set(driver.KindAllReduce, dst, src, op, -1)
	return c.do(ctx)
}

// Reduce leaves the reduction of all ranks' src in dst of root.
func (c *Comm) Reduce(ctx context.Context, dst, src Buf, op Op, root int) error {
	c.set(driver.KindReduce, dst, src, op, root)
	return c.do(ctx)
}

// Broadcast copies root's buf into buf of all ranks.
func (c *Comm) Broadcast(ctx context.Context, buf Buf, root int) error {
	c.set(driver.KindBroadcast, buf, buf, 0, root)
	return c.do(ctx)
}

// AllGather leaves all ranks' src, by rank, in every rank's dst.
func (c *Comm) AllGather(ctx context.Context, dst, src Buf) error {
	c.set(driver.KindAllGather, dst, src, 0, -1)
	return c.do(ctx)
}

// AllGatherV is AllGather of counts[r] elements from rank r.
func (c *Comm) AllGatherV(ctx context.Context, dst Buf, counts []int, src Buf) error {
	c.set(driver.KindAllGatherV, dst, src, 0, -1)
	c.call.In = counts
	return c.do(ctx)
}

// Gather leaves all ranks' src, by rank, in dst of root.
func (c *Comm) Gather(ctx context.Context, dst, src Buf, root int) error {
	c.set(driver.KindGather, dst, src, 0, root)
	return c.do(ctx)
}

// GatherV is Gather of counts[r] elements from rank r; counts matters on root.
func (c *Comm) GatherV(ctx context.Context, dst Buf, counts []int, src Buf, root int) error {
	c.set(driver.KindGatherV, dst, src, 0, root)
	c.call.In = counts
	return c.do(ctx)
}

// Scatter copies block r of root's src into dst of rank r.
func (c *Comm) Scatter(ctx context.Context, dst, src Buf, root int) error {
	c.set(driver.KindScatter, dst, src, 0, root)
	return c.do(ctx)
}

// ScatterV is Scatter of counts[r] elements to rank r; counts matters on root.
func (c *Comm) ScatterV(ctx context.Context, dst, src Buf, counts []int, root int) error {
	c.set(driver.KindScatterV, dst, src, 0, root)
	c.call.Out = counts
	return c.do(ctx)
}

// ReduceScatter leaves block r of the reduction of all ranks' src in dst of
// rank r. In place, the other blocks of src are undefined afterwards.
func (c *Comm) ReduceScatter(ctx context.Context, dst, src Buf, op Op) error {
	c.set(driver.KindReduceScatter, dst, src, op, -1)
	return c.do(ctx)
}

// ReduceScatterV is ReduceScatter with counts[r] elements for rank r.
func (c *Comm) ReduceScatterV(ctx context.Context, dst, src Buf, counts []int, op Op) error {
	c.set(driver.KindReduceScatterV, dst, src, op, -1)
	c.call.Out = counts
	return c.do(ctx)
}

// ExScan leaves the reduction of src of all lower ranks in dst. That of rank 0 is zero.
func (c *Comm) ExScan(ctx context.Context, dst, src Buf, op Op) error {
	c.set(driver.KindExScan, dst, src, op, -1)
	return c.do(ctx)
}

// AllToAll copies block j of rank i's src to block i of rank j's dst.
func (c *Comm) AllToAll(ctx context.Context, dst, src Buf) error {
	c.set(driver.KindAllToAll, dst, src, 0, -1)
	return c.do(ctx)
}

// AllToAllV is AllToAll with sendCounts[j] elements for rank j and
// recvCounts[i] from rank i. In place, both counts must be equal.
func (c *Comm) AllToAllV(ctx context.Context, dst Buf, recvCounts []int, src Buf, sendCounts []int) error {
	c.set(driver.KindAllToAllV, dst, src, 0, -1)
	c.call.In, c.call.Out = recvCounts, sendCounts
	return c.do(ctx)
}

// IAllReduce, IReduce, IBroadcast and IAllGather start a collective. They count in
// the order of collectives and match only each other.
func (c *Comm) IAllReduce(ctx context.Context, dst, src Buf, op Op) (Request, error) {
	c.set(driver.KindIAllReduce, dst, src, op, -1)
	return c.startCollective(ctx)
}

// IReduce starts a Reduce: see IAllReduce.
func (c *Comm) IReduce(ctx context.Context, dst, src Buf, op Op, root int) (Request, error) {
	c.set(driver.KindIReduce, dst, src, op, root)
	return c.startCollective(ctx)
}

// IBroadcast starts a Broadcast: see IAllReduce.
func (c *Comm) IBroadcast(ctx context.Context, buf Buf, root int) (Request, error) {
	c.set(driver.KindIBroadcast, buf, buf, 0, root)
	return c.startCollective(ctx)
}

// IAllGather starts an AllGather: see IAllReduce.
func (c *Comm) IAllGather(ctx context.Context, dst, src Buf) (Request, error) {
	c.set(driver.KindIAllGather, dst, src, 0, -1)
	return c.startCollective(ctx)
}

func (c *Comm) startCollective(ctx context.Context) (Request, error) {
	switch {
	case c.closed:
		return Request{}, ErrClosed
	case c.nonBlocking == nil:
		return Request{}, c.unsupported("non-blocking collectives")
	}
	c.call.Check(c.rank, c.size, c.gpu)
	reg := trace.Begin(ctx, c.call.Kind.String())
	defer reg.End()
	id, err := c.nonBlocking.StartCollective(ctx, &c.call)
	if err != nil {
		return Request{}, err
	}
	return Request{c, id}, nil
}

// Split makes one group of the ranks of each color, ordered by key and,
// where keys are equal, by rank. A rank with NoColor gets nil.
func (c *Comm) Split(ctx context.Context, color, key int) (*Comm, error) {
	if c.closed {
		return nil, ErrClosed
	}
	group := c.trace.subgroup(color)
	q := driver.Call{Color: color, Key: key}
	q.CheckSplit()
	reg := trace.Begin(ctx, "Split")
	defer reg.End()
	conn, err := c.conn.Split(ctx, &q)
	if err != nil || conn == nil {
		return nil, err
	}
	sub := New(conn)
	sub.call.Algo, sub.trace.group = c.call.Algo, group
	return sub, nil
}

// Abort ends every blocked and later call of every rank of the program, in
// this group and in all others, with an *AbortError that carries cause.
// Buffers of calls under way are undefined afterwards.
func (c *Comm) Abort(cause error) { c.conn.Abort(cause) }

// Close frees what Split has allocated. It is collective. Later calls return
// ErrClosed; a second Close does nothing.
func (c *Comm) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	return c.conn.Close()
}
