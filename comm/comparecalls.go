package comm

import (
	"errors"

	"github.com/golops/golops/scalar"
)

// callNumbers is how many numbers describe a rank's call: kind, type, op, root,
// count, label and the length of its error text.
const callNumbers = 7

// Compare is for communicators: the checked mode of a collective on n ranks. It
// returns nil if all ranks are in the same call with valid arguments. Otherwise
// all ranks return the same error, except that a rank whose own arguments are
// invalid returns its own. gather returns the numbers of all ranks, by rank.
func Compare(n int, call Call, fault error, gather func(numbers ...int64) ([]int64, error), broadcast func(b Buf, root int) error) error {
	text := ""
	if fault != nil {
		text = fault.Error()
	}
	all, err := gather(int64(call.Kind), int64(call.DType), int64(call.Op), int64(call.Peer), call.N, int64(call.Label), int64(len(text)))
	if err != nil {
		return err
	}
	for j := range n {
		k := all[j*callNumbers+callNumbers-1]
		if k == 0 {
			continue
		}
		b := make([]byte, k)
		copy(b, text)
		if err := broadcast(Of(b), j); err != nil {
			return err
		}
		if fault != nil {
			return fault
		}
		return &RankError{Rank: j, Err: errors.New(string(b))}
	}
	callOf := func(j int) Call {
		s := all[j*callNumbers:]
		return Call{Kind: Kind(s[0]), DType: scalar.DType(s[1]), Op: Op(s[2]), Peer: int32(s[3]), N: s[4], Label: Label(s[5])}
	}
	for j := 1; j < n; j++ {
		if a, b := callOf(0), callOf(j); a != b {
			return &MismatchError{RankA: 0, CallA: a.String(), RankB: j, CallB: b.String()}
		}
	}
	return nil
}
