package cost_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/cost"
	"github.com/golops/golops/scalar"
)

// plain has numbers that are easy to compute with by hand.
func plain() cost.Machine {
	l := cost.Link{Latency: 1e-3, Overhead: 1e-4, Bandwidth: 1e6, Overlap: true}
	return cost.Machine{Messages: l, OneSided: l, Copy: 1e12, Gemm: map[string]float64{"float32": 1e9, "float64": 1e9, "complex64": 1e9, "complex128": 1e9}}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

func TestProductByHand(t *testing.T) {
	type axes = []cost.Axis
	const n = 1000
	gemm := 2.0 * n * n * n / 1e9 // s of the whole product
	block := 8.0 * n * n          // bytes of an array
	step := 1e-3 + 1e-4           // latency and overhead
	for _, c := range []struct {
		name             string
		axes             axes
		oneSided         bool
		panel            int
		forward, adjoint float64
		memory           float64
	}{
		{"one rank", nil, false, 0, gemm, gemm, 3 * block},
		{"batches do not help one batch", axes{{4, cost.Batch}}, false, 0, gemm, gemm, 3 * block},
		{"rows", axes{{4, cost.Rows}}, false, 0, gemm / 4, gemm/4 + 4*step + 2*block*3/4/1e6 + 2*block*3/4/1e12, block/4 + block + block/4},
		{"columns", axes{{4, cost.Columns}}, false, 0, gemm / 4, gemm / 4, block + block/4 + block/4},
		{"depth", axes{{4, cost.Depth}}, false, 0, gemm/4 + 4*step + 2*block*3/4/1e6 + 2*block*3/4/1e12, gemm / 4, block/4 + block/4 + block},
		// A panel of A has 500 × 250 elements, one of X 250 × 500: 1 MB each.
		{"SUMMA", axes{{2, cost.RowPanels}, {2, cost.ColumnPanels}}, false, 250,
			4 * max(2*(step+1), gemm/16), 4 * (max(step+1, gemm/16) + step + 1 + 2e6/1e12), 3*block/4 + 4*1e6},
		{"one-sided SUMMA", axes{{2, cost.RowPanels}, {2, cost.ColumnPanels}}, true, 250,
			4 * max(2*(step+1), gemm/16), 4 * (max(step+1, gemm/16) + step + 1 + 2e6/1e12), 3*block/4 + 4*1e6},
		// X panels of 100 × 1000 elements, 0.8 MB, to 4 ranks.
		{"X travels", axes{{4, cost.RowPanels}}, false, 125,
			8 * max(2*step+1, gemm/32), 8 * (max(2*step+1, gemm/32) + 2e6/1e12), 3*block/4 + 2*1e6},
		{"X travels one-sided, 3 readers share", axes{{4, cost.RowPanels}}, true, 125,
			8 * max(step+3, gemm/32), 8 * (max(step+3, gemm/32) + 2e6/1e12), 3*block/4 + 2*1e6},
		{"A travels, both ways", axes{{2, cost.ColumnPanels}}, false, 500,
			2 * max(step+4, gemm/4), 2 * max(step+4, gemm/4), 3*block/2 + 2*4e6},
		{"copies share 4 panels", axes{{2, cost.Copies}}, false, 250,
			gemm/2 + 2*step + block/1e6 + block/1e12, gemm/2 + 2*step + block/1e6 + block/1e12, 3 * block},
	} {
		p := cost.Product{Problem: cost.Problem{Batch: 1, Rows: n, Depth: n, Columns: n, DType: scalar.Float64}, Axes: c.axes, OneSided: c.oneSided, Panel: c.panel}
		r, err := plain().Product(p)
		if err != nil || !near(r.Forward.Seconds, c.forward) || !near(r.Adjoint.Seconds, c.adjoint) || r.Memory != int64(c.memory) {
			t.Errorf("%s: got %v, %v s, %d bytes, %v, want %v, %v s, %v bytes", c.name, r.Forward.Seconds, r.Adjoint.Seconds, r.Memory, err, c.forward, c.adjoint, c.memory)
		}
	}
}

// Batches, ragged blocks, stored precision and complex arithmetic count.
func TestProductRagged(t *testing.T) {
	p := cost.Product{
		Problem: cost.Problem{Batch: 5, Rows: 7, Depth: 10, Columns: 3, DType: scalar.Complex128, Stored: scalar.Complex64},
		Axes:    []cost.Axis{{2, cost.Batch}, {3, cost.RowPanels}, {2, cost.ColumnPanels}}, Panel: 3, OneSided: true,
	}
	r, err := plain().Product(p)
	if err != nil {
		t.Fatal(err)
	}
	// Blocks of 3 batches, 3 rows, 2 columns; j in panels 0-3, 3-4, 4-5, 5-7, 7-10.
	if got, want := r.Forward.Compute, 8.0*3*3*10*2/1e9; !near(got, want) {
		t.Errorf("arithmetic of %v s, want %v", got, want)
	}
	if got, want := r.Forward.Messages, 5*(1+3.0); got != want {
		t.Errorf("%v messages, want %v", got, want)
	}
	if got, want := r.Forward.Bytes, 8*3*3*10/2.0+16*3*10*2*2/3.0; !near(got, want) {
		t.Errorf("%v bytes, want %v", got, want)
	}
	if got, want := r.Memory, int64(8*3*3*5+16*3*(4+3)*2+2*8*3*3*3+2*16*3*3*2); got != want {
		t.Errorf("%v bytes of memory, want %v", got, want)
	}
}

// With more ranks than cores, ranks compute in turn. Ranks of a node share its network.
func TestNodes(t *testing.T) {
	p := cost.Product{Problem: cost.Problem{Batch: 1, Rows: 1000, Depth: 1000, Columns: 1000, DType: scalar.Float64}, Axes: []cost.Axis{{4, cost.Columns}}}
	m := plain()
	m.Cores = 2
	r, err := m.Product(p)
	if want := 2.0 / 4 * 2; err != nil || !near(r.Forward.Seconds, want) {
		t.Errorf("4 ranks on 2 cores take %v s, %v, want %v", r.Forward.Seconds, err, want)
	}
	m.Nodes = 2
	m.Network = cost.Link{Bandwidth: 1e3, Overlap: true}
	for _, c := range []struct {
		axes []cost.Axis
		want float64 // s of a panel of A of all of j
	}{
		{[]cost.Axis{{2, cost.Rows}, {2, cost.ColumnPanels}}, 1.1e-3 + 2},    // inside a node
		{[]cost.Axis{{2, cost.ColumnPanels}, {2, cost.Rows}}, 2 * 2e6 / 1e3}, // two groups share the way out
		{[]cost.Axis{{4, cost.ColumnPanels}}, 2e6 / 1e3},                     // one group
	} {
		p.Axes, p.Panel = c.axes, 500
		if len(c.axes) == 1 {
			p.Panel = 250
		}
		r, err := m.Product(p)
		panels := 1000 / float64(p.Panel)
		if err != nil || !near(r.Forward.Seconds, panels*c.want) {
			t.Errorf("%v: got %v s, %v, want %v", p, r.Forward.Seconds, err, panels*c.want)
		}
	}
	m.Memory = 100
	if got := m.MemoryPerRank(6); got != 33 {
		t.Errorf("a third of 100 bytes is %d", got)
	}
	if c := m.Cluster(100); c.Nodes != 50 || c.NodesOf(100) != 50 || c.NodesOf(3) != 2 || c.Network != m.Network {
		t.Errorf("a cluster for 100 ranks is %+v", c)
	}
	m.Nodes, m.Network = 0, cost.Link{}
	if c := m.Cluster(2); c.Nodes != 0 || c.Network != (cost.Link{}) || m.Cluster(3).Network != cost.UsualNetwork {
		t.Errorf("a cluster for 2 ranks is %+v", c)
	}
}

func drawProblem(r *rand.Rand) cost.Problem {
	n := func() int { return 1 + r.IntN(1<<(1+r.IntN(12))) }
	return cost.Problem{Batch: 1 + r.IntN(5), Rows: n(), Depth: n(), Columns: n(), DType: scalar.Float32 + scalar.DType(r.IntN(4))}
}

// A better machine is not slower, a larger problem not faster or smaller. The best layout
// fits the memory, and none of its kind is faster.
func TestBestAndMonotonic(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 0))
	kinds := []cost.Kind{cost.Auto, cost.Block, cost.SUMMA, cost.OneSidedSUMMA, cost.Copied25D}
	for range 200 {
		m, p, ranks := cost.Defaults(), drawProblem(rnd), 1+rnd.IntN(40)
		m.Messages.Overlap = rnd.IntN(2) == 0
		m.Cores = rnd.IntN(3)
		kind := kinds[rnd.IntN(len(kinds))]
		best, r, err := cost.Best(m, p, kind, ranks, 0)
		name := fmt.Sprintf("seed %d: %+v of kind %v on %d ranks: %v", seed, p, kind, ranks, best)
		if err != nil || best.Ranks() != ranks || best.Problem != p || kind != cost.Auto && ranks > 1 && best.Kind() != kind {
			t.Fatalf("%s: got %v, %v", name, best, err)
		}
		slow := m
		slow.Messages.Latency *= 3
		slow.Messages.Bandwidth /= 2
		slow.OneSided = slow.Messages
		slow.Copy /= 2
		again, err := slow.Product(best)
		if err != nil || again.Seconds() < r.Seconds() {
			t.Errorf("%s: a slower machine takes %v s, %v, not %v", name, again.Seconds(), err, r.Seconds())
		}
		larger := best
		larger.Rows, larger.Columns = 2*p.Rows, p.Columns+1 // the same panels
		again, err = m.Product(larger)
		if err != nil || again.Seconds() < r.Seconds() || again.Memory < r.Memory {
			t.Errorf("%s: a larger problem takes %v s and %v bytes, %v, not %v and %v", name, again.Seconds(), again.Memory, err, r.Seconds(), r.Memory)
		}
		memory := 1 + int64(rnd.Float64()*1.5*float64(r.Memory))
		tight, q, err := cost.Best(m, p, kind, ranks, memory)
		var short *cost.MemoryError
		switch {
		case errors.As(err, &short):
			if short.Need <= memory || short.Given != memory {
				t.Errorf("%s: %v", name, err)
			}
			if _, q, err = cost.Best(m, p, kind, ranks, short.Need); err != nil || q.Memory != short.Need {
				t.Errorf("%s: %d bytes do not suffice, but are needed: %v", name, short.Need, err)
			}
		case err != nil || q.Memory > memory || q.Seconds() < r.Seconds()*(1-1e-9):
			t.Errorf("%s: with %d bytes got %v, %+v, %v", name, memory, tight, q, err)
		}
		auto, r2, err := cost.Best(m, p, cost.Auto, ranks, 0)
		if err != nil || r2.Seconds() > r.Seconds()*(1+1e-9) {
			t.Errorf("%s: the best of all, %v, takes %v s, %v, not at most %v", name, auto, r2.Seconds(), err, r.Seconds())
		}
	}
}

