package perf

import (
	"context"
	"errors"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// The extents of what rates measures: arrays larger than caches, and matrices and lines
// that are as fast as larger ones.
var (
	copyBlock = [3]int{256, 256, 256} // elements of a float32 array
	gemmRows  = 384
	fftLine   = 4096
	fftLines  = 64

	surveyShrink = 1
)

// rates measures copies, matrix products and Fourier transforms, on all ranks at once.
func (m *roofer) rates(ctx context.Context) error {
	c := &m.roof.Machine
	c.Gemm = map[string]float64{}
	k, err := device.KernelsFor[float32](m.r.Device)
	if err != nil {
		return err
	}
	w := &workshop[float32]{k: k, elem: 4, mul: 2}
	if c.Copy, err = rate(ctx, m, w, func() (work, error) { return w.copies(copyBlock) }); err != nil {
		return err
	}
	if err := errors.Join(gemmRate[float32](ctx, m), gemmRate[float64](ctx, m), gemmRate[complex64](ctx, m), gemmRate[complex128](ctx, m)); err != nil {
		return err
	}
	if err := errors.Join(pairRate[float32](ctx, m), pairRate[float64](ctx, m)); err != nil {
		return err
	}
	kc, err := device.KernelsFor[complex64](m.r.Device)
	if err != nil {
		return err
	}
	f := &workshop[complex64]{k: kc, elem: 8}
	c.FFT, err = rate(ctx, m, f, func() (work, error) { return fft(f, []int{fftLine}, fftLines) })
	if errors.Is(err, device.ErrUnsupported) { // on all ranks, which have the same device
		c.FFT, err = 0, nil
	}
	return err
}

func gemmRate[T scalar.Scalar](ctx context.Context, m *roofer) (err error) {
	k, err := device.KernelsFor[T](m.r.Device)
	if err != nil {
		return err
	}
	dt := scalar.Of[T]()
	w := &workshop[T]{k: k, elem: float64(dt.Size()), mul: 2}
	if dt.IsComplex() {
		w.mul = 8
	}
	m.roof.Machine.Gemm[dt.String()], err = rate(ctx, m, w, func() (work, error) { return w.gemm(gemmRows) })
	return err
}

// pairRate measures Kirchhoff modelling and migration.
func pairRate[F float32 | float64](ctx context.Context, m *roofer) error {
	k, err := device.KernelsFor[F](m.r.Device)
	if err != nil {
		return err
	}
	w := &workshop[F]{k: k}
	seconds := 0.0
	for _, name := range []string{"kirchhoff spread", "kirchhoff stack"} {
		r, err := rate(ctx, m, w, func() (work, error) { return kirchhoff[F, F](w, newSurvey(surveyShrink), name) })
		if err != nil {
			return err
		}
		seconds += pairOps / r / 2
	}
	if m.roof.Machine.Pairs == nil {
		m.roof.Machine.Pairs = map[string]float64{}
	}
	m.roof.Machine.Pairs[scalar.Of[F]().String()] = 1 / seconds
	return nil
}

// rate returns the operations of a work per second, or its bytes if it has none, on the
// slowest rank.
func rate[T scalar.Scalar](ctx context.Context, m *roofer, w *workshop[T], make func() (work, error)) (float64, error) {
	defer w.clear()
	job, err := make()
	if err := comm.Agree(ctx, m.r.Comm, err); err != nil {
		return 0, err
	}
	s, err := rounds{n: m.cfg.Rounds, loop: 2 * time.Millisecond}.best(ctx, m.r.Comm, func(ctx context.Context) error {
		if err := job.run(); err != nil {
			return err
		}
		return m.r.Device.Sync(ctx)
	})
	if err != nil {
		return 0, err
	}
	if job.flops > 0 {
		return job.flops / s[0], nil
	}
	return job.bytes / s[0], nil
}
