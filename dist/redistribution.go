package dist

import (
	"context"
	"fmt"

	"github.com/golops/golops/scalar"
)

// NewRedistribution plans the way between two spaces of the same shape on the same
// ranks. Its adjoint is its inverse. It does not communicate: all ranks must call it
// with the same spaces.
func NewRedistribution[T scalar.Scalar](from, to *Space) (*Move[T], error) {
	given("NewRedistribution", from)
	given("NewRedistribution", to)
	m, err := newRedistribution[T](from, to, true)
	return named("dist: redistribution", m, err)
}

func newRedistribution[T scalar.Scalar](from, to *Space, back bool) (*Move[T], error) {
	m := &Move[T]{name: "dist: redistribution", from: from, to: to}
	if why, bridged := from.Difference(to); !bridged {
		return nil, fmt.Errorf("%s: one array is of %v, the other of %v: only the layout can change", why, from, to)
	}
	for i, leaf := range from.leaves {
		other := to.leaves[i]
		// Whole blocks go by messages: a mailbox would hold two more copies of them.
		there, home := (&Plan{from: leaf, label: labelMove}).boxes(other.Box, other.local), (*Plan)(nil)
		if back {
			home = (&Plan{from: other, label: labelBack}).boxes(leaf.Box, leaf.local)
		}
		if err := m.add(there, home); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Redistribute returns the elements of a in another space of the same shape on
// the same ranks: other axis, grid or counts. It is collective: one message to
// agree and one for each pair of ranks that share elements. NewRedistribution is
// for repeated use.
func Redistribute[T scalar.Scalar](ctx context.Context, a Array[T], to *Space) (Array[T], error) {
	given("Redistribute", to)
	m, err := newRedistribution[T](a.given("Redistribute"), to, false)
	return m.once(ctx, "dist: redistribute", a, err, a.space.describe(), " to ", to.describe())
}
