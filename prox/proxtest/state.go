package proxtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// State checks that a prox and a dual prox depend on their arguments and on the State of
// the function, to the last bit: with the State of before they give what they gave then.
func State[T scalar.Scalar](ctx context.Context, c Config, f solve.Function[T], x *dist.Space) error {
	t := newTester(c, f, x)
	a, b, p, q, scratch := t.random(ctx, 75), t.random(ctx, 76), t.zero(), t.zero(), t.zero()
	state := func() ([]solve.NamedArray, []solve.NamedNumber) {
		if s, ok := f.(solve.Stateful); ok {
			return s.State()
		}
		return nil, nil
	}
	tau := t.taus()[0]
	for _, k := range []struct {
		what string
		prox func(y, x dist.Array[T]) error
	}{
		{"prox", func(y, x dist.Array[T]) error { return f.Prox(ctx, y, tau, x) }},
		{"dual prox", func(y, x dist.Array[T]) error { return solve.DualProx(ctx, f, y, tau, x, scratch) }},
	} {
		t.fail(k.prox(p, b))
		arrays, numbers := state()
		saved, err := newCopies(arrays, numbers)
		t.fail(err)
		t.fail(k.prox(p, a))
		t.fail(k.prox(q, b)) // which leaves another state
		arrays, numbers = state()
		t.fail(saved.restore(arrays, numbers))
		t.fail(k.prox(q, a))
		if off := t.apart(ctx, p, q); t.err == nil && off != 0 {
			t.fail(fmt.Errorf("%s: with the State of before, the result is %g away from that of before: a State must have all that a call reads of earlier ones", k.what, off))
		}
		saved.free()
	}
	return t.end(ctx, "state")
}

// copies are the values of a State.
type copies struct {
	arrays  []solve.NamedArray
	numbers []float64
	frees   []func()
}

func newCopies(arrays []solve.NamedArray, numbers []solve.NamedNumber) (*copies, error) {
	c := &copies{}
	for _, n := range numbers {
		c.numbers = append(c.numbers, *n.Value)
	}
	for _, a := range arrays {
		var err error
		switch v := a.Array.(type) {
		case dist.Array[float32]:
			err = keepCopy(c, a.Name, v)
		case dist.Array[float64]:
			err = keepCopy(c, a.Name, v)
		case dist.Array[complex64]:
			err = keepCopy(c, a.Name, v)
		case dist.Array[complex128]:
			err = keepCopy(c, a.Name, v)
		default:
			err = fmt.Errorf("the vector %q of the State is a %T, must be a dist.Array", a.Name, a.Array)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

func keepCopy[T scalar.Scalar](c *copies, name string, a dist.Array[T]) error {
	b, err := dist.New[T](a.Space())
	if err == nil {
		dist.Copy(b, a)
		c.arrays, c.frees = append(c.arrays, solve.NamedArray{Name: name, Array: b}), append(c.frees, b.Free)
	}
	return err
}

// restore writes the copies to where they come from.
func (c *copies) restore(arrays []solve.NamedArray, numbers []solve.NamedNumber) error {
	if len(arrays) != len(c.arrays) || len(numbers) != len(c.numbers) {
		return errors.New("the State has another number of vectors or numbers than before")
	}
	for i, n := range numbers {
		*n.Value = c.numbers[i]
	}
	for i, a := range arrays {
		if a.Name != c.arrays[i].Name {
			return fmt.Errorf("vector %d of the State is %q, it was %q", i, a.Name, c.arrays[i].Name)
		}
		switch v := a.Array.(type) {
		case dist.Array[float32]:
			dist.Copy(v, c.arrays[i].Array.(dist.Array[float32]))
		case dist.Array[float64]:
			dist.Copy(v, c.arrays[i].Array.(dist.Array[float64]))
		case dist.Array[complex64]:
			dist.Copy(v, c.arrays[i].Array.(dist.Array[complex64]))
		case dist.Array[complex128]:
			dist.Copy(v, c.arrays[i].Array.(dist.Array[complex128]))
		}
	}
	return nil
}

func (c *copies) free() {
	for _, free := range c.frees {
		free()
	}
}
