package driver

import (
	"fmt"
	"strings"

	"github.com/golops/golops/scalar"
)

// Op is a reduction. The zero Op is Sum.
type Op uint8

// The reductions. Average divides the sum by the number of ranks; for
// integers the quotient is truncated towards zero. Replace and NoOp exist for
// Window.Accumulate and Window.GetAccumulate only.
const (
	Sum Op = iota
	Prod
	Min
	Max
	Average
	Replace
	NoOp
)

// Ops lists the reductions that collectives take.
var Ops = [...]Op{Sum, Prod, Min, Max, Average}

var opNames = [...]string{"sum", "prod", "min", "max", "avg", "replace", "noop"}

// String returns the short name of o: sum, prod, min, max, avg, replace, noop.
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// ParseOp returns the collective reduction called s.
func ParseOp(s string) (Op, error) {
	for _, o := range Ops {
		if opNames[o] == s {
			return o, nil
		}
	}
	return 0, fmt.Errorf("unknown reduction %q: have %s", s, strings.Join(opNames[:len(Ops)], ", "))
}

// CheckOp returns an error if reducing elements of type d by o makes no sense
// in a collective.
func CheckOp(o Op, d scalar.DType) error {
	switch {
	case !d.Valid():
		return fmt.Errorf("element type %v is none that ranks can exchange: have "+scalar.Names(), d)
	case o > Average:
		return fmt.Errorf("reduction %v is for windows only: use sum, prod, min, max or avg", o)
	case (o == Min || o == Max) && d.IsComplex():
		return fmt.Errorf("%v of %v makes no sense, complex numbers have no order: reduce absolute values or real and imaginary parts", o, d)
	}
	return nil
}

// CheckWindowOp is CheckOp for Accumulate and GetAccumulate. fetch says whether
// the old value is returned: NoOp is for that only.
func CheckWindowOp(o Op, d scalar.DType, fetch bool) error {
	switch {
	case o == Average:
		return fmt.Errorf("avg makes no sense in a window, which does not know how many will contribute: use sum and divide")
	case o == NoOp && !fetch:
		return fmt.Errorf("noop accumulates nothing: it is for GetAccumulate")
	case o == Replace || o == NoOp:
		return CheckOp(Sum, d)
	}
	return CheckOp(o, d)
}

// Algo chooses the algorithm of AllReduce and of the other collectives that a
// communicator implements itself.
type Algo uint8

// The algorithms. Auto lets the communicator choose: goroutine ranks use Direct,
// MPI ranks choose by size and by whether they share a machine.
const (
	Auto   Algo = iota
	Direct      // each rank reduces one share, reading all ranks' memory; goroutine ranks only
	Ring        // neighbours pass shares around; high bandwidth, latency grows with ranks
	Tree        // recursive doubling, binomial trees; low latency
	Native      // the library's own collective; MPI only
)

var algoNames = [...]string{"auto", "direct", "ring", "tree", "native"}

// String returns the name of a: auto, direct, ring, tree, native.
func (a Algo) String() string {
	if int(a) < len(algoNames) {
		return algoNames[a]
	}
	return fmt.Sprintf("Algo(%d)", uint8(a))
}

// ParseAlgo returns the algorithm called s.
func ParseAlgo(s string) (Algo, error) {
	for i, n := range algoNames {
		if n == s {
			return Algo(i), nil
		}
	}
	return 0, fmt.Errorf("unknown algorithm %q: have %s", s, strings.Join(algoNames[:], ", "))
}
