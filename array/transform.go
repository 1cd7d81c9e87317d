package array

import (
	"fmt"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// A function in this file returns device.ErrUnsupported where the device lacks its
// kernel.

// PlanFFT makes what transforms of t on the device of a need; see device.Fourier.
func PlanFFT[T scalar.Scalar](a Array[T], t *device.DFT) error {
	a.made("PlanFFT")
	must("PlanFFT", t.Check())
	return device.PlanFFT(a.k, t)
}

// FFT sets dst to the transform of src, or to the inverse times the product of the
// extents. dst may be src. See device.DFT.
func FFT[T scalar.Scalar](dst, src Array[T], t *device.DFT, inverse bool) error {
	same("FFT", &dst, &src)
	n, _ := sizesOf("FFT", t, false)
	dst.holds("FFT", "dst", n, dst.dev)
	return device.FFT(dst.k, dst.mem, src.mem, t, inverse)
}

// RFFT sets dst to the transform of a real block. F is the real type of T.
func RFFT[T, F scalar.Scalar](dst Array[T], src Array[F], t *device.DFT) error {
	samples, coefficients := sizesOf("RFFT", t, true)
	dst.holds("RFFT", "dst", coefficients, dst.dev)
	src.holds("RFFT", "src", samples, dst.dev)
	return device.RFFT(dst.k, dst.mem, src.mem, t)
}

// IRFFT is the inverse of RFFT times the product of the extents. It may overwrite src.
func IRFFT[T, F scalar.Scalar](dst Array[F], src Array[T], t *device.DFT) error {
	samples, coefficients := sizesOf("IRFFT", t, true)
	dst.holds("IRFFT", "dst", samples, src.dev)
	src.holds("IRFFT", "src", coefficients, src.dev)
	return device.IRFFT(src.k, dst.mem, src.mem, t)
}

// sizesOf returns the elements of both sides of a transform of real or complex blocks.
func sizesOf(op string, t *device.DFT, real bool) (samples, coefficients int) {
	must(op, t.Check())
	if t.Real != real {
		panic(Error{fmt.Sprintf("array: %s: the description has Real=%v", op, t.Real)})
	}
	return t.Sizes()
}

// Spread models traces y from an image x; see device.Kirchhoff.
func Spread[T scalar.Scalar, F float32 | float64](y, x Array[T], t *device.TravelTables[F]) error {
	on("Spread", &y, &x)
	must("Spread", t.Check(x.mem.N, y.mem.N))
	return device.Spread(y.k, y.mem, x.mem, t)
}

// Stack is the adjoint of Spread.
func Stack[T scalar.Scalar, F float32 | float64](x, y Array[T], t *device.TravelTables[F]) error {
	on("Stack", &x, &y)
	must("Stack", t.Check(x.mem.N, y.mem.N))
	return device.Stack(x.k, x.mem, y.mem, t)
}

// Project sets y to the integrals of an image x along rays; see device.Projector.
func Project[T scalar.Scalar](y, x Array[T], r *device.Rays) error {
	on("Project", &y, &x)
	must("Project", r.Check(x.mem.N, y.mem.N))
	return device.Project(y.k, y.mem, x.mem, r)
}

// BackProject is the adjoint of Project.
func BackProject[T scalar.Scalar](x, y Array[T], r *device.Rays) error {
	on("BackProject", &x, &y)
	must("BackProject", r.Check(x.mem.N, y.mem.N))
	return device.BackProject(x.k, x.mem, y.mem, r)
}
