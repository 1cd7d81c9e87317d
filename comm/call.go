package comm

import (
	"fmt"

	"github.com/golops/golops/scalar"
)

// Kind names a call of Comm, for error texts and for finding mismatches.
type Kind uint8

// The calls.
const (
	KindBarrier Kind = iota + 1
	KindAllReduce
	KindReduce
	KindBroadcast
	KindAllGather
	KindAllGatherV
	KindGather
	KindGatherV
	KindScatter
	KindScatterV
	KindReduceScatter
	KindReduceScatterV
	KindAllToAll
	KindAllToAllV
	KindSend
	KindRecv
	KindIAllReduce
	KindIBroadcast
	KindIAllGather
	KindSplit
	KindWindow
	KindFence
	KindLock
	KindClose
	KindRegister
	KindAlloc
)

var kindNames = [...]string{"no call", "Barrier", "AllReduce", "Reduce", "Broadcast", "AllGather", "AllGatherV",
	"Gather", "GatherV", "Scatter", "ScatterV", "ReduceScatter", "ReduceScatterV", "AllToAll", "AllToAllV", "Send",
	"Recv", "IAllReduce", "IBroadcast", "IAllGather", "Split", "Window", "Fence", "Lock", "Close", "Register", "Alloc"}

// String returns the name of the method.
func (k Kind) String() string { return kindNames[k] }

// Call is what all ranks of a collective must agree on, or one side of a message.
// Ranks agree when their Calls are ==.
type Call struct {
	Kind  Kind
	DType scalar.DType
	Op    Op
	Peer  int32 // root, or the other rank of a message; -1 where there is none
	N     int64 // elements each rank must agree on; -1 where ranks may differ
	Label Label // what the elements mean
}

// String shows the call with its arguments.
func (c Call) String() string {
	s := c.Kind.String() + "("
	sep := ""
	add := func(f string, args ...any) {
		s += sep + fmt.Sprintf(f, args...)
		sep = ", "
	}
	switch c.Kind {
	case KindAllReduce, KindReduce, KindReduceScatter, KindReduceScatterV, KindIAllReduce:
		add("%v", c.Op)
	}
	switch {
	case c.DType.Valid() && c.N >= 0:
		add("%d %v", c.N, c.DType)
	case c.DType.Valid():
		add("%v", c.DType)
	}
	switch {
	case c.Kind == KindSend:
		add("to rank %d", c.Peer)
	case c.Kind == KindRecv:
		add("from rank %d", c.Peer)
	case c.Kind == KindLock:
		add("on rank %d", c.Peer)
	case c.Peer >= 0:
		add("root %d", c.Peer)
	}
	if c.Label != 0 {
		add("%q", c.Label)
	}
	return s + ")"
}
