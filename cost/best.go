package cost

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Kind is a choice of algorithms for Best.
type Kind uint8

// The kinds.
const (
	Auto          Kind = iota // any
	Block                     // nothing travels
	SUMMA                     // panels of A and X travel by messages, on a grid of rows and columns
	OneSidedSUMMA             // panels are read from windows
	Copied25D                 // copies share the sum of SUMMA
)

var kindNames = [...]string{"auto", "block", "summa", "one-sided", "2.5d"}

// String returns the name that ParseKind takes.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// KindNames lists the names of all kinds.
func KindNames() string { return strings.Join(kindNames[:], ", ") }

// ParseKind returns the kind called name.
func ParseKind(name string) (Kind, error) {
	for i, n := range kindNames {
		if strings.EqualFold(n, name) {
			return Kind(i), nil
		}
	}
	return 0, fmt.Errorf("unknown kind %q: have %s", name, KindNames())
}

// Kind returns the kind that a product is of, never Auto.
func (p Product) Kind() Kind {
	switch {
	case p.has(Copies):
		return Copied25D
	case !p.travels():
		return Block
	case p.OneSided:
		return OneSidedSUMMA
	}
	return SUMMA
}

// MemoryError says that no layout fits the memory.
type MemoryError struct {
	Kind        Kind
	Ranks       int
	Need, Given int64 // bytes of a rank
}

func (e *MemoryError) Error() string {
	kind := ""
	if e.Kind != Auto {
		kind = fmt.Sprintf(" of kind %v", e.Kind)
	}
	return fmt.Sprintf("cost: no layout%s on %d ranks fits: a rank needs at least %d bytes and may have %d: take more ranks, or give it more memory", kind, e.Ranks, e.Need, e.Given)
}

// Best returns the product of a kind on a number of ranks whose forward and adjoint take
// the least time together, among those that need no more than memory bytes on a rank. 0
// means that memory does not matter. The axes of the grid have at least 2 ranks each. A
// *MemoryError says that none fits.
func Best(m Machine, p Problem, kind Kind, ranks int, memory int64) (Product, Prediction, error) {
	best, found := Product{Problem: p}, Prediction{}
	if ranks < 1 || memory < 0 || int(kind) >= len(kindNames) {
		return best, found, fmt.Errorf("cost: best of kind %v on %d ranks of %d bytes: there must be at least 1 rank, and memory that is not negative", kind, ranks, memory)
	}
	if _, err := m.Product(best); err != nil {
		return best, found, err
	}
	if kind == OneSidedSUMMA && m.OneSided == (Link{}) {
		return best, found, errors.New("cost: one-sided product: the machine has no one-sided messages")
	}
	none := &MemoryError{Kind: kind, Ranks: ranks, Given: memory}
	any := false
	for c := range candidates(kind, ranks) {
		if c.Problem = p; c.OneSided && m.OneSided == (Link{}) || !c.splits() || (kind == SUMMA || kind == OneSidedSUMMA) && !c.square() {
			continue
		}
		for c := range narrower(c) {
			if need := int64(min(c.memory(), 1<<62)); memory > 0 && need > memory {
				if none.Need == 0 || need < none.Need {
					none.Need = need
				}
				continue
			}
			r := m.product(c)
			// Times that differ by rounding only are equal. Then memory decides.
			if s, t := r.Seconds(), found.Seconds(); !any || s < t*(1-1e-9) || s <= t*(1+1e-9) && r.Memory < found.Memory {
				best, found, any = c, r, true
			}
		}
	}
	if !any {
		return best, found, none
	}
	return best, found, nil
}

// splits reports whether there are several batches and columns where the grid splits
// them: a single one may have no axis.
func (p Product) splits() bool {
	return (p.Batch > 1 || !p.has(Batch)) && (p.Columns > 1 || !p.has(Columns) && !p.has(ColumnPanels))
}

// square reports whether both A and X travel, if the ranks and the columns allow it.
func (p Product) square() bool {
	both := p.has(RowPanels) && p.has(ColumnPanels)
	return both || p.Columns <= 1 || len(divisors(p.Ranks())) <= 2
}

// narrower returns p and, if panels travel, products with panels of half, a quarter, …
// of the width: they need less memory, and copies share them better.
func narrower(p Product) iter.Seq[Product] {
	return func(yield func(Product) bool) {
		for yield(p) && p.travels() {
			w := int(p.blocks().panel)
			if w <= 1 {
				return
			}
			p.Panel = (w + 1) / 2
		}
	}
}

// candidates returns the products of a kind on ranks.
func candidates(kind Kind, ranks int) iter.Seq[Product] {
	return func(yield func(Product) bool) {
		for f := range grids(ranks, 5) {
			for _, way := range ways(kind) {
				p := Product{OneSided: way.oneSided}
				for i, c := range [...]Case{Batch, Copies, way.rows, way.columns, Depth} {
					if f[i] > 1 {
						p.Axes = append(p.Axes, Axis{f[i], c})
					}
				}
				if p.is(kind, ranks) && !yield(p) {
					return
				}
			}
		}
	}
}

// way is how A and X are split along the axes of rows and columns of a grid.
type way struct {
	rows, columns Case
	oneSided      bool
}

func ways(kind Kind) (ws []way) {
	if kind == Auto || kind == Block {
		ws = append(ws, way{Rows, Columns, false})
	}
	for _, one := range []bool{false, true} {
		if kind == Auto {
			ws = append(ws, way{RowPanels, Columns, one}, way{Rows, ColumnPanels, one})
		}
		if kind != Block && (kind != SUMMA || !one) && (kind != OneSidedSUMMA || one) {
			ws = append(ws, way{RowPanels, ColumnPanels, one})
		}
	}
	return ws
}

// is reports whether p is of a kind on ranks, and possible. One rank is of every kind.
func (p Product) is(kind Kind, ranks int) bool {
	if p.has(Depth) && p.travels() { // which split j already
		return false
	}
	if ranks == 1 {
		return true
	}
	switch kind {
	case Block:
		return !p.has(Copies)
	case SUMMA, OneSidedSUMMA:
		return p.travels() && !p.has(Copies)
	case Copied25D:
		return p.has(Copies) && !p.has(Depth)
	}
	return true
}

// grids returns all ways to write n as a product of k numbers. The slice is overwritten.
func grids(n, k int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		f := make([]int, k)
		var next func(i, n int) bool
		next = func(i, n int) bool {
			if i == k-1 {
				f[i] = n
				return yield(f)
			}
			for _, d := range divisors(n) {
				f[i] = d
				if !next(i+1, n/d) {
					return false
				}
			}
			return true
		}
		if k > 0 {
			next(0, n)
		}
	}
}

func divisors(n int) (d []int) {
	for i := 1; i*i <= n; i++ {
		if n%i == 0 {
			d = append(d, i)
			if i*i < n {
				d = append(d, n/i)
			}
		}
	}
	slices.Sort(d)
	return d
}
