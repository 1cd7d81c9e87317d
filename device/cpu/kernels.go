package cpu

import (
	"fmt"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// kernels is the arithmetic of one element type T, whose components are F: the
// kernels for float32 and complex64 both have loops over float32.
//
// Parameters of a kernel that threads share are fields here, so that a call
// allocates nothing. One goroutine uses a device at a time.
type kernels[T scalar.Scalar, F float] struct {
	device     *Device
	components int // of an element: 1, or 2 if it is complex
	*pool
	partial *partials
	blas    *blas
	fftw    *fftw

	v     vectorArgs[F]
	wd    widenArgs
	sh    shrinkArgs[F]
	r     reduceArgs[F]
	ax    axisArgs[F]
	cp    copyArgs[T]
	bd    bandArgs[T, F]
	tiled bandTiles[F]
	sum   sumArgs[T, F]
	sp    gatherArgs[T, F]
	mv    gemvArgs[F]
	mm    gemmArgs[F]
	bt    batchArgs[T, F]
	bl    blasArgs[T]
	kf    kirchhoffArgs[F]
	rays  rayArgs[F]
	ft    fourierArgs[F]
	moves []move
	loops loops
}

// loops are the bodies of parallel loops. Each is a method value, which only
// the constructor may make: making one allocates.
type loops struct {
	vectorLoops
	sumLoops
	axisLoops
	shrink, shrinkSum                  func(lo, hi int)
	bandTiles, bandSum                 func(lo, hi int)
	copyND, bands, moves, gather       func(lo, hi int)
	gemvRows, gemvColumns, gemvSlabs   func(lo, hi int)
	scaleC, packA, packB, tiles, batch func(lo, hi int)
	spread, correlate, stack           func(lo, hi int)
	padLines, project                  func(lo, hi int)
	backProject, mergeLines            func(lo, hi int)
	fourier                            func(lo, hi int)
}

var (
	_ device.Kernels[float32]    = (*kernels[float32, float32])(nil)
	_ device.Kernels[float64]    = (*kernels[float64, float64])(nil)
	_ device.Kernels[complex64]  = (*kernels[complex64, float32])(nil)
	_ device.Kernels[complex128] = (*kernels[complex128, float64])(nil)
	_ device.Widener             = (*kernels[float64, float64])(nil)

	_ device.StencilSum[float32]        = (*kernels[float32, float32])(nil)
	_ device.BatchMultiplier[complex64] = (*kernels[complex64, float32])(nil)
)

func newKernels[T scalar.Scalar, F float](d *Device, sums *partials) *kernels[T, F] {
	k := &kernels[T, F]{device: d, components: 1, pool: d.pool, partial: sums, blas: d.blas, fftw: &fftw{mode: d.fftw}}
	if scalar.Of[T]().IsComplex() {
		k.components = 2
	}
	k.loops = loops{
		vectorLoops: k.makeVectorLoops(), sumLoops: k.makeSumLoops(), axisLoops: k.makeAxisLoops(),
		shrink: k.shrinkPart, shrinkSum: k.shrinkSumPart,
		copyND: k.copyNDPart, bands: k.bandsPart, bandTiles: k.bandTilesPart, bandSum: k.bandSumPart, moves: k.movesPart, gather: k.gatherPart,
		gemvRows: k.gemvRowsPart, gemvColumns: k.gemvColumnsPart, gemvSlabs: k.gemvSlabsPart,
		scaleC: k.scaleCPart, packA: k.packAPart, packB: k.packBPart, tiles: k.tilesPart, batch: k.batchPart,
		spread: k.spreadPart, correlate: k.correlatePart, stack: k.stackPart,
		padLines: k.padLinesPart, project: k.projectPart, backProject: k.backProjectPart, mergeLines: k.mergeLinesPart,
		fourier: k.fourierPart,
	}
	return k
}

// close leaves the library to the collector. The pool, which is closed too, makes
// all loops panic.
func (k *kernels[T, F]) close() { k.blas = &blas{opened: true} }

func (k *kernels[T, F]) Alloc(n int) (device.Mem[T], error) {
	if k.workers == closed {
		return device.Mem[T]{}, errClosed
	}
	x, err := device.Make[T](n)
	if err != nil {
		return device.Mem[T]{}, fmt.Errorf("cpu: alloc %d %v: %w", n, scalar.Of[T](), err)
	}
	return memOf(x), nil
}

// Free leaves the memory to the collector.
func (k *kernels[T, F]) Free(device.Mem[T]) {}

func (k *kernels[T, F]) Slice(m device.Mem[T], lo, hi int) device.Mem[T] {
	return memOf(m.Host[lo:hi:hi])
}

func (k *kernels[T, F]) CopyIn(dst device.Mem[T], src []T) error {
	if k.workers == closed {
		return errClosed
	}
	k.Copy(dst, memOf(src))
	return nil
}

func (k *kernels[T, F]) CopyOut(dst []T, src device.Mem[T]) error {
	if k.workers == closed {
		return errClosed
	}
	k.Copy(memOf(dst), src)
	return nil
}
