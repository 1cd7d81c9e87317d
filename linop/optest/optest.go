// Package optest checks linear operators with the dot test and other tests, for
// any number of ranks, every layout and all element types.
//
// Every check is collective, fills its vectors with numbers that do not depend
// on the number of ranks, and returns an error on every rank if it fails on any.
package optest

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// TolOfType is a tolerance of 1e-5 if a 32-bit type takes part, and of 1e-12 otherwise.
const TolOfType = 0

// DotConfig says how operators are checked. The zero DotConfig is ready to use.
type DotConfig struct {
	Seed uint64  // of the random vectors
	Tol  float64 // largest relative error, or TolOfType
	Norm float64 // of the operator, about, where its results may be nothing but rounding, as those of a product that is zero; 0 means that they are not
	Real bool    // for operators that are linear over the real numbers only, as taking the real part is: compare real parts, scale by real numbers
}

func (c DotConfig) real(complexBoth bool) bool { return c.Real || !complexBoth }

// tol is what rounding may cost, with room for sums of many terms.
func (c DotConfig) tol(narrow bool) float64 {
	switch {
	case c.Tol != 0:
		return c.Tol
	case narrow:
		return 1e-5
	}
	return 1e-12
}

// All runs the checks that need nothing but the operator: Dot, Linear,
// Overwrites and Allocs.
func All[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R]) error {
	return AllWith(ctx, DotConfig{}, a)
}

// AllWith is All with the choices of c.
func AllWith[D, R scalar.Scalar](ctx context.Context, c DotConfig, a linop.Map[D, R]) error {
	if err := valid(a); err != nil {
		return err
	}
	return errors.Join(
		DotWith(ctx, c, a),
		LinearWith(ctx, c, a),
		Overwrites(ctx, a),
		Allocs(ctx, a),
	)
}

func valid[D, R scalar.Scalar](a linop.Map[D, R]) error {
	if a == nil {
		return errors.New("optest: the operator is nil")
	}
	if a.Domain() == nil || a.Range() == nil {
		return fmt.Errorf("optest: the operator %T has no domain or no range", a)
	}
	return nil
}

// agree ends a check: what is its name, and the spaces say which operator failed.
func agree[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R], what string, err error) error {
	if err != nil {
		err = fmt.Errorf("%w; domain %v, range %v", err, a.Domain(), a.Range())
	}
	return dist.Agree(ctx, a.Domain().Comm(), "optest: "+what, err)
}

func is32[T scalar.Scalar]() bool {
	d := scalar.Of[T]()
	return d == scalar.Float32 || d == scalar.Complex64
}

func isComplex[T scalar.Scalar]() bool { return scalar.Of[T]().IsComplex() }
