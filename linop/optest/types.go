package optest

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// KeepsType compares the 32-bit and the 64-bit version of one operator, forward
// and adjoint:
//
//   - of the same vector, which is exact in both types, they make the same but
//     for rounding to 32 bits. An operator that cuts its input to integers or to
//     fewer bits fails;
//   - the 64-bit version sees digits that 32 bits do not hold: with ε = 2⁻²⁸,
//     a·(u + εw) - a·u is ε·(a·w), not zero. One that works in 32 bits inside
//     fails.
func KeepsType[D32, R32, D64, R64 scalar.Scalar](ctx context.Context, a32 linop.Map[D32, R32], a64 linop.Map[D64, R64]) error {
	if err := valid(a32); err != nil {
		return err
	}
	if err := valid(a64); err != nil {
		return err
	}
	var err error
	if a32.Domain().Size() != a64.Domain().Size() || a32.Range().Size() != a64.Range().Size() {
		err = fmt.Errorf("the 32-bit operator goes from %v to %v, which is not alike", a32.Domain(), a32.Range())
	}
	if !is32[D32]() || !is32[R32]() || is32[D64]() || is32[R64]() {
		err = fmt.Errorf("the first operator is %v to %v, the second %v to %v: give the 32-bit one first", scalar.Of[D32](), scalar.Of[R32](), scalar.Of[D64](), scalar.Of[R64]())
	}
	if err := agree(ctx, a64, "element types", err); err != nil {
		return err
	}
	err = keepsType(ctx, a32, a64)
	if err := agree(ctx, a64, "element types of forward", err); err != nil {
		return err
	}
	err = keepsType(ctx, linop.H(a32), linop.H(a64))
	return agree(ctx, a64, "element types of adjoint", err)
}

func keepsType[D32, R32, D64, R64 scalar.Scalar](ctx context.Context, a32 linop.Map[D32, R32], a64 linop.Map[D64, R64]) error {
	_, y32, err := image(ctx, a32, 0)
	if err != nil {
		return err
	}
	u, au, err := image(ctx, a64, 0)
	if err != nil {
		return err
	}
	w, aw, err := image(ctx, a64, 1)
	if err != nil {
		return err
	}
	const eps = 1.0 / (1 << 28)
	dist.Axpby(eps, w, 1, u)
	got, err := linop.Apply(ctx, a64, u)
	if err != nil {
		return err
	}
	dist.Sub(got, got, au)
	step, err := dist.AllGather(ctx, got)
	if err != nil {
		return err
	}
	dist.Scale(aw, eps, aw)
	want, err := dist.AllGather(ctx, aw)
	if err != nil {
		return err
	}
	narrow, err := dist.AllGather(ctx, y32)
	if err != nil {
		return err
	}
	wide, err := dist.AllGather(ctx, au)
	if err != nil {
		return err
	}
	diff, norm := distance(narrow, wide)
	if !(diff <= 1e-5*norm) {
		return fmt.Errorf("the 32-bit result differs by %.3g from the 64-bit one, which has norm %.3g", diff, norm)
	}
	if diff, _ := distance(step, want); !(diff <= 1e-12*norm) {
		return fmt.Errorf("digits beyond 32 bits are lost: A(u+εw)-Au differs from εAw by %.3g, with ‖Au‖ = %.3g, ε = %.3g", diff, norm, eps)
	}
	return nil
}
