// Package devicetest is the suite that every device must pass.
//
// Each kernel is compared with a plain loop in complex128, on random values,
// odd sizes and views at odd offsets whose surroundings must stay as they were.
// The suite reaches device memory through the kernels alone, so it serves
// devices whose memory the host cannot read.
package devicetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Seed is the environment variable that repeats the random values of a failure.
const Seed = "GOLOPS_SEED"

// Run runs the suite for the given element types, or all four if none are, on
// devices from open, and closes them.
func Run(t *testing.T, open func(t *testing.T) device.Device, types ...scalar.DType) {
	seed := rand.Uint64()
	if text, set := os.LookupEnv(Seed); set {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", Seed, err)
		}
		seed = n
	}
	t.Run("device", func(t *testing.T) { testDevice(t, open(t)) })
	t.Run("closed", func(t *testing.T) {
		testClosed[float64](t, open(t))
		testClosed[complex64](t, open(t))
	})
	if len(types) == 0 {
		types = []scalar.DType{scalar.Float32, scalar.Float64, scalar.Complex64, scalar.Complex128}
	}
	run := map[scalar.DType]func(*testing.T){
		scalar.Float32:    func(t *testing.T) { runType[float32](t, open(t), seed) },
		scalar.Float64:    func(t *testing.T) { runType[float64](t, open(t), seed) },
		scalar.Complex64:  func(t *testing.T) { runType[complex64](t, open(t), seed) },
		scalar.Complex128: func(t *testing.T) { runType[complex128](t, open(t), seed) },
	}
	for _, dt := range types {
		t.Run(dt.String(), run[dt])
	}
}

// testDevice checks what a device does without kernels.
func testDevice(t *testing.T, d device.Device) {
	if d.String() == "" {
		t.Error("the device has no name")
	}
	for _, dt := range []scalar.DType{scalar.Uint8, scalar.Int32, scalar.Int64, 0} {
		if k := d.Kernels(dt); k != nil {
			t.Errorf("kernels of %v: %T, want nil", dt, k)
		}
	}
	if err := d.Sync(t.Context()); err != nil {
		t.Errorf("sync of an idle device: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// suite is one run of one case for one element type.
type suite[T scalar.Scalar] struct {
	t    testing.TB
	d    device.Device
	k    device.Kernels[T]
	rng  *rand.Rand
	seed uint64
	live []device.Mem[T]
}

// testCase is one property that every device has. Cases of optional kernels end
// with a note in the log where a device lacks them. call, if any, calls the kernel
// once, for tests of what all kernels have in common.
type testCase[T scalar.Scalar] struct {
	name string
	run  func(*suite[T])
	call func(*operands[T]) error
}

// cases has those of each file.
func cases[T scalar.Scalar]() []testCase[T] {
	return slices.Concat(vectorCases[T](), shrinkCases[T](), sumCases[T](), axisCases[T](), boxCases[T](), bandCases[T](), matrixCases[T](),
		fourierCases[T](), kirchhoffCases[T](), rayCases[T](), []testCase[T]{{"allocations", testAllocations[T], nil}})
}

func newSuite[T scalar.Scalar](t testing.TB, d device.Device, k device.Kernels[T], seed uint64) *suite[T] {
	return &suite[T]{t: t, d: d, k: k, seed: seed, rng: rand.New(rand.NewPCG(seed, 1))}
}

func runType[T scalar.Scalar](t *testing.T, d device.Device, seed uint64) {
	k, err := device.KernelsFor[T](d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases[T]() {
		t.Run(c.name, func(t *testing.T) {
			s := newSuite(t, d, k, seed)
			c.run(s)
			if err := d.Sync(t.Context()); err != nil {
				s.errorf("sync: %v", err)
			}
			s.release()
		})
	}
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// errorf reports a failure with the seed that repeats it.
func (s *suite[T]) errorf(format string, args ...any) {
	s.t.Helper()
	s.t.Errorf("%s=%d: %s", Seed, s.seed, fmt.Sprintf(format, args...))
}

// must ends the case if a call failed.
func (s *suite[T]) must(what string, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%s=%d: %s: %v", Seed, s.seed, what, err)
	}
}

// lacks notes that the device lacks a kernel, if err says so.
func (s *suite[T]) lacks(err error) bool {
	if errors.Is(err, device.ErrUnsupported) {
		s.t.Logf("%v: %v", s.d, err)
		return true
	}
	return false
}

// release gives the memory of the case so far back.
func (s *suite[T]) release() {
	for _, m := range s.live {
		s.k.Free(m)
	}
	s.live = s.live[:0]
}

// sizes are lengths of vectors: around the widths that loops are unrolled to,
// and large enough that a device splits the work.
var sizes = some(0, 1, 2, 3, 4, 5, 7, 9, 17, 31, 64, 1023, 40_003)

// some returns every thin-th of all cases.
func some[C any](all ...C) []C {
	var few []C
	for i := 0; i < len(all); i += thin {
		few = append(few, all[i])
	}
	return few
}

// numbers returns n random numbers of size about one, none of them zero. Large
// blocks repeat themselves, which is quicker, with an odd period.
func (s *suite[T]) numbers(n int) []T {
	const period = 4093
	x := make([]T, n)
	for i := range min(n, period) {
		x[i] = s.number()
	}
	for i := period; i < n; i += period {
		copy(x[i:], x[:period])
	}
	return x
}

func (s *suite[T]) number() T { return narrow[T](complex(s.part(), s.part())) }

func (s *suite[T]) part() float64 {
	v := 0.1 + 1.4*s.rng.Float64()
	if s.rng.IntN(2) == 0 {
		return -v
	}
	return v
}

// coefs are pairs of factors: those that kernels may treat in a special way, and
// others. Of vectors with n elements, if that is many, they are few.
func (s *suite[T]) coefs(n int) (ab [][2]T) {
	c := []T{0, 1, narrow[T](-1), narrow[T](2.5), narrow[T](1i), s.number()}
	for _, a := range c {
		for _, b := range c {
			if n < 10_000 || s.rng.IntN(6) == 0 {
				ab = append(ab, [2]T{a, b})
			}
		}
	}
	return ab
}
