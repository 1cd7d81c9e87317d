// Package comm defines how the ranks of one program communicate: collectives,
// messages, requests, windows and their errors.
//
// Buffers come destination first. A caller asks for an operation in place by
// passing the same memory twice: the same Buf as dst and src (AllReduce,
// Reduce on the root, AllToAll), or this rank's own block of the larger buffer
// as the smaller one (AllGather, Gather, Scatter, ReduceScatter). Buffers that
// overlap in any other way are an error.
package comm

import "context"

// Nobody is the rank that SendRecv neither sends to nor receives from.
const Nobody = -1

// NoColor is the color of a rank that joins no group of a Split.
const NoColor = -1

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
type Comm interface {
	Rank() int
	Size() int
	// String names the transport, such as "goroutines" or "Open MPI 4.1.4".
	String() string

	// Barrier returns when all ranks have called it.
	Barrier(ctx context.Context) error
	// AllReduce leaves the reduction of all ranks' src in every rank's dst.
	AllReduce(ctx context.Context, dst, src Buf, op Op) error
	// Reduce leaves the reduction of all ranks' src in dst of root.
	Reduce(ctx context.Context, dst, src Buf, op Op, root int) error
	// Broadcast copies root's buf into buf of all ranks.
	Broadcast(ctx context.Context, buf Buf, root int) error
	// AllGather leaves all ranks' src, by rank, in every rank's dst.
	AllGather(ctx context.Context, dst, src Buf) error
	// AllGatherV is AllGather of counts[r] elements from rank r.
	AllGatherV(ctx context.Context, dst Buf, counts []int, src Buf) error
	// Gather leaves all ranks' src, by rank, in dst of root.
	Gather(ctx context.Context, dst, src Buf, root int) error
	// GatherV is Gather of counts[r] elements from rank r; counts matters on root.
	GatherV(ctx context.Context, dst Buf, counts []int, src Buf, root int) error
	// Scatter copies block r of root's src into dst of rank r.
	Scatter(ctx context.Context, dst, src Buf, root int) error
	// ScatterV is Scatter of counts[r] elements to rank r; counts matters on root.
	ScatterV(ctx context.Context, dst, src Buf, counts []int, root int) error
	// ReduceScatter leaves block r of the reduction of all ranks' src in dst of
	// rank r. In place, the other blocks of src are undefined afterwards.
	ReduceScatter(ctx context.Context, dst, src Buf, op Op) error
	// ReduceScatterV is ReduceScatter with counts[r] elements for rank r.
	ReduceScatterV(ctx context.Context, dst, src Buf, counts []int, op Op) error
	// AllToAll copies block j of rank i's src to block i of rank j's dst.
	AllToAll(ctx context.Context, dst, src Buf) error
	// AllToAllV is AllToAll with sendCounts[j] elements for rank j and
	// recvCounts[i] from rank i. In place, both counts must be equal.
	AllToAllV(ctx context.Context, dst Buf, recvCounts []int, src Buf, sendCounts []int) error

	// Send returns when src may be used again, Recv when dst is filled. Type and
	// count of both sides must be equal.
	Send(ctx context.Context, src Buf, to int) error
	Recv(ctx context.Context, dst Buf, from int) error
	// SendRecv sends and receives at the same time; either peer may be Nobody.
	SendRecv(ctx context.Context, dst Buf, from int, src Buf, to int) error
	// ISend and IRecv start a message. The buffer belongs to the communicator
	// until the request has completed. A rank may send to itself if it starts both
	// sides before it waits for either.
	ISend(ctx context.Context, src Buf, to int) (Request, error)
	IRecv(ctx context.Context, dst Buf, from int) (Request, error)

	// IAllReduce, IBroadcast and IAllGather start a collective. They count in
	// the order of collectives and match only each other.
	IAllReduce(ctx context.Context, dst, src Buf, op Op) (Request, error)
	IBroadcast(ctx context.Context, buf Buf, root int) (Request, error)
	IAllGather(ctx context.Context, dst, src Buf) (Request, error)

	// Group calls f, in which Send, Recv and SendRecv only check their arguments.
	// When f has returned, it starts all these messages and waits for them. If f
	// returns an error, none is started. Buffers of calls made in f may be used
	// only after Group has returned.
	Group(ctx context.Context, f func() error) error

	// Split makes one group of the ranks of each color, ordered by key and,
	// where keys are equal, by rank. A rank with NoColor gets nil.
	Split(ctx context.Context, color, key int) (Comm, error)
	// Abort ends every blocked and later call of every rank of the program, in
	// this group and in all others, with an *AbortError that carries cause.
	// Buffers of calls under way are undefined afterwards.
	Abort(cause error)
	// Close frees what Split has allocated. It is collective. Later calls return
	// ErrClosed; a second Close does nothing.
	Close() error
}

// Request is an operation under way. The zero Request has completed.
type Request struct {
	w  Waiter
	id uint64
}

// Waiter is the part of a communicator that completes requests. It must
// recognise the id of a request that has completed before.
type Waiter interface {
	// WaitRequest returns when the request has completed, nil if it had before.
	WaitRequest(ctx context.Context, id uint64) error
	// TestRequest reports whether the request has completed, without waiting.
	TestRequest(id uint64) (bool, error)
}

// NewRequest is for communicators: the operation that w knows as id.
func NewRequest(w Waiter, id uint64) Request { return Request{w, id} }

// Wait returns when the operation has completed. Waiting again returns nil.
func (r Request) Wait(ctx context.Context) error {
	if r.w == nil {
		return nil
	}
	return r.w.WaitRequest(ctx, r.id)
}

// Test reports whether the operation has completed, and its error if it has.
// A communicator may make progress only in calls, so long work that overlaps with
// the operation should call Test from time to time.
func (r Request) Test() (bool, error) {
	if r.w == nil {
		return true, nil
	}
	return r.w.TestRequest(r.id)
}

// WaitAll waits for all requests and returns the first error.
func WaitAll(ctx context.Context, reqs ...Request) error {
	var first error
	for _, r := range reqs {
		if err := r.Wait(ctx); err != nil && first == nil {
			first = err
		}
	}
	return first
}
