package cost

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/golops/golops/scalar"
)

// Problem is a product Y[b,i,k] = Σⱼ A[b,i,j]·X[b,j,k].
type Problem struct {
	Batch, Rows, Depth, Columns int          // extents of b, i, j and k
	DType                       scalar.DType // of X and Y
	Stored                      scalar.DType // of A; zero means DType
}

// Case is what the ranks along an axis of a grid do: which letter they split of A, X and Y.
type Case uint8

// The cases. Copied arrays have the letter '·'.
const (
	Batch        Case = iota // (b, b, b): nothing is sent
	Rows                     // (i, ·, i): the adjoint sums X
	Columns                  // (·, k, k): nothing is sent
	Depth                    // (j, j, ·): the forward product sums Y
	RowPanels                // (i, j, i): X travels in panels, its partial sums go back
	ColumnPanels             // (j, k, k): A travels in panels
	Copies                   // (·, ·, ·): copies share the sum (2.5-D); forward sums Y, adjoint sums X
)

// Copied stands for no letter.
const Copied = '·'

var cases = [...][3]rune{
	Batch: {'b', 'b', 'b'}, Rows: {'i', Copied, 'i'}, Columns: {Copied, 'k', 'k'}, Depth: {'j', 'j', Copied},
	RowPanels: {'i', 'j', 'i'}, ColumnPanels: {'j', 'k', 'k'}, Copies: {Copied, Copied, Copied},
}

// Letters returns what a case splits of A, X and Y: 'b', 'i', 'j', 'k' or Copied.
func (c Case) Letters() (a, x, y rune) { return cases[c][0], cases[c][1], cases[c][2] }

// String returns the letters, as in "(i,j,i)".
func (c Case) String() string {
	if int(c) >= len(cases) {
		return fmt.Sprintf("Case(%d)", uint8(c))
	}
	a, x, y := c.Letters()
	return fmt.Sprintf("(%c,%c,%c)", a, x, y)
}

// Axis is an axis of a grid of ranks.
type Axis struct {
	Ranks int
	Case  Case
}

// DefaultPanel is how many rows of X a panel has at most, if a Product does not say.
const DefaultPanel = 256

// Product is a problem on a grid of ranks. The last axis of the grid has neighbouring ranks.
type Product struct {
	Problem
	Axes     []Axis
	OneSided bool // panels are read from windows
	Panel    int  // the most rows of X in a panel that travels; 0 means DefaultPanel
}

// String describes the grid, as in "2 x 4 (i,j,i) (j,k,k), one-sided".
func (p Product) String() string {
	if len(p.Axes) == 0 {
		return "1 rank"
	}
	var grid, letters []string
	for _, a := range p.Axes {
		grid, letters = append(grid, fmt.Sprint(a.Ranks)), append(letters, a.Case.String())
	}
	s := strings.Join(grid, " x ") + " " + strings.Join(letters, " ")
	if p.OneSided && p.travels() {
		s += ", one-sided"
	}
	return s
}

// Ranks returns the ranks of the grid.
func (p Product) Ranks() int {
	n := 1
	for _, a := range p.Axes {
		n *= a.Ranks
	}
	return n
}

// along returns the number of ranks of the axes with one of these cases, and how far
// apart neighbours are. There is 1 where the grid has no such axis.
func (p Product) along(cs ...Case) (ranks, stride int) {
	ranks, stride = 1, 1
	apart := 1
	for i := len(p.Axes) - 1; i >= 0; i-- {
		a := p.Axes[i]
		if slices.Contains(cs, a.Case) && a.Ranks > 1 {
			if ranks == 1 {
				stride = apart
			}
			ranks *= a.Ranks
		}
		apart *= a.Ranks
	}
	return ranks, stride
}

func (p Product) has(c Case) bool {
	n, _ := p.along(c)
	return n > 1
}

func (p Product) travels() bool { return p.has(RowPanels) || p.has(ColumnPanels) }

// Validate reports what no grid can have.
func (p Product) Validate() error {
	if p.Batch < 0 || p.Rows < 0 || p.Depth < 0 || p.Columns < 0 {
		return fmt.Errorf("cost: product of %d × %d × %d × %d: extents must not be negative", p.Batch, p.Rows, p.Depth, p.Columns)
	}
	if !isScalar(p.DType) || p.Stored != 0 && !isScalar(p.Stored) {
		return fmt.Errorf("cost: product of %v with A in %v: must be float32, float64, complex64 or complex128", p.DType, p.stored())
	}
	if p.Panel < 0 {
		return fmt.Errorf("cost: product: panels of %d rows: must not be negative", p.Panel)
	}
	var split [3]string
	for _, a := range p.Axes {
		if a.Ranks < 1 || int(a.Case) >= len(cases) {
			return fmt.Errorf("cost: product: %d ranks along %v: must be at least 1, and a case", a.Ranks, a.Case)
		}
		for i, l := range cases[a.Case] {
			if l != Copied && strings.ContainsRune(split[i], l) {
				return fmt.Errorf("cost: product: %v: two axes split %c of %c", p, l, "AXY"[i])
			}
			split[i] += string(l)
		}
	}
	return nil
}

