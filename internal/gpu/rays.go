package gpu

import (
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/shape"
)

// rayFunctions are the kernels of rays.cu.
type rayFunctions struct{ project, backProject function }

func (k *kernels[T, F]) makeRays() {
	k.rays = rayFunctions{project: k.function("rays.cu", "project"), backProject: k.function("rays.cu", "backProject")}
}

// bundle mirrors Bundle of rays.cu.
type bundle struct {
	at, step, pivot, length float64
	num, den                [2]float64
	slopes                  [2]float64
	inverse, weight         float64
	view                    int
	lo, hi, columns, fan    int32
}

// rayArgs mirror RayArgs.
type rayArgs struct {
	image, data, turned   uintptr
	bundles               uintptr
	count, blocks         int
	rows, cols, detectors int
}

const (
	projectBlock     = 128
	backProjectBlock = 256
	tileCols         = 32 // of pixels that a block of backProject does
	tileRows         = 64
)

var (
	_ device.Projector[float32]    = (*kernels[float32, float32])(nil)
	_ device.Projector[complex128] = (*kernels[complex128, float64])(nil)
)

// rayPlan is a device.Rays in GPU memory.
type rayPlan struct {
	args rayArgs
	turn device.Strided // exchanges rows and columns
}

// Project implements device.Projector. Sums are in the element type.
func (k *kernels[T, F]) Project(y, x device.Mem[T], r *device.Rays) {
	p := k.rayPlan(r)
	if p == nil || y.N == 0 {
		return
	}
	if x.N == 0 {
		k.Fill(y, 0)
		return
	}
	a := &p.args
	turned := device.Mem[T]{Addr: k.d.scratch(x.N * k.size), N: x.N}
	a.image, a.data, a.turned = x.Addr, y.Addr, turned.Addr
	k.CopyND(turned, x, &p.turn, false)
	launch(k.d, &k.rays.project, grid{a.count * a.blocks, 1}, projectBlock, 0, a)
}

// BackProject implements device.Projector. Sums are in the element type.
func (k *kernels[T, F]) BackProject(x, y device.Mem[T], r *device.Rays) {
	p := k.rayPlan(r)
	if p == nil {
		return
	}
	a := &p.args
	a.image, a.data = x.Addr, y.Addr
	tiles := grid{(a.rows + tileRows - 1) / tileRows * ((a.cols + tileCols - 1) / tileCols), 1}
	launch(k.d, &k.rays.backProject, tiles, backProjectBlock, 0, a)
}

// rayPlan returns the plan for rays. It returns nil if the upload failed.
func (k *kernels[T, F]) rayPlan(r *device.Rays) *rayPlan {
	if p, _ := r.Cache.Get(k.d).(*rayPlan); p != nil {
		return p
	}
	list := make([]bundle, len(r.Bundles))
	for i, b := range r.Bundles {
		list[i] = bundle{
			at: b.At, step: b.Step, pivot: b.Pivot, length: b.Length, num: b.Num, den: b.Den,
			slopes: [2]float64{b.Slope(b.Lo), b.Slope(b.Hi - 1)}, view: b.View, lo: int32(b.Lo), hi: int32(b.Hi),
			inverse: 1 / b.Step, weight: b.Length * math.Hypot(1, b.Slope(b.Lo)),
		}
		if b.Columns {
			list[i].columns = 1
		}
		if !b.Parallel() {
			list[i].fan = 1
		}
	}
	p := &rayPlan{args: rayArgs{
		count: len(list), blocks: (r.Detectors + projectBlock - 1) / projectBlock, rows: r.Rows, cols: r.Cols, detectors: r.Detectors,
	}}
	p.turn = device.Strided{Shape: shape.Of(r.Rows, r.Cols), Dst: [shape.MaxNDim]int{1, r.Rows}, Src: [shape.MaxNDim]int{r.Cols, 1}}
	if p.args.count*p.args.blocks > maxGrid || r.Detectors > maxGrid {
		k.d.fail(fmt.Errorf("%s: %d bundles of rays to %d detectors are more than a launch can have: split the views", k.d.p.Name, len(list), r.Detectors))
		return nil
	}
	var t tables
	p.args.bundles = put(&t, list)
	addr, err := k.d.upload(t.bytes)
	if err != nil {
		k.d.fail(fmt.Errorf("rays: %w", err))
		return nil
	}
	p.args.bundles += addr
	cacheTables(k.d, &r.Cache, p, addr)
	return p
}
