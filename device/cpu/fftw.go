package cpu

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/internal/fft"
)

// FFTWMode says when the library FFTW transforms a block, where it is installed.
type FFTWMode string

// When FFTW transforms a block. Numbers of the engines differ by rounding.
const (
	FFTWAuto    FFTWMode = ""        // where it is known to be faster, see fftwFaster
	FFTWMeasure FFTWMode = "measure" // where it is faster in a trial: plans take up to seconds, and two runs may round differently
	FFTWAlways  FFTWMode = "always"
	FFTWOff     FFTWMode = "off"
)

func (m FFTWMode) validate() error {
	if !slices.Contains([]FFTWMode{FFTWAuto, FFTWMeasure, FFTWAlways, FFTWOff}, m) {
		return fmt.Errorf("FFTW is %q: have measure, always, off, or nothing for where it is known to be faster", string(m))
	}
	return nil
}

// fftw is the library for transforms whose components are F. It is opened when first
// needed.
type fftw struct {
	mode   FFTWMode
	opened bool
	path   string     // "" for none
	plan   [3]dl.Func // complex, real to complex and back
	run    [3]dl.Func // likewise
	drop   dl.Func
}

// Kinds of transforms in fftw.
const (
	fftwComplex = iota
	fftwForward
	fftwBackward
)

// look opens the library if that has not been tried before. It ignores one that lacks a
// function.
func (w *fftw) look(bytes int) *fftw {
	if w.opened || w.mode == FFTWOff {
		return w
	}
	w.opened = true
	file, prefix := "libfftw3.so.3", "fftw_"
	if bytes == 4 {
		file, prefix = "libfftw3f.so.3", "fftwf_"
	}
	lib, err := dl.Open(dl.Local, file)
	if err != nil {
		return w
	}
	for i, name := range []string{"dft", "dft_r2c", "dft_c2r"} {
		w.plan[i], w.run[i] = lib.Func(prefix+"plan_guru64_"+name), lib.Func(prefix+"execute_"+name)
	}
	w.drop = lib.Func(prefix + "destroy_plan")
	if !slices.Contains(w.plan[:], 0) && !slices.Contains(w.run[:], 0) && w.drop != 0 {
		w.path = lib.Path
	}
	return w
}

// fftwPlan is a transform of blocks by FFTW, from one place in memory to another. Both
// begin at a multiple of 16 bytes, as those that it was planned for.
type fftwPlan struct {
	lib   *fftw
	real  bool
	plans [2]uintptr // forward, inverse
}

// fftwPlans has the plans of this process, with nil where FFTW is slower. They serve all
// devices and stay until the process ends. The planner of FFTW is not for several
// threads. So one of them plans at a time.
var fftwPlans = struct {
	sync.Mutex
	made map[fftwKey]*fftwPlan
}{made: map[fftwKey]*fftwPlan{}}

type fftwKey struct {
	what           string // dims and axes
	real           bool
	mode           FFTWMode
	bytes, threads int
}

const (
	// maxFFTW is how many samples a block has at most. In larger ones memory decides, and
	// package fft makes fewer passes over it.
	maxFFTW = 1 << 17
	// maxFFTWPlans is how many plans a process keeps.
	maxFFTWPlans = 4096
)

// fftwFaster reports whether FFTW without trials is known to be faster than package fft, whose
// vector registers have so many bits. With 512 it is not, in the 100 cases of perf/peer/fft on one
// core of a Zen 5: package fft has at least 0.94 of the speed of FFTW's measured plans for a line of
// 256 real samples, and more for all others. With 256 it is for short lines whose samples
// lie together: of powers of two, and a single real line of small factors. Without vector
// registers package fft is plain Go, and FFTW is 10 times as fast.
//
// Plans by trial take 60 to 500 ms for a line of 256 to 4096 samples and 3 s for 65536. Two runs
// may choose two plans, which round differently. So they are made only for who asks.
func fftwFaster(t *device.DFT, bytes, threads, bits int) bool {
	switch bits {
	case 512:
		return false
	case 0:
		return true
	}
	last := len(t.Dims) - 1
	n := t.Dims[last]
	if len(t.Axes) != 1 || t.Axes[0] != last || n < 16 {
		return false
	}
	lines := device.Size(t.Dims[:last]...)
	if !t.Real {
		return n&(n-1) == 0 && n <= 2048 && (lines == 1 || threads == 1)
	}
	for _, p := range []int{2, 3, 5, 7, 13} {
		for n%p == 0 {
			n /= p
		}
	}
	return n == 1 && lines == 1 && bytes == 8 && t.Dims[last]%2 == 0 && t.Dims[last] <= 4096
}