func (p Problem) stored() scalar.DType {
	if p.Stored == 0 {
		return p.DType
	}
	return p.Stored
}

// Cost is what one application costs the rank with the most work.
type Cost struct {
	Seconds  float64 `json:"seconds"`
	Compute  float64 `json:"compute_seconds"` // of that, without any message
	Messages float64 `json:"messages"`        // that a rank receives, or takes part in
	Bytes    float64 `json:"bytes"`           // that a rank receives, the mean of ranks
}

// Prediction is the cost of an operator.
type Prediction struct {
	Forward Cost  `json:"forward"`
	Adjoint Cost  `json:"adjoint"`
	Memory  int64 `json:"memory_bytes"` // of a rank: its blocks and two panels
}

// Seconds returns the time of a forward and an adjoint application.
func (p Prediction) Seconds() float64 { return p.Forward.Seconds + p.Adjoint.Seconds }

// blocks are the extents of the largest blocks of A, X and Y, and of panels.
type blocks struct {
	batch, rows, columns float64
	depthA, depthX       float64 // of j in a block of A and of X
	panel                float64 // the widest
}

func (p Product) blocks() blocks {
	part := func(n int, cs ...Case) float64 {
		for _, c := range cs {
			ranks, _ := p.along(c)
			n = ceil(n, ranks)
		}
		return float64(n)
	}
	b := blocks{
		batch: part(p.Batch, Batch), rows: part(p.Rows, Rows, RowPanels), columns: part(p.Columns, Columns, ColumnPanels),
		depthA: part(p.Depth, Depth, ColumnPanels), depthX: part(p.Depth, Depth, RowPanels),
	}
	b.panel = min(b.depthA, b.depthX)
	if p.travels() {
		b.panel = min(b.panel, float64(p.panel()))
	}
	return b
}

func (p Product) panel() int {
	if p.Panel == 0 {
		return DefaultPanel
	}
	return p.Panel
}

// memory returns the bytes of blocks and panels.
func (p Product) memory() float64 {
	b := p.blocks()
	a, x := float64(p.stored().Size()), float64(p.DType.Size())
	n := a*b.batch*b.rows*b.depthA + x*b.batch*(b.depthX+b.rows)*b.columns
	if p.has(ColumnPanels) {
		n += 2 * a * b.batch * b.rows * b.panel
	}
	if p.has(RowPanels) {
		n += 2 * x * b.batch * b.panel * b.columns
	}
	return n
}

// panels calls f for each width of panel with the number of them. Panels are where the
// splits of j of A and X cut, and no wider than p allows.
func (p Product) panels(f func(width, times float64)) {
	q, _ := p.along(ColumnPanels)
	r, _ := p.along(RowPanels)
	d, _ := p.along(Depth)
	n := p.Depth
	if d > 1 { // then nothing of j is split otherwise
		n = ceil(n, d)
	}
	most := max(n, 1)
	if p.travels() || p.has(Copies) {
		most = p.panel()
	}
	for lo, i, j := 0, 1, 1; lo < n; {
		for i < q && cut(n, q, i) <= lo {
			i++
		}
		for j < r && cut(n, r, j) <= lo {
			j++
		}
		hi := min(cut(n, q, i), cut(n, r, j))
		if full := (hi - lo) / most; full > 0 {
			f(float64(most), float64(full))
		}
		if rest := (hi - lo) % most; rest > 0 {
			f(float64(rest), 1)
		}
		lo = hi
	}
}

// cut returns where part i of n ends, if parts split it as evenly as possible.
func cut(n, parts, i int) int { return n/parts*i + min(i, n%parts) }

// Product predicts a product: the sum over panels of the longer of message and gemm, and
// then the sums over ranks.
func (m Machine) Product(p Product) (Prediction, error) {
	if err := errors.Join(m.Validate(), p.Validate()); err != nil {
		return Prediction{}, err
	}
	if m.Gemm[p.DType.String()] == 0 {
		return Prediction{}, fmt.Errorf("cost: product of %v: the machine has no gemm rate of it", p.DType)
	}
	if p.OneSided && m.OneSided == (Link{}) {
		return Prediction{}, errors.New("cost: one-sided product: the machine has no one-sided messages")
	}
	return m.product(p), nil
}

