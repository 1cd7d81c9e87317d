package linop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
)

type op64 = linop.Operator[float64]

// faulty makes operators for tests of errors and panics where it cannot.
type faulty struct {
	ctx context.Context
	r   dist.Proc
}

func (f faulty) op(rng, dom *dist.Space) op64 {
	a, err := randomOp[float64](1, dom, rng)
	if err != nil {
		panic(err)
	}
	return a.op
}

func (f faulty) space(r dist.Proc, l dist.Layout, dims ...int) *dist.Space {
	s, err := dist.NewSpace(f.ctx, r, l, dims...)
	if err != nil {
		panic(err)
	}
	return s
}

// split is an operator over all ranks, one that this rank holds alone.
func (f faulty) split(rows, cols int) op64 {
	return f.op(f.space(f.r, dist.Layout{}, rows), f.space(f.r, dist.Layout{}, cols))
}

func (f faulty) alone(rows, cols int) op64 {
	return f.op(f.space(f.r.Alone(), dist.Layout{}, rows), f.space(f.r.Alone(), dist.Layout{}, cols))
}

// elsewhere is the same rank with another device.
func (f faulty) elsewhere(r dist.Proc) faulty {
	d, err := cpu.New(cpu.Config{Threads: 1})
	if err != nil {
		panic(err)
	}
	context.AfterFunc(f.ctx, func() { d.Close() })
	r.Device = d
	return faulty{f.ctx, r}
}

// on returns a on one rank and b on the others.
func (f faulty) on(rank int, a, b op64) op64 {
	if f.r.Rank() == rank {
		return a
	}
	return b
}