// A product over many ranks is chosen at once.
func TestBestOfMany(t *testing.T) {
	p := cost.Problem{Batch: 1, Rows: 1 << 20, Depth: 1 << 20, Columns: 1 << 14, DType: scalar.Complex64}
	start := time.Now()
	best, _, err := cost.Best(cost.Defaults(), p, cost.Auto, 1024, 32<<30)
	if err != nil || best.Ranks() != 1024 {
		t.Errorf("%v, %v", best, err)
	}
	t.Logf("%v in %v", best, time.Since(start))
}

func TestBad(t *testing.T) {
	good := cost.Problem{Batch: 1, Rows: 10, Depth: 10, Columns: 10, DType: scalar.Float64}
	best := func(k cost.Kind, ranks int, memory int64) error {
		_, _, err := cost.Best(plain(), good, k, ranks, memory)
		return err
	}
	product := func(m cost.Machine, p cost.Product) error { _, err := m.Product(p); return err }
	kind := func(s string) error { _, err := cost.ParseKind(s); return err }
	bad, noRate, noWindows, half := good, plain(), plain(), good
	bad.Rows, half.DType = -1, scalar.Half
	delete(noRate.Gemm, "float64")
	noWindows.OneSided = cost.Link{}
	for _, c := range []struct {
		err  error
		want string
	}{
		{best(cost.Block, 2, 1000), "kind block on 2 ranks fits: a rank needs at least 1600 bytes and may have 1000"},
		{best(cost.SUMMA, 0, 0), "on 0 ranks"},
		{best(cost.Auto, 1, -1), "-1 bytes"},
		{kind("sumo"), `unknown kind "sumo": have auto, block, summa, one-sided, 2.5d`},
		{product(plain(), cost.Product{Problem: bad}), "1 × -1 × 10 × 10"},
		{product(plain(), cost.Product{Problem: half}), "float16"},
		{product(plain(), cost.Product{Problem: good, Axes: []cost.Axis{{2, cost.Depth}, {2, cost.RowPanels}}}), "two axes split j of X"},
		{product(plain(), cost.Product{Problem: good, Axes: []cost.Axis{{0, cost.Depth}}}), "0 ranks along (j,j,·)"},
		{product(plain(), cost.Product{Problem: good, Panel: -2}), "panels of -2 rows"},
		{product(noRate, cost.Product{Problem: good}), "no gemm rate"},
		{product(noWindows, cost.Product{Problem: good, OneSided: true}), "no one-sided messages"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %q", c.err, c.want)
		}
	}
}

