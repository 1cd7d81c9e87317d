package ops_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(projectorTest[float32], projectorTest[float64], projectorTest[complex64], projectorTest[complex128])

func projectorTest[T scalar.Scalar]() operatorTest[T] {
	angles := []float64{0, 0.3, math.Pi / 4, 1.2, math.Pi / 2, 2.2, 3, -1}
	parallel, fine, coarse := ops.ProjectorDefaults(angles), ops.ProjectorDefaults(angles), ops.ProjectorDefaults(angles)
	fine.Spacing, fine.Shift = 0.35, -1.1
	coarse.Pixel, coarse.Spacing = 0.5, 1.75
	near := ops.ProjectorDefaults(angles)
	near.Source, near.Detector, near.Shift = 6.5, 1, 0.4
	bad := func(name string, change func(o *ops.ProjectorOptions), want ...string) badCase[T] {
		return badCase[T]{name, func(ctx ctxt, x space, _ int) (op[T], error) {
			o := ops.ProjectorDefaults(angles)
			change(&o)
			return project[T](ctx, x, []int{6, 7}, 9, o)
		}, want}
	}
	return operatorTest[T]{
		forms: []form[T]{
			projection[T]("projector", []int{6, 7}, 9, parallel), projection[T]("projector, fine", []int{5, 4}, 11, fine),
			projection[T]("projector, coarse", []int{9, 3}, 4, coarse), projection[T]("projector, near", []int{7, 6}, 13, near),
		},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.Projector[T](ctx, nil, nil, parallel) },
		bad: []badCase[T]{
			bad("projector pixel", func(o *ops.ProjectorOptions) { o.Pixel = 0 }, "projector", "Pixel is 0"),
			bad("projector spacing", func(o *ops.ProjectorOptions) { o.Spacing = math.NaN() }, "Spacing is NaN"),
			bad("projector source", func(o *ops.ProjectorOptions) { o.Source = 5 }, "Source is 5", "outside of the image"),
			bad("projector detector", func(o *ops.ProjectorOptions) { o.Detector = 5 }, "Detector is 5", "parallel"),
			bad("projector shift", func(o *ops.ProjectorOptions) { o.Shift = math.Inf(1) }, "Shift is +Inf"),
			bad("projector angle", func(o *ops.ProjectorOptions) { o.Angles = append(o.Angles[:7:7], math.NaN()) }, "angle 7 is NaN"),
			bad("projector angles", func(o *ops.ProjectorOptions) { o.Angles = o.Angles[:3] }, "3 angles for 8 views"),
			{"projector on rank 1", func(ctx ctxt, x space, me int) (op[T], error) {
				o := parallel
				o.Pixel = float64(onRank1(me, 1, 2))
				return project[T](ctx, x, []int{6, 7}, 9, o)
			}, []string{"projector"}},
			{"projector of a split image", func(ctx ctxt, x space, _ int) (op[T], error) {
				return ops.Projector[T](ctx, x, x, ops.ProjectorDefaults(make([]float64, 7)))
			}, []string{"image is split", "Replicated"}},
			{"projector of split detectors", func(ctx ctxt, x space, _ int) (op[T], error) {
				return on(x, dist.Replicated, []int{6, 6}, func(image space) (op[T], error) {
					return on(x, dist.Split(1), []int{8, 9}, func(data space) (op[T], error) {
						return ops.Projector[T](ctx, image, data, parallel)
					})
				})
			}, []string{"split along detectors"}},
			{"projector of a line", func(ctx ctxt, x space, _ int) (op[T], error) {
				return project[T](ctx, x, []int{6}, 9, parallel)
			}, []string{"need two axes"}},
		},
		extreme: []extremeCase[T]{
			{"projector detectors", func(ctx ctxt, x space, v int) (op[T], error) {
				return project[T](ctx, x, []int{4, 6}, v, ops.ProjectorDefaults([]float64{0.2, 1}))
			}, func(v, _ float64) float64 { return 2 * v }},
		},
	}
}

// project returns the projector of an image of these dims, with views split over ranks.
func project[T scalar.Scalar](ctx ctxt, x space, dims []int, detectors int, o ops.ProjectorOptions) (op[T], error) {
	l := dist.Split(0)
	if x.Replicated() {
		l = dist.Replicated
	}
	return on(x, dist.Replicated, dims, func(image space) (op[T], error) {
		return on(x, l, []int{max(len(o.Angles), 8) / 8 * 8, detectors}, func(data space) (op[T], error) {
			return ops.Projector[T](ctx, image, data, o)
		})
	})
}

func projection[T scalar.Scalar](name string, dims []int, detectors int, o ops.ProjectorOptions) form[T] {
	return form[T]{name, func(ctx ctxt, x space) (op[T], error) { return project[T](ctx, x, dims, detectors, o) },
		func(x func(i ...int) T, dims, i []int) T { return joseph(x, dims, o, o.Angles[i[0]], i[1], detectors) }}
}

