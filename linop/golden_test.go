package linop_test

import (
	"context"
	"fmt"
	"math/cmplx"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// over returns the operator of a matrix over all ranks, alone one of this rank.
func over[T scalar.Scalar](ctx context.Context, r dist.Proc, m matrix) (linop.Operator[T], error) {
	s := spaces{ctx: ctx, r: r}
	x, y := s.rows(m.cols), s.of(dist.Layout{}, m.rows)
	if s.err != nil {
		return nil, s.err
	}
	return newMultiply[T, T](x, y, m)
}

func alone[T scalar.Scalar](ctx context.Context, r dist.Proc, m matrix) (linop.Operator[T], error) {
	return over[T](ctx, r.Alone(), m)
}

func goldenAlgebra[T scalar.Scalar](ctx context.Context, r dist.Proc, c golden.Case, mats map[string]matrix) (linop.Operator[T], error) {
	ops := map[string]linop.Operator[T]{}
	for _, k := range []string{"A", "B", "C"} { // in one order on all ranks
		if m, ok := mats[k]; ok {
			op, err := over[T](ctx, r, m)
			if err != nil {
				return nil, err
			}
			ops[k] = op
		}
	}
	a := ops["A"]
	switch strings.TrimPrefix(c.Op, "algebra.") {
	case "H":
		return linop.H(a), nil
	case "T":
		return linop.T(a)
	case "conj":
		return linop.Conj(a)
	case "neg":
		return linop.Neg(a)
	case "add":
		return linop.Add(a, ops["B"])
	case "sub":
		return linop.Sub(a, ops["B"])
	case "scale":
		return linop.Scale(scalar.From[T](c.Complex("alpha")), a)
	case "scaleH":
		s, err := linop.Scale(scalar.From[T](c.Complex("alpha")), a)
		return linop.H(s), err
	case "mul":
		return linop.Compose(a, ops["C"])
	case "pow", "pow3":
		return linop.Power(a, c.Int("n"))
	case "normal":
		return linop.Compose(linop.H(a), a)
	}
	return nil, fmt.Errorf("unknown case %s", c.Op)
}

func TestGoldenAlgebra(t *testing.T) {
	for _, op := range []string{"H", "T", "conj", "neg", "add", "sub", "scale", "scaleH", "mul", "pow", "pow3", "normal"} {
		goldenRun(t, "algebra."+op, []int{1, 3}, goldenAlgebra[float32], goldenAlgebra[float64], goldenAlgebra[complex64], goldenAlgebra[complex128])
	}
}

// goldenStack deals the matrices of a serial stack out to the ranks, the last
// ones to the last; those of PyLops-MPI say their rank.
func goldenStack[T scalar.Scalar](ctx context.Context, r dist.Proc, c golden.Case, mats map[string]matrix) (linop.Operator[T], error) {
	var ops []linop.Operator[T]
	add := func(m matrix) error {
		op, err := alone[T](ctx, r, m)
		ops = append(ops, op)
		return err
	}
	for i := range 3 {
		m, ok := mats[fmt.Sprint("A", i)]
		if ok && r.Rank() == i*r.Size()/3 {
			if err := add(m); err != nil {
				return nil, err
			}
		}
	}
	for i := 0; ; i++ {
		m, ok := mats[fmt.Sprintf("A_rank%d_%d", r.Rank(), i)]
		if !ok {
			break
		}
		if err := add(m); err != nil {
			return nil, err
		}
	}
	switch strings.TrimPrefix(c.Op, "MPI") {
	case "VStack":
		return linop.VStackRanks(ctx, r, ops...)
	case "HStack":
		return linop.HStackRanks(ctx, r, ops...)
	case "BlockDiag":
		return linop.BlockDiagRanks(ctx, r, ops...)
	case "Block":
		var rows [][]linop.Operator[T]
		for i := range c.Int("rows") {
			var row []linop.Operator[T]
			for j := range c.Int("cols") {
				op, err := alone[T](ctx, r, mats[fmt.Sprintf("A%d_%d", i, j)])
				if err != nil {
					return nil, err
				}
				row = append(row, op)
			}
			if r.Rank() == i*r.Size()/c.Int("rows") {
				rows = append(rows, row)
			}
		}
		return linop.BlockRanks(ctx, r, rows)
	case "StackedVStack":
		a, err := linop.BlockDiagRanks(ctx, r, ops...)
		if err != nil {
			return nil, err
		}
		ops = nil
		if err := add(mats[fmt.Sprintf("B_rank%d_0", r.Rank())]); err != nil {
			return nil, err
		}
		b, err := linop.BlockDiagRanks(ctx, r, ops...)
		if err != nil {
			return nil, err
		}
		return linop.VStack(a, b)
	}
	return nil, fmt.Errorf("unknown case %s", c.Op)
}

func TestGoldenStacks(t *testing.T) {
	for _, op := range []string{"VStack", "HStack", "BlockDiag", "Block", "MPIVStack", "MPIHStack", "MPIBlockDiag", "MPIStackedVStack"} {
		goldenRun(t, op, []int{1, 2, 4}, goldenStack[float32], goldenStack[float64], goldenStack[complex64], goldenStack[complex128])
	}
}

// Matrix, trace and condition number of the cases that are matrices.
func goldenNumbers[T scalar.Scalar](t *testing.T, c golden.Case, tol float64) {
	mats := matrices[T](t, c)
	what := strings.TrimPrefix(c.Op, "algebra.")
	_, want := golden.Rounded[T](t, c, strings.TrimPrefix(what, "to"))
	err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		a, err := over[T](ctx, r, mats["A"])
		if err != nil {
			return err
		}
		got := make([]T, 1)
		switch what {
		case "todense":
			got, _, _, err = linop.Dense(ctx, a)
		case "trace":
			got[0], err = linop.Trace(ctx, a)
		case "cond":
			var k float64
			k, err = linop.Cond(ctx, a)
			got[0] = scalar.From[T](complex(k, 0))
		}
		if err != nil {
			return err
		}
		for i, w := range want {
			if g, w := scalar.Complex(got[i]), scalar.Complex(w); !(cmplx.Abs(g-w) <= tol*cmplx.Abs(w)) {
				return fmt.Errorf("element %d is %v, of PyLops %v", i, g, w)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestGoldenNumbers(t *testing.T) {
	for _, op := range []string{"todense", "trace", "cond"} {
		for _, c := range golden.Cases(t, "algebra."+op) {
			if !c.Has("A") {
				continue // a derivative, which package ops has
			}
			t.Run(c.Name, func(t *testing.T) {
				switch c.DType {
				case scalar.Float32:
					goldenNumbers[float32](t, c, 1e-5)
				case scalar.Float64:
					goldenNumbers[float64](t, c, 1e-8)
				case scalar.Complex64:
					goldenNumbers[complex64](t, c, 1e-5)
				case scalar.Complex128:
					goldenNumbers[complex128](t, c, 1e-8)
				}
			})
		}
	}
}
