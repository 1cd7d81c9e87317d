package driver

import (
	"context"
	"fmt"

	"github.com/golops/golops/scalar"
)

// Kind names a call.
type Kind uint8

// The calls. A new collective gets a name here and a row in Specs.
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
	KindExScan
	KindIAllReduce
	KindIReduce
	KindIBroadcast
	KindIAllGather
	KindSend
	KindRecv
	KindExchange
	KindSplit
	KindWindow
	KindFence
	KindLock
	KindClose
	KindRegister
	KindAlloc
)

// Side says how many elements a buffer of a collective has.
type Side uint8

// The sides. Of two buffers with One block each, both have as many elements.
const (
	None   Side = iota // there is no such buffer
	One                // one block
	Blocks             // one block for each rank
)

// Spec says what a call is.
type Spec struct {
	Name                 string
	Dst, Src             Side
	Rooted               bool // has a root
	DstAtRoot, SrcAtRoot bool // only root has that buffer
	Reduces              bool // takes an Op
	Counts               bool // blocks may differ in size
	InPlace              bool // the buffers may be the same memory
	Message              bool // is one side of a message
	Before               bool // reduces the sources of lower ranks only
	Starts               Kind // the collective that a non-blocking one starts
}

// Specs has one row for each Kind. Broadcast has its buffer in Dst, and on root in Src
// too.
var Specs = [...]Spec{
	0:                  {Name: "no call"},
	KindBarrier:        {Name: "Barrier"},
	KindAllReduce:      {Name: "AllReduce", Dst: One, Src: One, Reduces: true, InPlace: true},
	KindReduce:         {Name: "Reduce", Dst: One, Src: One, Reduces: true, InPlace: true, Rooted: true, DstAtRoot: true},
	KindBroadcast:      {Name: "Broadcast", Dst: One, Rooted: true},
	KindAllGather:      {Name: "AllGather", Dst: Blocks, Src: One, InPlace: true},
	KindAllGatherV:     {Name: "AllGatherV", Dst: Blocks, Src: One, InPlace: true, Counts: true},
	KindGather:         {Name: "Gather", Dst: Blocks, Src: One, InPlace: true, Rooted: true, DstAtRoot: true},
	KindGatherV:        {Name: "GatherV", Dst: Blocks, Src: One, InPlace: true, Rooted: true, DstAtRoot: true, Counts: true},
	KindScatter:        {Name: "Scatter", Dst: One, Src: Blocks, InPlace: true, Rooted: true, SrcAtRoot: true},
	KindScatterV:       {Name: "ScatterV", Dst: One, Src: Blocks, InPlace: true, Rooted: true, SrcAtRoot: true, Counts: true},
	KindReduceScatter:  {Name: "ReduceScatter", Dst: One, Src: Blocks, Reduces: true, InPlace: true},
	KindReduceScatterV: {Name: "ReduceScatterV", Dst: One, Src: Blocks, Reduces: true, InPlace: true, Counts: true},
	KindAllToAll:       {Name: "AllToAll", Dst: Blocks, Src: Blocks, InPlace: true},
	KindAllToAllV:      {Name: "AllToAllV", Dst: Blocks, Src: Blocks, InPlace: true, Counts: true},
	KindExScan:         {Name: "ExScan", Dst: One, Src: One, Reduces: true, InPlace: true, Before: true},
	KindIAllReduce:     {Name: "IAllReduce", Dst: One, Src: One, Reduces: true, InPlace: true, Starts: KindAllReduce},
	KindIReduce:        {Name: "IReduce", Dst: One, Src: One, Reduces: true, InPlace: true, Rooted: true, DstAtRoot: true, Starts: KindReduce},
	KindIBroadcast:     {Name: "IBroadcast", Dst: One, Rooted: true, Starts: KindBroadcast},
	KindIAllGather:     {Name: "IAllGather", Dst: Blocks, Src: One, InPlace: true, Starts: KindAllGather},
	KindSend:           {Name: "Send", Src: One, Message: true},
	KindRecv:           {Name: "Recv", Dst: One, Message: true},
	KindExchange:       {Name: "Exchange"},
	KindSplit:          {Name: "Split"},
	KindWindow:         {Name: "Window"},
	KindFence:          {Name: "Fence"},
	KindLock:           {Name: "Lock"},
	KindClose:          {Name: "Close"},
	KindRegister:       {Name: "Register"},
	KindAlloc:          {Name: "Alloc"},
}

