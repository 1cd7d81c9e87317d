package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// kase is one row or several of the table in issue 5: a problem, and steps of it
// that are timed.
type kase struct {
	name  string
	build func(ctx context.Context, r dist.Proc) ([]step, error)
}

// step is one thing to time, with what the peer needs and golops may, in ms.
type step struct {
	name        string
	peer, limit float64
	per         int // so many of what is counted are done in a call
	reads           // may be zero
	run         func(ctx context.Context) error
}

// reads are the bytes that a call reads, and those that the device can read in a second.
type reads struct{ bytes, most float64 }

func cases(shrink int) []kase {
	s := shrink
	block := []int{512 / s, 512 / s, 256 / s}
	return []kase{
		{"dot", func(ctx context.Context, r dist.Proc) ([]step, error) { return dot(ctx, r, block[0]*block[1]*block[2]) }},
		{"FirstDerivative", func(ctx context.Context, r dist.Proc) ([]step, error) {
			return derivative(ctx, r, block, [2]float64{4.0, 4.8}, 0.25, func(x *dist.Space) (linop.Operator[float32], error) {
				return ops.FirstDerivative[float32](ctx, x, 0, ops.DerivativeDefaults())
			})
		}},
		{"Laplacian", func(ctx context.Context, r dist.Proc) ([]step, error) {
			return derivative(ctx, r, block, [2]float64{12.6, 14.2}, 0.30, func(x *dist.Space) (linop.Operator[float32], error) {
				return ops.Laplacian[float32](ctx, x, ops.LaplacianOptions{Axes: []int{0, 1, 2}})
			})
		}},
		migration(survey{81, 60, 11, 10, 651}, s, 100, [3]float64{3.2, 3.0, 1120}, [3]float64{0.3, 0.3, 80}),
		migration(survey{201, 150, 51, 16, 651}, s, 20, [3]float64{17.6, 17.1, 930}, [3]float64{1.5, 1.5, 70}),
		migration(survey{401, 300, 101, 32, 1001}, s, 10, [3]float64{73, 115, 2270}, [3]float64{8, 8, 200}),
		{"matrix product float32", func(ctx context.Context, r dist.Proc) ([]step, error) {
			return product[float32](ctx, r, 4096/s, 156, 3.5)
		}},
		{"matrix product complex64", func(ctx context.Context, r dist.Proc) ([]step, error) {
			return product[complex64](ctx, r, 4096/s, 367, 13)
		}},
		{"product on a grid float32", func(ctx context.Context, r dist.Proc) ([]step, error) {
			return gridProduct[float32](ctx, r, max(16, 8192/s/s), 21.5, 22.6)
		}},
		{"product on a grid complex64", func(ctx context.Context, r dist.Proc) ([]step, error) {
			return gridProduct[complex64](ctx, r, max(16, 8192/s/s), 79.4, 83.6)
		}},
		{"Fredholm complex64", func(ctx context.Context, r dist.Proc) ([]step, error) { return fredholm(ctx, r, 256/s, 64/s) }},
		{"FFT complex64", func(ctx context.Context, r dist.Proc) ([]step, error) { return transform(ctx, r, 256/s) }},
		{"MDC", func(ctx context.Context, r dist.Proc) ([]step, error) { return deconvolution(ctx, r, 256/s, 64/s) }},
		{"ct float32", func(ctx context.Context, r dist.Proc) ([]step, error) { return tomography(ctx, r, 1024/s, 720/s) }},
		{"CG", func(ctx context.Context, r dist.Proc) ([]step, error) {
			return solver(ctx, r, &solve.CG[float32]{}, 64, 100, 1.7, 0.05)
		}},
		{"CGLS", func(ctx context.Context, r dist.Proc) ([]step, error) {
			return solver(ctx, r, &solve.CGLS[float32, float32]{}, max(64, 4096/s), 50, 5.3, 0.15)
		}},
		{"FISTA", func(ctx context.Context, r dist.Proc) ([]step, error) {
			n := max(64, 4096/s) // ‖A‖² is about 1.5·n
			m := &solve.FISTA[float32, float32]{Shrinkage: solve.Shrinkage[float32]{Eps: 0.1, Alpha: 0.6 / float64(n)}}
			return solver(ctx, r, m, n, 100, 4.92, 0.15)
		}},
	}
}

// of returns an array with every element v.
func of[T scalar.Scalar](s *dist.Space, v float64) (dist.Array[T], error) {
	a, err := dist.New[T](s)
	if err == nil {
		dist.Fill(a, scalar.From[T](complex(v, 0)))
	}
	return a, err
}

func dot(ctx context.Context, r dist.Proc, n int) ([]step, error) {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, n)
	if err != nil {
		return nil, err
	}
	x, err := of[float32](s, 0.5)
	if err != nil {
		return nil, err
	}
	y, err := of[float32](s, 0.25)
	return []step{{fmt.Sprintf("%d elements", n), 1.11, 0.16, 1, reads{}, func(ctx context.Context) error {
		d, err := dist.Dot(ctx, x, y)
		if want := float32(n) / 8; err == nil && d != want {
			return fmt.Errorf("dot is %g, want %g", d, want)
		}
		return err
	}}}, err
}