// joseph returns the integral of an image along one ray, written down plainly: where
// the ray crosses the middle of each row, or column, the image is linear between two
// pixels.
func joseph[T scalar.Scalar](x func(i ...int) T, dims []int, o ops.ProjectorOptions, angle float64, d, detectors int) (sum T) {
	s := (float64(d)-float64(detectors-1)/2)*o.Spacing + o.Shift
	sin, cos := math.Sin(angle), math.Cos(angle)
	px, py := s*cos-o.Detector*sin, s*sin+o.Detector*cos // the detector
	dx, dy := sin, -cos
	if o.Source > 0 {
		dx, dy = o.Source*sin-px, -o.Source*cos-py
	}
	at := func(row, col int) T {
		if row < 0 || row >= dims[0] || col < 0 || col >= dims[1] {
			return 0
		}
		return x(row, col)
	}
	between := func(v float64, at func(i int) T) T {
		i := math.Floor(v)
		w := v - i
		return scalar.From[T](complex(1-w, 0))*at(int(i)) + scalar.From[T](complex(w, 0))*at(int(i)+1)
	}
	length := math.Hypot(dx, dy) * o.Pixel
	if math.Abs(dx) < math.Abs(dy) {
		for row := range dims[0] {
			y := (float64(dims[0]-1)/2 - float64(row)) * o.Pixel
			col := (px+(y-py)*dx/dy)/o.Pixel + float64(dims[1]-1)/2
			sum += scalar.From[T](complex(length/math.Abs(dy), 0)) * between(col, func(i int) T { return at(row, i) })
		}
		return sum
	}
	for col := range dims[1] {
		x := (float64(col) - float64(dims[1]-1)/2) * o.Pixel
		row := float64(dims[0]-1)/2 - (py+(x-px)*dy/dx)/o.Pixel
		sum += scalar.From[T](complex(length/math.Abs(dx), 0)) * between(row, func(i int) T { return at(i, col) })
	}
	return sum
}

// peerCase is a case of testdata/ct.
type peerCase struct {
	Name, Kind                string
	Rows, Cols, Detectors     int
	Spacing, Source, Detector float64
	Angles, X, Y, U, V        []float64
}

// Projections are those of ASTRA where it has Joseph's method too, and near those of
// other methods, of ASTRA and scikit-image, where the image is smooth. Data are split
// unevenly.
func TestProjectorOfPeers(t *testing.T) {
	text, err := os.ReadFile("../testdata/ct/ct.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Smooth []float64
		Cases  []peerCase
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all.Cases {
		tol := map[string]float64{"linear": 1e-5, "line": 0.04, "strip": 0.02, "radon": 0.02}[c.Kind]
		if c.X == nil {
			c.X = all.Smooth
		}
		for ranks := 1; ranks <= 3; ranks++ {
			err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
				return projectLikePeer(ctx, r, c, tol)
			})
			if err != nil {
				t.Errorf("%s on %d ranks: %v", c.Name, ranks, err)
			}
		}
	}
	if len(all.Cases) < 9 {
		t.Errorf("%d cases", len(all.Cases))
	}
}

func projectLikePeer(ctx context.Context, r dist.Proc, c peerCase, tol float64) error {
	image, err := dist.NewSpace(ctx, r, dist.Replicated, c.Rows, c.Cols)
	if err != nil {
		return err
	}
	counts := make([]int, r.Size())
	counts[0] = 1
	counts[r.Size()-1] += len(c.Angles) - 1 // a rank between has none
	data, err := image.Like(dist.Layout{Counts: [][]int{counts}}, len(c.Angles), c.Detectors)
	if err != nil {
		return err
	}
	a, err := ops.Projector[float64](ctx, image, data, ops.ProjectorOptions{
		Angles: c.Angles, Pixel: 1, Spacing: c.Spacing, Source: c.Source, Detector: c.Detector,
	})
	if err != nil {
		return err
	}
	if err := optest.Dot(ctx, a); err != nil {
		return err
	}
	both := []struct {
		in, want []float64
		from     *dist.Space
		apply    func(context.Context, dist.Array[float64]) (dist.Array[float64], error)
	}{
		{c.X, c.Y, image, func(ctx context.Context, x dist.Array[float64]) (dist.Array[float64], error) {
			return linop.Apply(ctx, a, x)
		}},
		{c.U, c.V, data, func(ctx context.Context, u dist.Array[float64]) (dist.Array[float64], error) {
			v, err := dist.New[float64](image)
			if err != nil {
				return v, err
			}
			return v, a.Adjoint(ctx, v, u)
		}},
	}
	for i, side := range both {
		if side.in == nil {
			continue
		}
		x, err := scatter(ctx, side.from, side.in)
		if err != nil {
			return err
		}
		y, err := side.apply(ctx, x)
		if err != nil {
			return err
		}
		got, err := gather(ctx, y)
		if err != nil {
			return err
		}
		if err := near(got, side.want, tol); err != nil {
			return fmt.Errorf("direction %d: %w", i, err)
		}
	}
	return nil
}

// The limit is arithmetic, not memory: some 10 operations for each pixel and view.
// Bytes are those of the pixels that rays read.
func BenchmarkProjector(b *testing.B) {
	reads := func(x, _, elem int) (forward, adjoint int) { return 180 * x, 180 * x }
	onTypes(b, reads, benchProjector[float32], benchProjector[float64])
}

func benchProjector[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	o := ops.ProjectorDefaults(make([]float64, 184))
	for i := range o.Angles {
		o.Angles[i] = float64(i) * math.Pi / 184
	}
	return project[T](ctx, x, []int{256, 256}, 256, o)
}

func ExampleProjector() {
	show([]int{1}, []float64{1, 2, 3, 4}, func(ctx ctxt, x space) (op[float64], error) {
		return on(x, dist.Replicated, []int{2, 2}, func(image space) (op[float64], error) {
			return on(x, dist.Split(0), []int{2, 2}, func(data space) (op[float64], error) {
				// Rays along the columns, then along the rows.
				return ops.Projector[float64](ctx, image, data, ops.ProjectorDefaults([]float64{0, math.Pi / 2}))
			})
		})
	})
	// Output: [4 6 7 3]
}