// Moves reports whether s is a collective that moves or reduces elements.
func (s *Spec) Moves() bool { return s.Dst != None && !s.Message }

// CheckOp returns an error if the call cannot reduce elements of type d by o.
func (s *Spec) CheckOp(o Op, d scalar.DType) error {
	if s.Before && o == Average {
		return fmt.Errorf("avg of lower ranks makes no sense: use sum and divide")
	}
	return CheckOp(o, d)
}

// Spec returns the row of k.
func (k Kind) Spec() *Spec { return &Specs[k] }

// String returns the name of the method.
func (k Kind) String() string { return Specs[k].Name }

// Signature is what all ranks of a collective must agree on, or one side of a message.
// Ranks agree when their Signatures are ==.
type Signature struct {
	Kind  Kind
	DType scalar.DType
	Op    Op
	Peer  int32 // root, or the other rank of a message; -1 where there is none
	N     int64 // elements that ranks must agree on; -1 where they may differ
	Label Label // what the elements mean
}

// Call is a call with its arguments on one rank.
//
// On a rank other than root, a buffer that only root has is empty, with the element type
// of the call, and has no counts.
type Call struct {
	Signature
	Algo     Algo
	Dst, Src Buf
	In, Out  []int      // elements of the blocks of Dst and of Src; nil if they are equal
	Err      error      // what is wrong with this rank's arguments
	StepOf   *Signature // the call that this one is a step of, or nil: see Step

	Recv, Send []Leg // of an Exchange
	Color, Key int   // of a Split
}

// Leg is one message of an exchange: a receive from Peer or a send to it.
type Leg struct {
	Peer int
	Buf  Buf
}

// Named returns the call that ranks compare and that errors name.
func (c *Call) Named() *Signature {
	if c.StepOf != nil {
		return c.StepOf
	}
	return &c.Signature
}

// Step runs a collective of kind k on numbers in c, as a step of another call. Drivers that
// are built on conn take such steps. If ranks are in different calls, or if one has
// invalid arguments, the error is about the other call.
func (c *Call) Step(ctx context.Context, conn Conn, of *Call, k Kind, op Op, dst, src []int64) error {
	d, s := Of(dst), Of(src)
	*c = Call{Signature: Signature{Kind: k, DType: s.DType, Op: op, Peer: -1, N: int64(s.N)}, Dst: d, Src: s, Err: of.Err, StepOf: of.Named()}
	return conn.Do(ctx, c)
}

// Counts returns the elements of the blocks, nil if they are equal or if only root
// knows them.
func (c *Call) Counts() []int {
	if c.Kind.Spec().Dst == Blocks {
		return c.In
	}
	return c.Out
}

// Root returns the root of a rooted call.
func (c *Call) Root() int { return int(c.Peer) }

// DstBlock returns the block of Dst that comes from rank r, of size ranks.
func (c *Call) DstBlock(r, size int) Buf { return block(c.Dst, c.In, r, size) }

// SrcBlock returns the block of Src that goes to rank r, of size ranks.
func (c *Call) SrcBlock(r, size int) Buf { return block(c.Src, c.Out, r, size) }

// From returns the elements that come from rank r in a call that consists of messages, To
// those that go to it.
func (c *Call) From(r, size int) Buf {
	switch {
	case c.Kind.Spec().Dst == Blocks:
		return c.DstBlock(r, size)
	case r != c.Root():
		return Buf{DType: c.DType}
	}
	return c.Dst
}

// To is described at From.
func (c *Call) To(r, size int) Buf {
	switch s := c.Kind.Spec(); {
	case s.Src == Blocks:
		return c.SrcBlock(r, size)
	case s.Rooted && r != c.Root():
		return Buf{DType: c.DType}
	}
	return c.Src
}

func block(b Buf, counts []int, r, size int) Buf {
	n := b.N / size
	at := r * n
	if counts != nil {
		n, at = counts[r], Offset(counts, r)
	}
	return b.Slice(at, at+n)
}

// Offset returns where the block of rank r starts.
func Offset(counts []int, r int) int {
	at := 0
	for _, n := range counts[:r] {
		at += n
	}
	return at
}

// String shows the call with its arguments.
func (c Signature) String() string {
	s, sep := c.Kind.String()+"(", ""
	add := func(f string, args ...any) {
		s += sep + fmt.Sprintf(f, args...)
		sep = ", "
	}
	if c.Kind.Spec().Reduces {
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
