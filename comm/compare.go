package comm

import (
	"errors"

	"github.com/golops/golops/scalar"
)

// shown is what a rank shows of a call: kind, type, op, root, count, label, length
// of the text of its error.
const shown = 7

// Compare is for communicators: the checked mode of a collective on n ranks. It
// returns nil if all ranks are in the same call with good arguments. All get the
// same verdict, save that one with a fault of its own names it. show returns the
// numbers of all ranks, by rank.
func Compare(n int, call Call, fault error, show func(numbers ...int64) ([]int64, error), broadcast func(b Buf, root int) error) error {
	text := ""
	if fault != nil {
		text = fault.Error()
	}
	all, err := show(int64(call.Kind), int64(call.DType), int64(call.Op), int64(call.Peer), call.N, int64(call.Label), int64(len(text)))
	if err != nil {
		return err
	}
	for j := range n {
		k := all[j*shown+shown-1]
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
	of := func(j int) Call {
		s := all[j*shown:]
		return Call{Kind: Kind(s[0]), DType: scalar.DType(s[1]), Op: Op(s[2]), Peer: int32(s[3]), N: s[4], Label: Label(s[5])}
	}
	for j := 1; j < n; j++ {
		if a, b := of(0), of(j); a != b {
			return &MismatchError{RankA: 0, CallA: a.String(), RankB: j, CallB: b.String()}
		}
	}
	return nil
}
