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

// bridge returns the way from one space to another that lies differently, nil
// if there is nothing to move, or an error that names both.
func bridge[T scalar.Scalar](from, to *dist.Space) (*dist.Redistribution[T], error) {
	if from.Equal(to) {
		return nil, nil
	}
	if why := apart(from, to); why != "" {
		return nil, fmt.Errorf("%v does not fit %v: %s", from, to, why)
	}
	return dist.NewRedistribution[T](from, to)
}

// apart says why no Move leads from one space to another.
func apart(from, to *dist.Space) string {
	f, t := from.Parts(), to.Parts()
	switch {
	case from.Comm() != to.Comm():
		return "they are on different communicators"
	case from.Device() != to.Device():
		return fmt.Sprintf("they are on different devices, %v and %v", from.Device(), to.Device())
	case len(f) != len(t):
		return fmt.Sprintf("one is a stack of %d spaces, the other of %d", len(f), len(t))
	case f == nil && from.Shape() != to.Shape():
		return fmt.Sprintf("the shapes %v and %v differ", from.Shape(), to.Shape())
	}
	for i := range f {
		if why := apart(f[i], t[i]); why != "" {
			return fmt.Sprintf("part %d: %s", i, why)
		}
	}
	return ""
}
