package golops

import "github.com/golops/golops/ops/wave"

// Kirchhoff returns Kirchhoff modelling with image and data whole on every rank. It
// is meant for one rank, World.Alone.
func Kirchhoff[T Scalar](w *World, k wave.KirchhoffOptions) Op[T, T] {
	return Op[T, T]{w, Must(wave.Kirchhoff[T](w.Context(), w.proc, k)), named("Kirchhoff")}
}

// KirchhoffBySource returns Kirchhoff modelling with the sources spread over the ranks.
// Every rank holds the whole image; the data are split by source.
func KirchhoffBySource[T Scalar](w *World, k wave.KirchhoffOptions) Op[T, T] {
	return Op[T, T]{w, Must(wave.KirchhoffBySource[T](w.Context(), w.proc, k)), named("KirchhoffBySource")}
}

// KirchhoffByModel returns Kirchhoff modelling with the image spread over the ranks along
// its first axis. Every rank holds all data.
func KirchhoffByModel[T Scalar](w *World, k wave.KirchhoffOptions) Op[T, T] {
	return Op[T, T]{w, Must(wave.KirchhoffByModel[T](w.Context(), w.proc, k)), named("KirchhoffByModel")}
}

// MDC returns the multi-dimensional convolution of wavefields with a kernel g, given by
// its frequencies: see wave.MDC. It keeps g.
func MDC[C, R Scalar](g Vec[C], x Space[R], o ...wave.MDCOptions) Op[R, R] {
	if g.Space().World() != x.World() {
		apart("multi-dimensional convolution", g.Space(), x)
	}
	return Op[R, R]{x.w, Must(wave.MDC[C, R](x.ctx(), g.a, x.s, option(o, wave.MDCDefaults()))), named("MDC")}
}

// MDCKernel makes the kernel that MDC takes of its samples from time zero on, with the
// axes time, source and receiver: golops.MDCKernel[complex64](x) for an x of float32.
func MDCKernel[C, R Scalar](x Space[R], o ...wave.MDCKernelOptions) Op[R, C] {
	return Op[R, C]{x.w, Must(wave.MDCKernel[C, R](x.ctx(), x.s, option(o, wave.MDCKernelOptions{}))), named("MDCKernel")}
}
