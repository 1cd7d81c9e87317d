package ops_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// Every operator works in a group that is a part of the program, while the
// other ranks work in theirs. (PyLops-MPI falls back to all ranks: limit 23.)
func TestSubGroups(t *testing.T) {
	err := testdevices.Local(t.Context(), 5, func(ctx context.Context, r dist.Proc) error {
		sub, err := r.Subgroup(ctx, r.Rank()%2, r.Rank()) // ranks 0, 2, 4 and ranks 1, 3
		if err != nil {
			return err
		}
		x, err := dist.NewSpace(ctx, sub, dist.Layout{}, 7+r.Rank()%2, 5)
		if err != nil {
			return err
		}
		return check(ctx, x, optest.Dot[float64, float64])
	})
	if err != nil {
		t.Error(err)
	}
}

// An operator along an axis leaves a replicated array replicated, so that a
// solver can add its results to the model. (Limit 21.)
func TestReplicatedStaysReplicated(t *testing.T) {
	err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Replicated, 6, 4)
		if err != nil {
			return err
		}
		for _, m := range forms[float32]() {
			op, err := m.make(ctx, x)
			if err != nil {
				return err
			}
			for _, s := range append(op.Range().Parts(), op.Range()) {
				if s.Parts() == nil && !s.Replicated() && m.name != "spread" && !strings.Contains(m.name, "regression") {
					return fmt.Errorf("%s: the range is %v", m.name, s)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Apply refuses what Forward would take for granted. (Limit 36.)
func TestApplyChecks(t *testing.T) {
	err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 6)
		if err != nil {
			return err
		}
		other, err := dist.NewSpace(ctx, r, dist.Layout{Counts: [][]int{{1, 5}}}, 6)
		if err != nil {
			return err
		}
		op, err := ops.Flip[float64](ctx, x, 0)
		if err != nil {
			return err
		}
		a, err := dist.New[float64](x)
		if err != nil {
			return err
		}
		b, err := dist.New[float64](other)
		if err != nil {
			return err
		}
		for _, e := range []error{linop.ApplyTo(ctx, op, a, b), linop.ApplyTo(ctx, op, b, a), linop.ApplyAdjointTo(ctx, op, a, b), linop.ApplyTo(ctx, op, a, dist.Array[float64]{}), linop.ApplyTo(ctx, op, a, a), linop.ApplyTo(ctx, nil, a, a), linop.ApplyAdjointTo(ctx, nil, a, a)} {
			if e == nil {
				return errors.New("got no error for arrays that do not fit")
			}
		}
		if _, err := linop.Apply[float64, float64](ctx, nil, a); err == nil {
			return errors.New("the image under no operator: got no error")
		}
		c, err := dist.New[float64](x)
		if err != nil {
			return err
		}
		return linop.ApplyTo(ctx, op, c, a)
	})
	if err != nil {
		t.Error(err)
	}
}

// The dot test sends numbers, not vectors. (Limit 50.)
func TestDotGathersNothing(t *testing.T) {
	err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		count := commtest.NewCounter(r.Comm)
		counted, err := dist.NewProc(ctx, count.Comm, r.Device)
		if err != nil {
			return err
		}
		x, err := dist.NewSpace(ctx, counted, dist.Layout{}, 300, 100)
		if err != nil {
			return err
		}
		id, err := ops.Identity[float64](x)
		if err != nil {
			return err
		}
		count.Reset()
		if err := optest.Dot(ctx, id); err != nil {
			return err
		}
		for _, m := range []string{"AllReduce", "AllGather", "AllGatherV", "Gather", "GatherV", "Broadcast"} {
			if count.Elements(m) > 100 {
				return fmt.Errorf("%s of %d elements: %v", m, count.Elements(m), count)
			}
		}
		if count.SentBytes() > 8*100 {
			return fmt.Errorf("%d bytes in messages: %v", count.SentBytes(), count)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A stack of a block-diagonal operator and a derivative, as PyLops-MPI has it.
func TestGoldenStackedBlockDiag(t *testing.T) {
	for _, c := range golden.Cases(t, "MPIStackedBlockDiag") {
		err := testdevices.Local(t.Context(), c.Ranks, func(ctx context.Context, r dist.Proc) error {
			switch c.DType {
			case scalar.Float32:
				return checkStacked[float32](t, ctx, r, c, 2e-5)
			case scalar.Float64:
				return checkStacked[float64](t, ctx, r, c, 1e-12)
			case scalar.Complex64:
				return checkStacked[complex64](t, ctx, r, c, 2e-5)
			}
			return checkStacked[complex128](t, ctx, r, c, 1e-12)
		})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func checkStacked[T scalar.Scalar](t *testing.T, ctx context.Context, r dist.Proc, c golden.Case, tol float64) error {
	sh, a := golden.Array[T](t, c, fmt.Sprintf("A_rank%d_0", r.Rank()))
	mine, err := dist.NewSpace(ctx, r.Alone(), dist.Replicated, sh[1])
	if err != nil {
		return err
	}
	block, err := ops.MatrixMult(ctx, mine, sh[0], a)
	if err != nil {
		return err
	}
	diag, err := linop.BlockDiagRanks(ctx, r, block)
	if err != nil {
		return err
	}
	dims, _ := golden.Array[T](t, c, "x1")
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, dims...)
	if err != nil {
		return err
	}
	d, err := ops.FirstDerivative[T](ctx, x, 0, derivative(c))
	if err != nil {
		return err
	}
	op, err := linop.BlockDiag(diag, d)
	if err != nil {
		return err
	}
	if err := image(t, ctx, c, "x", op.Domain(), "y", op.Range(), op.Forward, tol); err != nil {
		return fmt.Errorf("forward: %w", err)
	}
	if err := image(t, ctx, c, "u", op.Range(), "v", op.Domain(), op.Adjoint, tol); err != nil {
		return fmt.Errorf("adjoint: %w", err)
	}
	return nil
}

// Small operators as matrices, and their traces, as PyLops has them.
func TestGoldenDense(t *testing.T) {
	seen := 0
	for _, name := range []string{"algebra.todense", "algebra.trace"} {
		for _, c := range golden.Cases(t, name) {
			if c.String("op") == "MatrixMult" || c.DType != scalar.Float64 {
				continue // package linop has those
			}
			seen++
			c.Op = c.String("op")
			err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
				x, err := dist.NewSpace(ctx, r, dist.Layout{}, c.Dims...)
				if err != nil {
					return err
				}
				o, err := goldenOf[float64](c)
				if err != nil {
					return err
				}
				op, err := o.make(t, ctx, x, c)
				if err != nil {
					return err
				}
				if c.Has("trace") {
					_, want := golden.Array[float64](t, c, "trace")
					got, err := linop.Trace(ctx, op)
					return errors.Join(err, near([]float64{got}, want, 1e-12))
				}
				_, want := golden.Array[float64](t, c, "dense")
				got, _, _, err := linop.Dense(ctx, op)
				return errors.Join(err, near(got, want, 1e-12))
			})
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
	}
	if seen == 0 {
		t.Error("no cases seen")
	}
}