// product is Product without checks.
func (m Machine) product(p Product) (r Prediction) {
	r.Memory = int64(min(p.memory(), math.MaxInt64/2))
	ranks, b := p.Ranks(), p.blocks()
	elem, stored := float64(p.DType.Size()), float64(p.stored().Size())
	copies, _ := p.along(Copies)
	q, qStride := p.along(ColumnPanels)
	pr, pStride := p.along(RowPanels)
	linkA, linkX := m.along(ranks, q, qStride, p.OneSided), m.along(ranks, pr, pStride, p.OneSided)
	count := 0.0
	p.panels(func(w, times float64) {
		count += times
		fwd, adj := Cost{}, Cost{}
		gemm := m.gemm(p, b, w, ranks)
		if q > 1 {
			a := m.panel(linkA, p.OneSided, q, 1, stored*b.batch*b.rows*w)
			fwd, adj = fwd.then(a), adj.then(a)
		}
		if pr > 1 {
			x := m.panel(linkX, p.OneSided, pr, b.batch, elem*b.batch*w*b.columns)
			fwd, adj = fwd.then(x), adj.then(x)
		}
		overlap := (linkA.Overlap || q == 1) && (linkX.Overlap || pr == 1)
		fwd, adj = fwd.beside(gemm, overlap), adj.beside(gemm, overlap)
		if pr > 1 { // somebody adds up what goes back
			adj.Seconds += 2 * elem * b.batch * w * b.columns / m.Copy * m.slower(ranks)
		}
		r.Forward = r.Forward.add(fwd, times)
		r.Adjoint = r.Adjoint.add(adj, times)
	})
	if count > 0 { // copies take panels in turn
		share := math.Ceil(count/float64(copies)) / count
		r.Forward, r.Adjoint = Cost{}.add(r.Forward, share), Cost{}.add(r.Adjoint, share)
	}
	sumY, strideY := p.along(Depth, Copies)
	sumX, strideX := p.along(Rows, Copies)
	r.Forward = r.Forward.then(m.sum(ranks, sumY, strideY, elem*b.batch*b.rows*b.columns))
	r.Adjoint = r.Adjoint.then(m.sum(ranks, sumX, strideX, elem*b.batch*b.depthX*b.columns))
	return r
}

// gemm returns the seconds of the product with a panel of width w: limited by arithmetic,
// or by memory.
func (m Machine) gemm(p Product, b blocks, w float64, ranks int) float64 {
	ops := 2.0
	if p.DType.IsComplex() {
		ops = 8
	}
	bytes := float64(p.stored().Size())*b.rows*w + float64(p.DType.Size())*(w+2*b.rows)*b.columns
	s := max(ops*b.rows*w*b.columns/m.Gemm[p.DType.String()], bytes/m.Copy)
	return b.batch * s * m.slower(ranks)
}

// panel returns the cost of a panel of n bytes that goes to size ranks. One-sided it is in
// pieces, and readers share the owner's link.
func (m Machine) panel(l Link, oneSided bool, size int, pieces, n float64) Cost {
	others := float64(size - 1)
	c := Cost{Messages: 1, Bytes: n * others / float64(size)}
	if oneSided {
		c.Messages = pieces
		c.Seconds = l.seconds(1, pieces, n*others)
	} else {
		c.Seconds = l.seconds(steps(size), steps(size), n)
	}
	return c
}

// sum returns the cost of the sum of n bytes over size ranks that are stride apart: each
// rank sums a part and gets the others.
func (m Machine) sum(ranks, size, stride int, n float64) Cost {
	if size == 1 {
		return Cost{}
	}
	l := m.along(ranks, size, stride, false)
	way := 2 * n * float64(size-1) / float64(size)
	return Cost{Seconds: l.seconds(2*steps(size), 2*steps(size), way) + way/m.Copy*m.slower(ranks), Messages: 1, Bytes: way}
}

// then returns the cost of c and after it d.
func (c Cost) then(d Cost) Cost { return c.add(d, 1) }

// add returns the cost of c and times d.
func (c Cost) add(d Cost, times float64) Cost {
	return Cost{c.Seconds + times*d.Seconds, c.Compute + times*d.Compute, c.Messages + times*d.Messages, c.Bytes + times*d.Bytes}
}

// beside returns the cost of messages and of computing, at the same time if they overlap.
func (c Cost) beside(compute float64, overlap bool) Cost {
	c.Compute = compute
	if overlap {
		c.Seconds = max(c.Seconds, compute)
	} else {
		c.Seconds += compute
	}
	return c
}
