package cpu

import (
	"sync/atomic"

	"github.com/golops/golops/device"
)

// kirchhoffArgs are the parameters of Spread and Stack.
type kirchhoffArgs[F float] struct {
	image, traces []F
	components    int // of an element
	t             *device.TravelTables[F]
	plan          *travelPlan[F]
	blocks        traceBlocks
	grain         int          // image points that a thread of Stack takes, at most a tile
	next          atomic.Int64 // the next piece of work
}

var (
	_ device.Kirchhoff[float32, float32]    = (*kernels[float32, float32])(nil)
	_ device.Kirchhoff[complex128, float64] = (*kernels[complex128, float64])(nil)
)

// A block is up to blockSides sources and receivers. All its traces are computed for
// one tile of image points before the next, so that their tables are read from memory
// once, and otherwise from the second cache.
var blockSides = [2]int{16, 4}

// pointTile is how many image points are in a tile.
const pointTile = 1024

// Spread implements device.Kirchhoff. Threads take blocks of traces, and share
// nothing.
func (k *kernels[T, F]) Spread(y, x device.Mem[T], t *device.TravelTables[F]) {
	a := k.beginKirchhoff(x, y, t)
	a.blocks = a.plan.blocks
	k.eachThread(k.loops.spread)
	k.endKirchhoff()
}

// Stack implements device.Kirchhoff. Threads share no image points. The order in
// which traces are added does not depend on threads.
func (k *kernels[T, F]) Stack(x, y device.Mem[T], t *device.TravelTables[F]) {
	a := k.beginKirchhoff(x, y, t)
	if len(t.Wavelet) > 0 {
		if a.plan.filtered == nil {
			a.plan.filtered = make([]F, len(a.traces))
		}
		k.eachThread(k.loops.correlate)
		a.traces = a.plan.filtered
	}
	a.blocks = newTraceBlocks(t.Sources, t.Receivers)
	a.grain = min(pointTile, t.Points/(4*len(a.plan.threads))&^7+8) // whole registers, so that results do not depend on threads
	k.eachThread(k.loops.stack)
	k.endKirchhoff()
}

func (k *kernels[T, F]) beginKirchhoff(x, y device.Mem[T], t *device.TravelTables[F]) *kirchhoffArgs[F] {
	a := &k.kf
	a.image, a.traces, a.components, a.t = k.flat(x), k.flat(y), k.components, t
	if a.plan, _ = t.Cache.Get(k.device).(*travelPlan[F]); a.plan == nil {
		a.plan = newTravelPlan(t, max(k.workers, 0)+1, k.components)
		t.Cache.Set(k.device, a.plan, nil)
	}
	return a
}

// endKirchhoff forgets the arguments, so that their memory can be freed.
func (k *kernels[T, F]) endKirchhoff() {
	k.kf.image, k.kf.traces, k.kf.t, k.kf.plan = nil, nil, nil, nil
}

// eachThread calls body once per thread. It takes pieces of work until none is left.
func (k *kernels[T, F]) eachThread(body func(lo, hi int)) {
	k.kf.next.Store(0)
	k.run(len(k.kf.plan.threads), 1, body)
}

// claim returns a piece of work that no thread has taken yet.
func (a *kirchhoffArgs[F]) claim() int { return int(a.next.Add(1) - 1) }

// traceBlocks divides sources × receivers into blocks of about the same size.
type traceBlocks struct{ all, parts [2]int }

func newTraceBlocks(sources, receivers int) traceBlocks {
	b := traceBlocks{all: [2]int{sources, receivers}}
	for i, side := range blockSides {
		b.parts[i] = (b.all[i] + side - 1) / side
	}
	return b
}

func (b *traceBlocks) number() int { return b.parts[0] * b.parts[1] }

// largest returns the most traces of a block.
func (b *traceBlocks) largest() int {
	n := 1
	for i, parts := range b.parts {
		n *= (b.all[i] + max(parts, 1) - 1) / max(parts, 1)
	}
	return n
}

// halve makes blocks smaller along their longer side. It returns false if they
// are single traces.
func (b *traceBlocks) halve() bool {
	i := 0
	if b.all[1]*b.parts[0] > b.all[0]*b.parts[1] {
		i = 1
	}
	before := b.parts[i]
	b.parts[i] = min(2*before, b.all[i])
	return b.parts[i] > before
}

// at returns block i: from which source and receiver to which.
func (b *traceBlocks) at(i int) (lo, hi [2]int) {
	for side, part := range [2]int{i / b.parts[1], i % b.parts[1]} {
		lo[side] = part * b.all[side] / b.parts[side]
		hi[side] = (part + 1) * b.all[side] / b.parts[side]
	}
	return lo, hi
}

func (k *kernels[T, F]) spreadPart(lo, hi int) {
	a := &k.kf
	for thread := lo; thread < hi; thread++ {
		s := &a.plan.threads[thread]
		for b := a.claim(); b < a.blocks.number(); b = a.claim() {
			lo, hi := a.blocks.at(b)
			a.spreadBlock(s, lo, hi)
		}
	}
}

// spreadBlock computes the traces of a block.
func (a *kirchhoffArgs[F]) spreadBlock(s *traceScratch[F], lo, hi [2]int) {
	clear(s.sums)
	for i := 0; i < a.t.Points; i += pointTile {
		a.spreadGroup(s, pairGroup{lo, hi, i, min(i+pointTile, a.t.Points)})
	}
	sums := s.sums
	for p := range (pairGroup{lo, hi, 0, 1}).pairs(a.t.Receivers) {
		addSums(s.inner(a.plan.length), sums, a.components)
		s.filter(a.plan.traceOf(a.traces, p), a.t.Wavelet, convolve)
		sums = sums[a.plan.stride:]
	}
}

func (k *kernels[T, F]) correlatePart(lo, hi int) {
	a := &k.kf
	for thread := lo; thread < hi; thread++ {
		s := &a.plan.threads[thread]
		for p := a.claim(); p < a.t.Sources*a.t.Receivers; p = a.claim() {
			copy(s.inner(a.plan.length), a.plan.traceOf(a.traces, p))
			s.filter(a.plan.traceOf(a.plan.filtered, p), a.t.Wavelet, correlate)
		}
	}
}

func (k *kernels[T, F]) stackPart(lo, hi int) {
	a := &k.kf
	for thread := lo; thread < hi; thread++ {
		s := &a.plan.threads[thread]
		for lo := a.claim() * a.grain; lo < a.t.Points; lo = a.claim() * a.grain {
			hi := min(lo+a.grain, a.t.Points)
			clear(a.image[lo*k.components : hi*k.components])
			for b := range a.blocks.number() {
				from, to := a.blocks.at(b)
				a.stackGroup(s, pairGroup{from, to, lo, hi})
			}
		}
	}
}