// fftwPlan returns the plan for t, or nil where package fft is to do it by its plan p.
func (k *kernels[T, F]) fftwPlan(t *device.DFT, p *fourierPlan[F]) *fftwPlan {
	var one F
	w, bytes, threads := k.fftw, int(unsafe.Sizeof(one)), len(p.scratch)
	if samples, _ := t.Sizes(); samples == 0 || samples > maxFFTW || w.mode == FFTWAuto && !fftwFaster(t, bytes, threads, fft.VectorBits()) || w.look(bytes).path == "" {
		return nil
	}
	key := fftwKey{fmt.Sprint(t.Dims, t.Axes), t.Real, w.mode, bytes, threads}
	fftwPlans.Lock()
	defer fftwPlans.Unlock()
	if f, ok := fftwPlans.made[key]; ok {
		return f
	}
	if len(fftwPlans.made) >= maxFFTWPlans {
		return nil
	}
	f := k.newFFTW(t, p)
	fftwPlans.made[key] = f
	return f
}

// newFFTW makes a plan, and tries it if that is wanted.
func (k *kernels[T, F]) newFFTW(t *device.DFT, p *fourierPlan[F]) *fftwPlan {
	samples, coefficients := t.Sizes()
	if !t.Real {
		samples *= 2
	}
	x, y := aligned[F](samples), aligned[F](2*coefficients)
	w := k.fftw
	const measure, estimate = 0, 1 << 6
	effort := uintptr(estimate)
	if w.mode == FFTWMeasure {
		effort = measure
	}
	inner, outer := fftwDims(t)
	call := func(kind int, from, to []F, dims []fftwDim, rest ...uintptr) uintptr {
		args := append([]uintptr{uintptr(len(t.Axes)), dl.Pointer(&dims[0]), uintptr(len(dims) - len(t.Axes)),
			dl.Pointer(&dims[len(t.Axes)%len(dims)]), dl.Pointer(&from[0]), dl.Pointer(&to[0])}, rest...)
		at := w.plan[kind].CallPointer(args...)
		runtime.KeepAlive(dims)
		return at
	}
	f := &fftwPlan{lib: w, real: t.Real}
	dims := append(inner, outer...)
	if t.Real {
		f.plans[0] = call(fftwForward, x, y, dims, effort)
		for i := range dims {
			dims[i].in, dims[i].out = dims[i].out, dims[i].in
		}
		f.plans[1] = call(fftwBackward, y, x, dims, effort)
	} else {
		const forward, inverse = math.MaxUint32, 1 // signs of the exponent, in 32 bits
		f.plans[0] = call(fftwComplex, x, y, dims, forward, effort)
		f.plans[1] = call(fftwComplex, x, y, dims, inverse, effort)
	}
	if f.plans[0] != 0 && f.plans[1] != 0 && (w.mode != FFTWMeasure || k.fftwWins(f, p, y, x)) {
		return f
	}
	for _, at := range f.plans {
		if at != 0 {
			w.drop.Call(at)
		}
	}
	return nil
}

// fftwDim is an axis as FFTW wants it.
type fftwDim struct{ n, in, out int64 }

// fftwDims returns the axes that are transformed, and the others.
func fftwDims(t *device.DFT) (inner, outer []fftwDim) {
	in, out := int64(1), int64(1)
	all := make([]fftwDim, len(t.Dims))
	to := t.Coefficients()
	for a := len(t.Dims) - 1; a >= 0; a-- {
		all[a] = fftwDim{int64(t.Dims[a]), in, out}
		in, out = in*int64(t.Dims[a]), out*int64(to[a])
	}
	for _, a := range t.Axes {
		inner = append(inner, all[a])
	}
	for a, d := range all {
		if !slices.Contains(t.Axes, a) {
			outer = append(outer, d)
		}
	}
	return inner, outer
}

// aligned returns memory that begins at a multiple of 16 bytes.
func aligned[F float](n int) []F {
	x := make([]F, n+4)
	for uintptr(unsafe.Pointer(&x[0]))%16 != 0 {
		x = x[1:]
	}
	return x[:n]
}

// fftwWins tries both engines in turns.
func (k *kernels[T, F]) fftwWins(f *fftwPlan, p *fourierPlan[F], dst, src []F) bool {
	clear(src)
	way := complexForward
	if f.real {
		way = realForward
	}
	took := func(calls int, one func()) time.Duration {
		start := time.Now()
		for range calls {
			one()
		}
		return time.Since(start)
	}
	mine := func() { k.fourierPhases(p, dst, src, way) }
	theirs := func() { f.run(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), way) }
	calls := 1
	for took(calls, mine) < 20*time.Microsecond {
		calls *= 2
	}
	best := [2]time.Duration{time.Hour, time.Hour}
	for range 7 {
		best[0] = min(best[0], took(calls, mine))
		best[1] = min(best[1], took(calls, theirs))
	}
	return best[1] < best[0]
}

// fits reports whether memory is as planned.
func (f *fftwPlan) fits(dst, src unsafe.Pointer) bool {
	return f != nil && dst != src && (uintptr(dst)|uintptr(src))%16 == 0
}

// run transforms src to dst.
func (f *fftwPlan) run(dst, src unsafe.Pointer, way fourierWay) {
	kind, plan := fftwComplex, f.plans[0]
	switch way {
	case complexInverse:
		plan = f.plans[1]
	case realForward:
		kind = fftwForward
	case realInverse:
		kind, plan = fftwBackward, f.plans[1]
	}
	f.lib.run[kind].Call(plan, uintptr(src), uintptr(dst))
}
