package solve_test

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// peer is what SciPy made of a system: the root of the sum of squares, and ‖x‖.
type peer struct{ target, size, steps float64 }

// scipyRow is a line of what make_scipy.py writes.
type scipyRow struct {
	number int
	a, b   float64 // norms of A and b
	peers  []peer
}

// scipyRows reads SciPy's numbers: those of testdata, or those of a file that
// make scipy has just made.
func scipyRows(t *testing.T) (rows []scipyRow) {
	t.Helper()
	path := filepath.Join("..", "testdata", "solve", "scipy.txt")
	if p := os.Getenv("GOLOPS_SCIPY"); p != "" {
		path = p
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		var v []float64
		for _, w := range strings.Fields(in.Text()) {
			x, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, x)
		}
		r := scipyRow{number: int(v[0]), a: v[1], b: v[2]}
		for i := 3; i < len(v); i += 3 {
			r.peers = append(r.peers, peer{v[i], v[i+1], v[i+2]})
		}
		rows = append(rows, r)
	}
	return rows
}

// score counts the systems of a kind that a method has solved, and how.
type score struct{ systems, residual, size, untrue int }

type scores map[[2]string]*score

func (s scores) at(kind, method string) *score {
	k := [2]string{kind, method}
	if s[k] == nil {
		s[k] = &score{}
	}
	return s[k]
}

func (s scores) String() string {
	var keys [][2]string
	for k := range s {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return strings.Compare(a[0]+"/"+a[1], b[0]+"/"+b[1]) })
	var b strings.Builder
	b.WriteString("| systems | method | number | larger residual | larger norm of x | untrue status |\n|---|---|---|---|---|---|\n")
	for _, k := range keys {
		v := s[k]
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d |\n", k[0], k[1], v.systems, v.residual, v.size, v.untrue)
	}
	return b.String()
}

// Random systems, run to 20 times the iterations they need: no residual and no
// norm of x is more than 10 times that of SciPy, and no status is untrue.
func TestSciPy(t *testing.T) {
	rows, table := scipyRows(t), scores{}
	on(t, 1, func(ctx context.Context, r dist.Proc) error {
		for _, row := range rows {
			s := scipySystem(row.number)
			var err error
			switch row.number % 4 {
			case 0:
				err = against[float32](ctx, t, r, s, row, table)
			case 1:
				err = against[float64](ctx, t, r, s, row, table)
			case 2:
				err = against[complex64](ctx, t, r, s, row, table)
			case 3:
				err = against[complex128](ctx, t, r, s, row, table)
			}
			if err != nil {
				return fmt.Errorf("system %d: %w", row.number, err)
			}
		}
		return nil
	})
	t.Logf("%d systems against SciPy\n%v", len(rows), table)
}

// against solves a system with all methods that are for it.
func against[T scalar.Scalar](ctx context.Context, t *testing.T, r dist.Proc, s *system, row scipyRow, table scores) error {
	a, b := rounded[T](s.a), rounded[T](s.b)
	if math.Abs(length(s.a)-row.a) > 1e-5*row.a || math.Abs(length(s.b)-row.b) > 1e-5*row.b {
		return fmt.Errorf("A and b have norms %g and %g, those of Python %g and %g", length(s.a), length(s.b), row.a, row.b)
	}
	op, err := matrix(ctx, r, s.m, s.n, a)
	if err != nil {
		return err
	}
	rhs, err := vector(ctx, op.Range(), b)
	if err != nil {
		return err
	}
	for _, p := range row.peers { // 20 times the steps that SciPy takes
		s.limit = max(s.limit, 20*int(p.steps))
	}
	for _, m := range methods[T]() {
		if m.ls == s.hermitian() || strings.HasPrefix(m.name, "CG") && !m.ls && !s.definite() {
			continue
		}
		for _, tol := range []float64{0, 1e-6} {
			x, err := dist.New[T](op.Domain())
			if err != nil {
				return err
			}
			c := solve.Config{Diverge: 1e6, Damp: s.damp, RelTol: tol, MaxIter: s.limit}
			res, err := solve.Run(ctx, m.method(), solve.Problem[T, T]{A: op, B: rhs}, x, c)
			if err != nil {
				return err
			}
			got, err := dist.AllGather(ctx, x)
			if err != nil {
				return err
			}
			sc, about := table.at(s.kind(), m.name), fmt.Sprintf("system %d, %s of %v, %s, %d×%d, rank %d, condition 1e%.1f, damp %.2g", s.number, m.name, scalar.Of[T](), s.kind(), s.m, s.n, s.rank, s.reach, s.damp)
			if tol == 0 {
				sc.systems++
				sc.compare(t, s, wider(got), row.peers, m.name, about, scalarEps[T](), res)
			}
			if fault := untrue(s, wider(got), res, scalarEps[T](), c); fault != "" {
				sc.untrue++
				t.Errorf("%s: %v after %d of %d (%s): %s", about, res.Status, res.Iters, s.limit, res.Why, fault)
			}
		}
	}
	return nil
}

