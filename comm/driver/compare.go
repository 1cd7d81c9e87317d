package driver

import (
	"errors"
	"fmt"

	"github.com/golops/golops/scalar"
)

// callNumbers is how many numbers describe a rank's call: kind, type, op, root,
// count, label and the length of its error text.
const callNumbers = 7

// Compare is the checked mode of a collective on size ranks. It returns nil if all
// ranks are in the same call with valid arguments and matching counts. Otherwise all
// ranks return the same error, except that a rank whose own arguments are invalid
// returns its own. gather returns the numbers of all ranks, by rank. Compare takes one
// gather, two for a call with counts.
func Compare(size int, c *Call, gather func(numbers ...int64) ([]int64, error), broadcast func(b Buf, root int) error) error {
	text := ""
	if c.Err != nil {
		text = c.Err.Error()
	}
	own := c.Named()
	all, err := gather(int64(own.Kind), int64(own.DType), int64(own.Op), int64(own.Peer), own.N, int64(own.Label), int64(len(text)))
	if err != nil {
		return err
	}
	for j := range size {
		k := all[j*callNumbers+callNumbers-1]
		if k == 0 {
			continue
		}
		b := make([]byte, k)
		copy(b, text)
		if err := broadcast(Of(b), j); err != nil {
			return err
		}
		if c.Err != nil {
			return c.Err
		}
		return &RankError{Rank: j, Err: errors.New(string(b))}
	}
	callOf := func(j int) Signature {
		s := all[j*callNumbers:]
		return Signature{Kind: Kind(s[0]), DType: scalar.DType(s[1]), Op: Op(s[2]), Peer: int32(s[3]), N: s[4], Label: Label(s[5])}
	}
	for j := 1; j < size; j++ {
		if a, b := callOf(0), callOf(j); a != b {
			return &MismatchError{RankA: 0, CallA: a.String(), RankB: j, CallB: b.String()}
		}
	}
	if c.Kind.Spec().Counts {
		return compareCounts(size, c, gather)
	}
	return nil
}

// compareCounts gathers the counts of all ranks and compares them.
func compareCounts(size int, c *Call, gather func(numbers ...int64) ([]int64, error)) error {
	own := c.Src.N
	if c.Kind.Spec().Src == Blocks {
		own = c.Dst.N
	}
	per := 1 + 2*size
	numbers := make([]int64, per)
	numbers[0] = int64(own)
	for j := range c.In {
		numbers[1+j] = int64(c.In[j])
	}
	for j := range c.Out {
		numbers[1+size+j] = int64(c.Out[j])
	}
	all, err := gather(numbers...)
	if err != nil {
		return err
	}
	counts := make([]int, len(all))
	for i, n := range all {
		counts[i] = int(n)
	}
	return CompareCounts(size, c, func(j int) (own int, in, out []int) {
		s := counts[j*per : (j+1)*per]
		return s[0], s[1 : 1+size], s[1+size:]
	})
}

// CompareCounts compares what each rank has with what the others expect of it. of returns
// the counts of rank j and the elements of its buffer that is a single block. All ranks
// return the same error.
func CompareCounts(size int, c *Call, of func(j int) (own int, in, out []int)) error {
	s := c.Kind.Spec()
	_, _, zero := of(0)
	for i := range size {
		if s.Rooted && i != c.Root() {
			continue
		}
		_, in, out := of(i)
		for j := range size {
			var got, want int
			switch own, _, theirs := of(j); {
			case s.Dst == Blocks && s.Src == Blocks:
				got, want = theirs[i], in[j]
			case s.Dst == Blocks:
				got, want = own, in[j]
			case s.Rooted:
				got, want = own, out[j]
			default:
				got, want = zero[j], out[j]
			}
			if got != want {
				return &MismatchError{RankA: i, CallA: c.String(), RankB: j, CallB: c.String(),
					Hint: fmt.Sprintf("rank %d has %d elements, rank %d expects %d", j, got, i, want)}
			}
		}
	}
	return nil
}