func TestMachineFile(t *testing.T) {
	m := cost.Defaults()
	m.Date = time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	m.Nodes, m.Cores = 64, 32
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	got, err := cost.Read(strings.NewReader(text))
	if err != nil || fmt.Sprint(got) != fmt.Sprint(m) {
		t.Errorf("wrote %v, read %v, %v", m, got, err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"latency_s": 0.000002`, `"latency_s": -1`, "messages.latency_s is -1, must be finite and not negative"},
		{`"bandwidth_Bps": 5000000000`, `"bandwidth_Bps": 0`, "messages.bandwidth_Bps is 0, must be positive"},
		{`"nodes": 64`, `"nodes": -64`, "nodes is -64"},
		{`"nodes": 64`, `"knots": 64`, `unknown field "knots"`},
		{`"nodes": 64`, `"nodes": "many"`, `field "nodes" is a JSON string, must be a int`},
		{`"float32"`, `"float23"`, `gemm_flops is of "float23", must be of float32`},
		{"{", "", "machine"},
	} {
		bad := strings.Replace(text, c.old, c.new, 1)
		if _, err := cost.Read(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), c.want) || bad == text {
			t.Errorf("%s for %s: got %v, want %q", c.new, c.old, err, c.want)
		}
	}
	if _, err := cost.Read(strings.NewReader(text + "{}")); err == nil {
		t.Error("two objects are one machine")
	}
}
