package prox

import (
	"fmt"

	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// state is what a function's next call reads of earlier ones.
type state = func() ([]solve.NamedArray, []solve.NamedNumber)

// stateOf returns the state of a function that is made of others.
func stateOf[T scalar.Scalar](fs ...solve.Function[T]) state {
	return func() (vectors []solve.NamedArray, numbers []solve.NamedNumber) {
		for i, f := range fs {
			s, ok := f.(solve.Stateful)
			if !ok {
				continue
			}
			v, n := s.State()
			for _, v := range v {
				vectors = append(vectors, solve.NamedArray{Name: fmt.Sprintf("function %d: %s", i, v.Name), Array: v.Array})
			}
			for _, n := range n {
				numbers = append(numbers, solve.NamedNumber{Name: fmt.Sprintf("function %d: %s", i, n.Name), Value: n.Value})
			}
		}
		return vectors, numbers
	}
}