func derivative(ctx context.Context, r dist.Proc, block []int, peer [2]float64, limit float64, make func(*dist.Space) (linop.Operator[float32], error)) ([]step, error) {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, block...)
	if err != nil {
		return nil, err
	}
	op, err := make(s)
	if err != nil {
		return nil, err
	}
	x, err := of[float32](s, 0.5)
	if err != nil {
		return nil, err
	}
	y, err := of[float32](s, 0.25)
	return both(op, x, y, fmt.Sprint(block), peer, [2]float64{limit, limit}), err
}

// both are an operator and its adjoint.
func both[T scalar.Scalar](op linop.Operator[T], x, y dist.Array[T], size string, peer, limit [2]float64) []step {
	return []step{
		{size + ", forward", peer[0], limit[0], 1, reads{}, func(ctx context.Context) error { return op.Forward(ctx, y, x) }},
		{size + ", adjoint", peer[1], limit[1], 1, reads{}, func(ctx context.Context) error { return op.Adjoint(ctx, x, y) }},
	}
}

// random returns n numbers of either sign: a processor draws less power on zeros.
func random[T scalar.Scalar](n int) []T {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	v := make([]T, n)
	for i := range v {
		v[i] = scalar.From[T](complex(rnd.Float64()-0.5, rnd.Float64()-0.5))
	}
	return v
}

func product[T scalar.Scalar](ctx context.Context, r dist.Proc, n int, peer, limit float64) ([]step, error) {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, n, n)
	if err != nil {
		return nil, err
	}
	op, err := ops.MatrixMult(ctx, s, n, random[T](n*n))
	if err != nil {
		return nil, err
	}
	x, err := dist.New[T](s)
	if err != nil {
		return nil, err
	}
	if err := x.Local().CopyIn(random[T](n * n)); err != nil {
		return nil, err
	}
	y, err := dist.New[T](op.Range())
	return both(op, x, y, fmt.Sprintf("%d^3", n), [2]float64{peer}, [2]float64{limit})[:1], err
}

// gridProduct is the product of matrices that are both split along both axes. The peer
// is CuPy, which multiplies alone.
func gridProduct[T scalar.Scalar](ctx context.Context, r dist.Proc, n int, peer, limit float64) ([]step, error) {
	s, err := dist.NewSpace(ctx, r, dist.Layout{Grid: []int{1, r.Size()}, Axes: []int{0, 1}}, n, n)
	if err != nil {
		return nil, err
	}
	a, err := noise[T](s)
	if err != nil {
		return nil, err
	}
	op, err := ops.Product[T](ctx, a, s, ops.ProductOptions{})
	if err != nil {
		return nil, err
	}
	return waiting(op, fmt.Sprintf("%d^3", n), peer, limit, limit)
}

// fredholm multiplies n matrices of n × n by as many of n × columns. The peer is
// PyLops-MPI; the limits are CuPy's product alone.
func fredholm(ctx context.Context, r dist.Proc, n, columns int) ([]step, error) {
	kernel, err := dist.NewSpace(ctx, r, dist.Layout{}, n, n, n)
	if err != nil {
		return nil, err
	}
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, n, n, columns)
	if err != nil {
		return nil, err
	}
	g, err := noise[complex64](kernel)
	if err != nil {
		return nil, err
	}
	op, err := ops.Fredholm1[complex64](ctx, g, x, ops.ProductOptions{})
	if err != nil {
		return nil, err
	}
	return waiting(op, fmt.Sprintf("%d of %dx%d by %d", n, n, n, columns), 0.39, 0.207, 0.185)
}

// transform is the Fourier transform of n × n × n numbers. The peer is CuPy, which calls
// cuFFT alone.
func transform(ctx context.Context, r dist.Proc, n int) ([]step, error) {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, n, n, n)
	if err != nil {
		return nil, err
	}
	op, err := ops.FFTND[complex64](ctx, s, []int{0, 1, 2}, ops.FFTOptions{})
	if err != nil {
		return nil, err
	}
	return waiting(op, fmt.Sprintf("%d^3", n), 0.243, 0.27, 0.256)
}

// deconvolution has n frequencies of n × n and virtual sources v, in float32.
func deconvolution(ctx context.Context, r dist.Proc, n, v int) ([]step, error) {
	const iterations = 10
	x, err := dist.NewSpace(ctx, r, dist.Split(2), 2*n+1, n, v)
	if err != nil {
		return nil, err
	}
	kernel, err := x.Like(dist.Split(0), n, n, n)
	if err != nil {
		return nil, err
	}
	g, err := noise[complex64](kernel)
	if err != nil {
		return nil, err
	}
	op, err := wave.MDC[complex64, float32](ctx, g, x, wave.MDCOptions{Prescaled: true, TwoSided: true})
	if err != nil {
		return nil, err
	}
	m, err := noise[float32](op.Domain())
	if err != nil {
		return nil, err
	}
	data, err := linop.Apply(ctx, op, m)
	if err != nil {
		return nil, err
	}
	w, err := solve.NewWorkspace(solve.Problem[float32, float32]{A: op, B: data}, m, 0)
	if err != nil {
		return nil, err
	}
	u, err := noise[float32](op.Range())
	if err != nil {
		return nil, err
	}
	z, err := noise[float32](op.Domain())
	size := fmt.Sprintf("%d of %dx%d by %d, nt %d", n, n, n, v, 2*n+1)
	method := &solve.CGLS[float32, float32]{}
	return append(both(op, z, u, size, [2]float64{14.4, 14.5}, [2]float64{1.5, 1.5}),
		step{size + fmt.Sprintf(", %d CGLS", iterations), 408, 40, 1, reads{}, func(ctx context.Context) error {
			dist.Zero(m)
			return iterate(ctx, method, w, iterations)
		}}), err
}