// rounded returns v in the element type, and rounds v to it.
func rounded[T scalar.Scalar](v []complex128) []T {
	out := make([]T, len(v))
	for i := range v {
		out[i] = scalar.From[T](v[i])
		v[i] = scalar.Complex(out[i])
	}
	return out
}

func wider[T scalar.Scalar](v []T) []complex128 {
	out := make([]complex128, len(v))
	for i := range v {
		out[i] = scalar.Complex(v[i])
	}
	return out
}

func scalarEps[T scalar.Scalar]() float64 {
	if d := scalar.Of[T](); d == scalar.Float32 || d == scalar.Complex64 {
		return 0x1p-23
	}
	return 0x1p-52
}

// compare counts an x that is worse than SciPy's. MINRES is held to minres, CG to
// cg, and least squares to lsqr and lsmr.
func (sc *score) compare(t *testing.T, s *system, x []complex128, peers []peer, method, about string, eps float64, res solve.Result) {
	t.Helper()
	if s.hermitian() && method == "MINRES" {
		peers = peers[:1]
	} else if s.hermitian() {
		peers = peers[1:]
	}
	resid, _, size := s.norms(x)
	target := math.Hypot(resid, s.damp*size)
	best, large := math.Inf(1), 0.0
	for _, p := range peers {
		best, large = min(best, p.target), max(large, p.size)
	}
	if target > 10*max(best, eps*(length(s.a)*size+length(s.b))) {
		sc.residual++
		t.Errorf("%s: %v after %d (%s): residual %.4g, SciPy %v, |x| %.4g", about, res.Status, res.Iters, res.Why, target, peers, size)
	}
	if size > 10*large {
		sc.size++
		t.Errorf("%s: %v after %d (%s): |x| %.4g, SciPy %v, residual %.4g", about, res.Status, res.Iters, res.Why, size, peers, target)
	}
}

// untrue says what is wrong with what a result says of x.
func untrue(s *system, x []complex128, res solve.Result, eps float64, c any) string {
	resid, grad, size := s.norms(x)
	a, b := length(s.a), length(s.b)
	round := eps * (a*size + b)
	if math.Abs(res.Resid-resid) > 20*round+1e-3*resid {
		return fmt.Sprintf("it says residual %g, true is %g, rounding is %g", res.Resid, resid, round)
	}
	switch res.Status {
	case solve.Converged:
		if resid > 1e-6*b+20*round {
			return fmt.Sprintf("the residual is %g of %g", resid, b)
		}
	case solve.AtRounding:
		if resid > 200*round && grad > 200*math.Hypot(a, s.damp)*round {
			return fmt.Sprintf("the residual is %g and the gradient %g, rounding is %g", resid, grad, round)
		}
	case solve.IllConditioned:
		if s.rank == min(s.m, s.n) && math.Pow(10, s.reach)*eps < 1e-3 {
			return "the condition is not that large"
		}
	case solve.MaxIter:
		if res.Iters != s.limit {
			return "the limit is not reached"
		}
	case solve.Indefinite:
		if !s.negative {
			return "the matrix is definite"
		}
	case solve.Stagnated, solve.Diverged:
	default:
		return "this cannot be"
	}
	return ""
}