// Faults reach every rank as an error that says what is wrong and where, and
// nobody hangs, though only one rank may have made the mistake.
func TestFaults(t *testing.T) {
	var nilMultiply *multiply[float64, float64]
	for _, c := range []struct {
		name string
		want []string
		make func(f faulty) (op64, error)
	}{
		{"T of nil", []string{"transpose", "nil"}, func(f faulty) (op64, error) { return linop.T[float64](nil) }},
		{"T of H of nil", []string{"transpose", "nil"}, func(f faulty) (op64, error) { return linop.T(linop.H[float64, float64](nil)) }},
		{"Conj of a nil pointer", []string{"conjugate", "nil"}, func(f faulty) (op64, error) { return linop.Conj[float64](nilMultiply) }},
		{"Conj without spaces", []string{"conjugate", "no domain"}, func(f faulty) (op64, error) { return linop.Conj[float64](&multiply[float64, float64]{}) }},
		{"Add of nil", []string{"add", "operator 1", "nil"}, func(f faulty) (op64, error) { return linop.Add(f.split(4, 5), nil) }},
		{"Add of shapes", []string{"add: the ranges: the shapes [4] and [3] differ: operator 1 gives shape [4], ", "operator 0 gives shape [3], "}, func(f faulty) (op64, error) { return linop.Add(f.split(3, 5), f.split(4, 5)) }},
		{"Sub of shapes", []string{"subtract", "domain", "[5]", "[6]"}, func(f faulty) (op64, error) { return linop.Sub(f.split(3, 5), f.split(3, 6)) }},
		{"Add over groups", []string{"add", "communicators"}, func(f faulty) (op64, error) { return linop.Add(f.split(3, 5), f.alone(3, 5)) }},
		{"Scale of nil", []string{"scale by 2", "nil"}, func(f faulty) (op64, error) { return linop.Scale[float64, float64](2, nil) }},
		{"Neg of nil", []string{"negate", "nil"}, func(f faulty) (op64, error) { return linop.Neg[float64, float64](nil) }},
		{"Compose of nil", []string{"compose", "inner", "nil"}, func(f faulty) (op64, error) { return linop.Compose[float64](f.split(4, 5), op64(nil)) }},
		{"Compose of shapes", []string{"compose: the shapes [4] and [5] differ: the inner operator gives shape [4], ", "the outer one takes shape [5], "}, func(f faulty) (op64, error) { return linop.Compose(f.split(4, 5), f.split(4, 5)) }},
		{"Compose over groups", []string{"compose", "communicators"}, func(f faulty) (op64, error) { return linop.Compose(f.split(4, 5), f.alone(5, 4)) }},
		{"Compose of a stack and none", []string{"compose", "stack of 2"}, func(f faulty) (op64, error) {
			v, err := linop.VStack(f.split(2, 5), f.split(3, 5))
			if err != nil {
				return nil, nil
			}
			return linop.Compose(f.split(4, 5), v)
		}},
		{"Power of oblong", []string{"power 2", "itself", "[4]", "[5]"}, func(f faulty) (op64, error) { return linop.Power(f.split(4, 5), 2) }},
		{"Power below zero", []string{"power -1", "negative"}, func(f faulty) (op64, error) { return linop.Power(f.split(5, 5), -1) }},
		{"Power of nil", []string{"power 3", "nil"}, func(f faulty) (op64, error) { return linop.Power[float64](nil, 3) }},
		{"Redistribute of nil", []string{"redistribute", "nil"}, func(f faulty) (op64, error) { return linop.Redistribute[float64](nil, nil) }},
		{"Redistribute of shapes", []string{"redistribute", "[5]", "[6]"}, func(f faulty) (op64, error) {
			return linop.Redistribute[float64](f.space(f.r, dist.Layout{}, 5), f.space(f.r, dist.Layout{}, 6))
		}},
		{"Reshape of nil", []string{"reshape", "nil"}, func(f faulty) (op64, error) { return linop.Reshape[float64, float64](nil, nil, nil) }},
		{"Reshape to nil", []string{"reshape", "nil"}, func(f faulty) (op64, error) { return linop.Reshape(f.split(6, 6), nil, nil) }},
		{"Reshape to other sizes", []string{"reshape: the range: 6 elements are not 8", "[6]", "[4 2]"}, func(f faulty) (op64, error) {
			return linop.Reshape(f.split(6, 6), f.space(f.r, dist.Layout{}, 3, 2), f.space(f.r, dist.Layout{}, 4, 2))
		}},
		{"Reshape to other blocks", []string{"the domain: rank 0 does not hold the same elements", "Redistribute"}, func(f faulty) (op64, error) {
			return linop.Reshape(f.split(6, 6), f.space(f.r, dist.Split(1), 2, 3), f.space(f.r, dist.Layout{}, 6))
		}},
		{"Reshape to other counts on rank 1", []string{"rank 1 does not hold"}, func(f faulty) (op64, error) {
			return linop.Reshape(f.split(9, 9), f.space(f.r, dist.Layout{Counts: [][]int{{3, 4, 2}}}, 9, 1), f.space(f.r, dist.Layout{}, 9))
		}},
		{"Reshape onto one rank", []string{"communicators"}, func(f faulty) (op64, error) {
			return linop.Reshape(f.split(6, 6), f.space(f.r.Alone(), dist.Layout{}, 3, 2), f.space(f.r, dist.Layout{}, 6))
		}},
		{"Reshape of a stack", []string{"reshape", "the range", "a stack cannot"}, func(f faulty) (op64, error) {
			v, err := linop.VStack(f.split(2, 6), f.split(3, 6))
			if err != nil {
				return nil, nil
			}
			return linop.Reshape(v, f.space(f.r, dist.Layout{}, 3, 2), f.space(f.r, dist.Layout{}, 5))
		}},
		{"Func without adjoint", []string{"adjoint is nil"}, func(f faulty) (op64, error) {
			x := f.space(f.r, dist.Layout{}, 5)
			return linop.Func("test: functions", x, x, func(context.Context, dist.Array[float64], dist.Array[float64]) error { return nil }, nil)
		}},
		{"Func without forward", []string{"forward is nil"}, func(f faulty) (op64, error) {
			x := f.space(f.r, dist.Layout{}, 5)
			return linop.Func[float64, float64]("test: functions", x, x, nil, nil)
		}},
		{"Func without spaces", []string{"domain"}, func(f faulty) (op64, error) {
			return linop.Func[float64, float64]("test: functions", nil, nil, nil, nil)
		}},
		{"VStack of none", []string{"no operators"}, func(f faulty) (op64, error) { return linop.VStack[float64, float64]() }},
		{"HStack of nil", []string{"operator 1", "nil"}, func(f faulty) (op64, error) { return linop.HStack(f.split(4, 5), nil) }},
		{"BlockDiag of nil", []string{"operator 0", "nil"}, func(f faulty) (op64, error) { return linop.BlockDiag[float64, float64](nil) }},
		{"VStack of shapes", []string{"vertical stack: the domains: the shapes [5] and [6] differ: operator 0 takes shape [5], ", "operator 1 takes shape [6], "}, func(f faulty) (op64, error) {
			return linop.VStack(f.split(4, 5), f.split(4, 6))
		}},
		{"BlockDiag over groups", []string{"operators 1 and 0", "communicator"}, func(f faulty) (op64, error) {
			return linop.BlockDiag(f.split(4, 5), f.alone(4, 6))
		}},
		{"Cond of nothing", []string{"condition number", "0 columns"}, func(f faulty) (op64, error) {
			_, err := linop.Cond(f.ctx, f.split(3, 0))
			return nil, err
		}},
		{"Dense of nil", []string{"matrix", "nil"}, func(f faulty) (op64, error) {
			_, _, _, err := linop.Dense[float64, float64](f.ctx, nil)
			return nil, err
		}},
		{"Trace of oblong", []string{"trace", "3 rows", "4 columns"}, func(f faulty) (op64, error) {
			_, err := linop.Trace(f.ctx, f.split(3, 4))
			return nil, err
		}},

		{"Compose over devices", []string{"compose", "different devices"}, func(f faulty) (op64, error) {
			return linop.Compose(f.split(4, 5), f.elsewhere(f.r).split(5, 4))
		}},
		{"VStack over devices", []string{"vertical stack", "device"}, func(f faulty) (op64, error) {
			return linop.VStack(f.split(4, 5), f.elsewhere(f.r).split(5, 5))
		}},

		// The mistake of one rank only.
		{"BlockDiag over devices", []string{"block diagonal", "operator 0 of rank 1", "it is on cpu"}, func(f faulty) (op64, error) {
			other := f.elsewhere(f.r).alone(2, 3)
			return linop.BlockDiagRanks(f.ctx, f.r, f.on(1, other, f.alone(2, 3)))
		}},
		{"BlockDiag of nil on rank 1", []string{"block diagonal", "operator 1 of rank 1", "nil"}, func(f faulty) (op64, error) {
			return linop.BlockDiagRanks(f.ctx, f.r, f.alone(2, 3), f.on(1, nil, f.alone(2, 3)))
		}},
		{"BlockDiag of an operator over ranks", []string{"block diagonal", "operator 0 of rank 2", "over 3 ranks"}, func(f faulty) (op64, error) {
			wide := f.split(2, 3)
			return linop.BlockDiagRanks(f.ctx, f.r, f.on(2, wide, f.alone(2, 3)))
		}},
		{"BlockDiag of none", []string{"block diagonal", "no rank has an operator"}, func(f faulty) (op64, error) {
			return linop.BlockDiagRanks[float64](f.ctx, f.r)
		}},
		{"BlockDiag with a short mask", []string{"block diagonal", "2 colors for 3 ranks"}, func(f faulty) (op64, error) {
			return linop.StackConfig[float64]{Mask: []int{0, 1}}.BlockDiagRanks(f.ctx, f.r, f.alone(2, 3))
		}},
		{"BlockDiag with another mask on rank 1", []string{"block diagonal", "rank 1", "mask"}, func(f faulty) (op64, error) {
			m := []int{0, 0, 1}
			if f.r.Rank() == 1 {
				m = []int{0, 1, 1}
			}
			return linop.StackConfig[float64]{Mask: m}.BlockDiagRanks(f.ctx, f.r, f.alone(2, 3))
		}},
		{"VStack of another shape on rank 2", []string{"vertical stack", "rank 2", "[4]", "[3]"}, func(f faulty) (op64, error) {
			return linop.VStackRanks(f.ctx, f.r, f.on(2, f.alone(2, 4), f.alone(2, 3)))
		}},
		{"VStack of two shapes on rank 1", []string{"vertical stack", "operator 1 of rank 1", "takes", "[4]", "[3]"}, func(f faulty) (op64, error) {
			return linop.VStackRanks(f.ctx, f.r, f.alone(2, 3), f.on(1, f.alone(2, 4), f.alone(2, 3)))
		}},
		{"HStack of another shape on rank 0", []string{"horizontal stack", "gives", "rank 0", "[2]", "[3]"}, func(f faulty) (op64, error) {
			return linop.HStackRanks(f.ctx, f.r, f.on(0, f.alone(2, 3), f.alone(3, 3)))
		}},
		{"HStack of nil on rank 2", []string{"horizontal stack", "operator 0 of rank 2", "nil"}, func(f faulty) (op64, error) {
			return linop.HStackRanks(f.ctx, f.r, f.on(2, nil, f.alone(3, 3)))
		}},
		{"VStack of none", []string{"vertical stack", "no rank has an operator"}, func(f faulty) (op64, error) {
			return linop.VStackRanks[float64](f.ctx, f.r)
		}},
		{"Block of nil on rank 1", []string{"block", "row 0, column 1 of rank 1", "nil"}, func(f faulty) (op64, error) {
			return linop.BlockRanks(f.ctx, f.r, [][]op64{{f.alone(2, 3), f.on(1, nil, f.alone(2, 4))}})
		}},
		{"Block of other columns on rank 2", []string{"block", "rank 2", "[3 5]", "[3 4]"}, func(f faulty) (op64, error) {
			return linop.BlockRanks(f.ctx, f.r, [][]op64{{f.alone(2, 3), f.on(2, f.alone(2, 5), f.alone(2, 4))}})
		}},
		{"Block of uneven rows on rank 0", []string{"block", "row 0, column 1 of rank 0", "[2]", "[1]"}, func(f faulty) (op64, error) {
			return linop.BlockRanks(f.ctx, f.r, [][]op64{{f.alone(2, 3), f.on(0, f.alone(1, 4), f.alone(2, 4))}})
		}},
		{"Block of rows that differ", []string{"block", "row 1 of rank", "[4]", "[3]"}, func(f faulty) (op64, error) {
			return linop.BlockRanks(f.ctx, f.r, [][]op64{{f.alone(2, 3)}, {f.alone(2, 4)}})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const ranks = 3
			var errs [ranks]error
			err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
				op, err := c.make(faulty{ctx, r})
				if errs[r.Rank()] = err; err != nil && op != nil {
					return fmt.Errorf("an operator comes with the error %w", err)
				}
				return r.Barrier(ctx) // all ranks are still in step
			})
			if err != nil {
				t.Error(err)
			}
			for r, err := range errs {
				if err == nil {
					t.Errorf("rank %d: no error", r)
					continue
				}
				for _, w := range c.want {
					if !strings.Contains(err.Error(), w) {
						t.Errorf("rank %d: error %q does not say %q", r, err, w)
					}
				}
				var aborted *comm.AbortError
				if errors.As(err, &aborted) {
					t.Errorf("rank %d: the program was aborted: %v", r, err)
				}
			}
		})
	}
}

// A matrix that would not fit is refused before anything is applied.
func TestDenseLimit(t *testing.T) {
	err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
		s := spaces{ctx: ctx, r: r}
		x := s.of(dist.Layout{}, 1<<14)
		if s.err != nil {
			return s.err
		}
		op, err := linop.Redistribute[float64](x, x)
		if err != nil {
			return err
		}
		_, rows, cols, err := linop.Dense(ctx, op)
		if err == nil || !strings.Contains(err.Error(), "16384 by 16384") {
			return fmt.Errorf("a matrix of %d by %d: error %v", rows, cols, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
