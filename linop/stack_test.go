package linop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

func stacked[T scalar.Scalar](ctx context.Context, r dist.Proc) error {
	f, err := newFactors[T](ctx, r)
	if err != nil {
		return err
	}
	a, b, c, s := f.a, f.b, f.c, f.s
	var errs []error
	try := func(name string, m matrix, op linop.Operator[T], err error) linop.Operator[T] {
		errs = append(errs, check(ctx, name, op, err, m))
		return op
	}
	op, err := linop.BlockDiag(a.op, c.op, s.op)
	diag := try("BlockDiag", a.m.diag(c.m).diag(s.m), op, err)
	op, err = linop.VStack(a.op, b.op, s.op)
	v := try("VStack, mixed", a.m.above(b.m).above(s.m), op, err)
	op, err = linop.HStack(a.op, b.op)
	h := try("HStack, mixed", a.m.beside(b.m), op, err)
	op, err = linop.VStack(a.op)
	try("VStack of one", a.m, op, err)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	vm, hm, dm := a.m.above(b.m).above(s.m), a.m.beside(b.m), a.m.diag(c.m).diag(s.m)

	if _, err := linop.VStack(v, h); err == nil {
		errs = append(errs, errors.New("VStack of a plain and a stacked domain: no error"))
	}
	op, err = linop.BlockDiag(v, diag, h)
	try("BlockDiag of stacks", vm.diag(dm).diag(hm), op, err)
	op, err = linop.VStack(h, h)
	try("VStack of stacked domains", hm.above(hm), op, err)
	op, err = linop.Compose(linop.H(v), v)
	try("product over a stack", vm.h().times(vm), op, err)
	op, err = linop.T(v)
	try("transposed stack", vm.t(), op, err)

	// The parts of the two stacks lie differently.
	other, err := linop.VStack(b.op, a.op, s.op)
	if err != nil {
		return err
	}
	op, err = linop.Add(v, other)
	try("Add of stacks, mixed", vm.plus(1, b.m.above(a.m).above(s.m)), op, err)
	op, err = linop.Compose(linop.H(other), v)
	try("Compose over stacks, mixed", b.m.above(a.m).above(s.m).h().times(vm), op, err)
	op, err = linop.Compose(linop.H(v), v)
	if err == nil {
		op, err = linop.Power(op, 2)
	}
	normal := vm.h().times(vm)
	try("Power of a normal operator", normal.times(normal), op, err)
	hh, err := linop.Compose(linop.H(h), h)
	if err == nil {
		op, err = linop.Power(hh, 3)
	}
	n := hm.h().times(hm)
	try("Power over a stack", n.times(n).times(n), op, err)
	return errors.Join(errs...)
}

func TestStacked(t *testing.T) {
	forTypes(t, stacked[float32], stacked[float64], stacked[complex64], stacked[complex128])
}
