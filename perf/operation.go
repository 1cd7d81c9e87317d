package perf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/suggest"
)

// All as the name of an operation, reduction or element type means each of them.
const All = "all"

// operation is what the benchmark knows of one operation without running it.
type operation struct {
	name    string
	kind    driver.Kind // of a collective, which says the rest
	window  bool        // it reaches into a window, or sends a message in its place
	bus     func(n int) float64
	reduces bool // it takes a reduction
	rooted  bool // it takes a root
	blocks  bool // the larger buffer has one block for each rank
	inPlace bool // it can work in place
}

// collective returns the operation that a collective of package comm is.
func collective(name string, k driver.Kind, bus func(n int) float64) operation {
	s := k.Spec()
	return operation{name: name, kind: k, bus: bus, reduces: s.Reduces, rooted: s.Rooted, inPlace: s.InPlace,
		blocks: s.Dst == driver.Blocks || s.Src == driver.Blocks}
}

func whole(int) float64      { return 1 }
func others(n int) float64   { return float64(n-1) / float64(n) }
func twoTrips(n int) float64 { return 2 * others(n) }

// operations has them in the order in which All measures them.
var operations = [...]operation{
	collective("all_reduce", driver.KindAllReduce, twoTrips),
	collective("all_gather", driver.KindAllGather, others),
	collective("reduce_scatter", driver.KindReduceScatter, others),
	collective("broadcast", driver.KindBroadcast, whole),
	collective("reduce", driver.KindReduce, whole),
	collective("gather", driver.KindGather, others),
	collective("scatter", driver.KindScatter, others),
	collective("alltoall", driver.KindAllToAll, others),
	collective("alltoallv", driver.KindAllToAllV, others),
	{name: "sendrecv", bus: whole},
	{name: "put", window: true, bus: whole},
	{name: "get", window: true, bus: whole},
	{name: "accumulate", window: true, bus: whole},
}

// Operations returns the names of all operations.
func Operations() []string {
	names := make([]string, len(operations))
	for i, o := range operations {
		names[i] = o.name
	}
	return names
}

// findOperations looks up names, each once; All stands for every operation.
func findOperations(names []string) ([]operation, error) {
	if slices.Contains(names, All) {
		names = append(slices.Clone(names), Operations()...)
	}
	var found []operation
	var unknown []string
	for _, name := range names {
		if name == All || slices.ContainsFunc(found, func(o operation) bool { return o.name == name }) {
			continue
		}
		i := slices.IndexFunc(operations[:], func(o operation) bool { return o.name == name })
		if i < 0 {
			unknown = append(unknown, fmt.Sprintf("%q", name)+meant(name))
			continue
		}
		found = append(found, operations[i])
	}
	if unknown != nil {
		return nil, fmt.Errorf("unknown operation %s: have %s, or all", strings.Join(unknown, ", "), strings.Join(Operations(), ", "))
	}
	return found, nil
}

// meant names the operation that other programs call so, such as all_reduce_perf
// of nccl-tests, or whose name was mistyped.
func meant(name string) string {
	plain := func(s string) string {
		return strings.NewReplacer("_", "", "-", "").Replace(strings.TrimSuffix(strings.ToLower(s), "_perf"))
	}
	word := suggest.Word(name, Operations())
	for _, o := range operations {
		if p := plain(name); p == plain(o.name) || p == "bcast" && o.name == "broadcast" {
			word = o.name
		}
	}
	if word == "" {
		return ""
	}
	return " (did you mean " + word + "?)"
}

// extent is how many elements one row of a table moves.
type extent struct {
	count int // elements from one rank to one rank
	total int // elements of the larger buffer
	whole int // elements that were asked for, before rounding to blocks
}

// extent returns the whole elements, and whole blocks of n ranks, that fit
// into size bytes.
func (o operation) extent(size int64, elem, n int) extent {
	count := int(size / int64(elem))
	switch {
	case o.name == "alltoallv":
		total := 0
		for k := range n {
			total += ragged(count, k, n)
		}
		return extent{total / n, total, count}
	case o.blocks:
		return extent{count / n, count / n * n, count}
	}
	return extent{count, count, count}
}

// between is how many elements go from rank i to rank j of n in alltoall and
// alltoallv.
func (o operation) between(e extent, i, j, n int) int {
	if o.name == "alltoallv" {
		return ragged(e.whole, (i+j)%n, n)
	}
	return e.count
}

// ragged is how many of total elements go from rank i to rank j of n in
// alltoallv when (i+j) mod n is k. Counts rise evenly from none at k = 0, and
// as k runs through every value for each i, all ranks send equally much.
func ragged(total, k, n int) int {
	if n == 1 {
		return total
	}
	parts := n * (n - 1) / 2
	return total/parts*k + total%parts*k/parts
}

// room returns how many elements a rank needs to send from and to receive
// into. Where a buffer matters on root only, the others have none.
func (o operation) bufferSizes(e extent, isRoot bool) (send, recv int) {
	onRoot := func(n int) int {
		if isRoot {
			return n
		}
		return 0
	}
	switch o.name {
	case "all_gather":
		return e.count, e.total
	case "reduce_scatter":
		return e.total, e.count
	case "broadcast":
		return e.total, 0
	case "reduce":
		return e.total, onRoot(e.total)
	case "gather":
		return e.count, onRoot(e.total)
	case "scatter":
		return onRoot(e.total), e.count
	}
	return e.total, e.total
}