// tomography is the projector of n × n pixels with n detectors, which must not take longer
// than ASTRA 2.5.0 (perf/peer/py/astra_gpu.py) does. The limit of the hardware is the first
// cache of an H200, 132 processors of 128 bytes in each of 1.98e9 cycles: rays read two
// pixels on each line.
func tomography(ctx context.Context, r dist.Proc, n, views int) ([]step, error) {
	const cache = 132 * 128 * 1.98e9
	x, err := dist.NewSpace(ctx, r, dist.Replicated, n, n)
	if err != nil {
		return nil, err
	}
	y, err := x.Like(dist.Split(0), views, n)
	if err != nil {
		return nil, err
	}
	o := ops.ProjectorDefaults(make([]float64, views))
	for i := range o.Angles {
		o.Angles[i] = float64(i) * math.Pi / float64(views)
	}
	op, err := ops.Projector[float32](ctx, x, y, o)
	if err != nil {
		return nil, err
	}
	image, err := noise[float32](x)
	if err != nil {
		return nil, err
	}
	data, err := noise[float32](y)
	bytes := 2 * 4 * float64(n) * float64(n) * float64(views)
	steps := both(op, image, data, fmt.Sprintf("%dx%d, %d views", n, n, views), [2]float64{}, [2]float64{3.3, 2.8})
	for i := range steps {
		steps[i].reads = reads{bytes, cache}
	}
	return steps, err
}

// noise returns an array of random numbers.
func noise[T scalar.Scalar](s *dist.Space) (dist.Array[T], error) {
	a, err := dist.New[T](s)
	if err == nil {
		err = a.Local().CopyIn(random[T](s.LocalShape().Size()))
	}
	return a, err
}

// together is how many applications a step makes that are waited for once.
const together = 20

// waiting are an operator and its adjoint, each waited for, and many of them waited for
// at their end, which has a limit of its own.
func waiting[T scalar.Scalar](op linop.Operator[T], size string, peer, limit, atOnce float64) ([]step, error) {
	x, err := noise[T](op.Domain())
	if err != nil {
		return nil, err
	}
	y, err := noise[T](op.Range())
	steps := both(op, x, y, size, [2]float64{peer, peer}, [2]float64{limit, limit})
	for _, s := range steps[:2] {
		steps = append(steps, step{s.name + fmt.Sprintf(", %d at once", together), peer, atOnce, together, reads{}, func(ctx context.Context) error {
			for range together {
				if err := s.run(ctx); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	return steps, err
}

// solver iterates on one block, a symmetric positive matrix with a condition that
// keeps residuals from vanishing in so many steps.
func solver(ctx context.Context, r dist.Proc, m solve.Method[float32, float32], n, steps int, peer, limit float64) ([]step, error) {
	a := random[float32](n * n)
	for i := range n {
		for j := range i {
			a[i*n+j] = a[j*n+i]
		}
		a[i*n+i] = float32(0.65 * math.Sqrt(float64(n)))
	}
	s, err := dist.NewSpace(ctx, r.Alone(), dist.Layout{}, n)
	if err != nil {
		return nil, err
	}
	block, err := ops.MatrixMult(ctx, s, n, a)
	if err != nil {
		return nil, err
	}
	op, err := linop.BlockDiagRanks(ctx, r, block)
	if err != nil {
		return nil, err
	}
	b, err := dist.New[float32](op.Range())
	if err != nil {
		return nil, err
	}
	if err := b.Local().CopyIn(random[float32](n)); err != nil {
		return nil, err
	}
	x, err := dist.New[float32](op.Domain())
	if err != nil {
		return nil, err
	}
	w, err := solve.NewWorkspace(solve.Problem[float32, float32]{A: op, B: b}, x, 0)
	name := fmt.Sprintf("%dx%d block, per iteration", n, n)
	return []step{{name, peer, limit, steps, reads{}, func(ctx context.Context) error {
		dist.Zero(x)
		return iterate(ctx, m, w, steps)
	}}}, err
}

// iterate makes the given number of steps, whether or not they bring anything: a
// method that has converged goes on.
func iterate(ctx context.Context, m solve.Method[float32, float32], w *solve.Workspace[float32, float32], steps int) error {
	if _, err := w.Start(ctx, m); err != nil {
		return err
	}
	for range steps {
		if _, err := m.Step(ctx, w); err != nil {
			return err
		}
	}
	return nil
}
