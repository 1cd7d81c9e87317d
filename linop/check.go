package linop

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// valid says what is missing in an operator that somebody handed in: it may be
// nil, hold a nil pointer or have no spaces.
func valid[D, R scalar.Scalar](a Map[D, R]) error {
	if isNil(a) {
		return errors.New("the operator is nil")
	}
	if a.Domain() == nil || a.Range() == nil {
		return fmt.Errorf("the operator %T has no domain or no range", a)
	}
	return nil
}

// isNil sees a nil pointer inside an interface too, which == nil does not.
func isNil[D, R scalar.Scalar](a Map[D, R]) bool {
	if a == nil {
		return true
	}
	v := reflect.ValueOf(a)
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Slice, reflect.Interface:
		return v.IsNil()
	}
	return false
}

// bridge returns what moves arrays from one space to another that lies
// differently, nil if nothing is to be moved. Where that is impossible the error
// gives the reason and both spaces, which are called gives and takes.
func bridge[T scalar.Scalar](from, to *dist.Space, gives, takes string) (*dist.Move[T], error) {
	why, bridged := from.Difference(to)
	switch {
	case why == "":
		return nil, nil
	case !bridged:
		return nil, mismatch(why, gives, from, takes, to)
	}
	return dist.NewRedistribution[T](from, to)
}

// mismatch is the error of two spaces that do not fit together: the reason first.
func mismatch(why, first string, a *dist.Space, second string, b *dist.Space) error {
	return fmt.Errorf("%s: %s %v, %s %v", why, first, a, second, b)
}
