package app

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/golops/golops/device"
)

// Base is what every configuration has. A Config embeds it as its last field.
type Base struct {
	Checkpoint Checkpoint `yaml:"checkpoint"`
	Out        string     `yaml:"out" is:"path"`

	given map[string]bool // the keys that were read from files, such as "operator.angle"
	files []string        // that were read
}

// Checkpoint is where the state of the solver is kept.
type Checkpoint struct {
	Dir    string  `yaml:"dir" is:"path"`
	Every  int     `yaml:"every"`
	Time   float64 `yaml:"seconds"`
	Resume bool    `yaml:"resume"`
}

// Solver is how the model follows from data, by one of the methods that Method knows.
// An application with more parameters embeds it in a section of its own.
type Solver struct {
	Method     string  `yaml:"method"`
	Iterations int     `yaml:"iterations"`
	Tolerance  float64 `yaml:"tolerance"`
	Damp       float64 `yaml:"damp"`
}

// Given reports whether a file names the key, such as "operator.angle". The value may
// be that of the default all the same.
func (b *Base) Given(key string) bool { return b.given[key] }

// Default returns the configuration that the text describes, which has every key of C.
func Default[C any](text string) C {
	var c C
	if err := Read(&c, strings.NewReader(text)); err != nil {
		panic(err) // a test of the application reads it too
	}
	baseOf(&c).given = nil
	return c
}

// baseOf returns the Base of a configuration, or of a pointer to one.
func baseOf(c any) *Base {
	v := reflect.ValueOf(c)
	if v.Kind() != reflect.Pointer {
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		v = p
	}
	return v.Elem().FieldByName("Base").Addr().Interface().(*Base)
}

// Faults collects everything that is wrong with a configuration.
type Faults struct{ errs []error }

// Err returns all faults as one error.
func (f *Faults) Err() error { return errors.Join(f.errs...) }

// Add adds a fault: the key, its value, and what to do.
func (f *Faults) Add(format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf(format, args...))
}

// Positive demands that numbers are positive and finite.
func (f *Faults) Positive(key string, v float64) {
	if !(v > 0) || math.IsInf(v, 0) {
		f.Add("%s is %g, must be positive and finite", key, v)
	}
}

// NotNegative demands that a number is finite and not negative.
func (f *Faults) NotNegative(key string, v float64) {
	if !(v >= 0) || math.IsInf(v, 0) {
		f.Add("%s is %g, must be finite and not negative", key, v)
	}
}

// AtLeast demands that an integer is not below least.
func (f *Faults) AtLeast(key string, v, least int) {
	if v < least {
		f.Add("%s is %d, must be at least %d", key, v, least)
	}
}

// OneOf demands one of some words.
func (f *Faults) OneOf(key, v string, have ...string) {
	if !slices.Contains(have, v) {
		f.Add("%s is %q: have %v", key, v, have)
	}
}

// Solver checks the section solver. Methods are those of package app, and others.
func (f *Faults) Solver(s Solver, others ...string) {
	f.OneOf("solver.method", s.Method, append(slices.Clone(methods), others...)...)
	f.AtLeast("solver.iterations", s.Iterations, 1)
	switch t := s.Tolerance; {
	case t < 0:
		f.Add("solver.tolerance is %g, must not be negative: give 0 to end by iterations alone", t)
	case !(t < 1):
		f.Add("solver.tolerance is %g, must be below 1: the residual of no image at all is 1", t)
	}
	f.NotNegative("solver.damp", s.Damp)
}

const maxSeconds = 1e9 // between two checkpoints; a time.Duration holds 9e9

// Base checks what all configurations have, and the names of all files and folders of
// c, a configuration.
func (f *Faults) Base(c any) {
	b := baseOf(c)
	if b.Checkpoint.Every < 0 {
		f.Add("checkpoint.every is %d, must not be negative", b.Checkpoint.Every)
	}
	if !(b.Checkpoint.Time >= 0 && b.Checkpoint.Time < maxSeconds) {
		f.Add("checkpoint.seconds is %g, must not be negative, and less than %g", b.Checkpoint.Time, float64(maxSeconds))
	}
	if b.Checkpoint.Resume && b.Checkpoint.Dir == "" {
		f.Add("checkpoint.resume needs checkpoint.dir")
	}
	if b.Out == "" {
		f.Add("out is empty: name the folder for results")
	}
	for _, path := range append(inputs(c), b.Out, b.Checkpoint.Dir) {
		if !utf8.ValidString(path) || strings.ContainsRune(path, 0) {
			f.Add("%q is no text in UTF-8: rename the file or the folder", path)
		}
	}
}

// Fits returns an error if the bytes are more than the memory of this machine. The
// format says what takes them, such as "a grid of 3 × 4 points".
func Fits(bytes float64, format string, args ...any) error {
	_, total := device.HostMemory()
	if total == 0 {
		total = 1 << 62 // unknown: the range of an integer is the limit
	}
	if bytes <= float64(total) {
		return nil
	}
	return fmt.Errorf("%s take %s, this machine has %s: use fewer", fmt.Sprintf(format, args...), device.BytesText(int64(min(bytes, 1<<62))), device.BytesText(total))
}
