package dist

import (
	"context"

	"github.com/golops/golops/array"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// Move takes arrays from one space to another and back: NewRedistribution changes
// their layout, NewHalo widens their blocks. Each element goes straight from the rank
// that has it to the ranks that want it. Buffers are made once, so further calls
// allocate nothing.
type Move[T scalar.Scalar] struct {
	name        string // in errors and traces
	from, to    *Space
	there, back []*Exchange[T] // of each leaf
	zeros       bool           // elements that no rank sends are zero
	turned      bool           // labels are those of the adjoint of a product
}

// add makes the exchanges of one leaf. A Move for one use has no way back.
func (m *Move[T]) add(there, back *Plan) error {
	e, err := NewExchange[T](there)
	if m.there = append(m.there, e); err == nil && back != nil {
		e, err = NewExchange[T](back)
		m.back = append(m.back, e)
	}
	if err != nil {
		m.Free()
	}
	return err
}

// SetAdjoint says whether the product that m is a factor of is applied as its adjoint.
// Messages carry it in their labels. Otherwise Mᴴ·D·M would send the same messages both
// ways, and ranks that go different ways would not be told.
func (m *Move[T]) SetAdjoint(adjoint bool) {
	if m.turned == adjoint {
		return
	}
	m.turned = adjoint
	for _, way := range [...][]*Exchange[T]{m.there, m.back} {
		for _, e := range way {
			e.swapLabel()
		}
	}
}

// Domain returns the first space, Range the second.
func (m *Move[T]) Domain() *Space { return m.from }

// Range returns the second space.
func (m *Move[T]) Range() *Space { return m.to }

// Forward sets dst, of the second space, to the elements of src, of the first. It is
// collective: one message from each rank to each that wants some of its elements.
func (m *Move[T]) Forward(ctx context.Context, dst, src Array[T]) error {
	if err := Check(m.name, "forward", &dst, m.to, &src, m.from); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, m.name, "forward").End()
	return m.run(ctx, m.there, dst, src, m.zeros)
}

// Adjoint is the way back. A redistribution is then undone. Of a halo each ghost is
// added to the element that it is a copy of. It is collective.
func (m *Move[T]) Adjoint(ctx context.Context, dst, src Array[T]) error {
	if err := Check(m.name, "adjoint", &dst, m.from, &src, m.to); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, m.name, "adjoint").End()
	return m.run(ctx, m.back, dst, src, false)
}

func (m *Move[T]) run(ctx context.Context, way []*Exchange[T], dst, src Array[T], zeros bool) error {
	for i, e := range way {
		if zeros {
			array.Fill(*dst.block(i), 0)
		}
		if err := e.run(ctx, *dst.block(i), *src.block(i)); err != nil {
			return err
		}
	}
	return nil
}

// once returns a in the second space of a Move that is made for it, unless there is an
// error on any rank. It ends a collective function.
func (m *Move[T]) once(ctx context.Context, what string, a Array[T], err error, values ...any) (b Array[T], _ error) {
	if err == nil {
		b, err = New[T](m.to)
	}
	defer m.Free()
	if err = Agree(ctx, a.space.Comm(), what, err, values...); err == nil {
		err = m.Forward(ctx, b, a)
	}
	return b.orFree(err)
}

// Free gives the buffers back to the device. m cannot be used afterwards.
func (m *Move[T]) Free() {
	if m == nil {
		return
	}
	for _, e := range append(m.there, m.back...) {
		e.Free()
	}
	m.there, m.back = nil, nil
}
