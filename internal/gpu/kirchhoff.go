package gpu

import (
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/device"
)

// kirchhoffFunctions are the kernels of kirchhoff.cu, without and with weights.
type kirchhoffFunctions struct {
	spread, stack [2]function
	join, filter  function
}

func (k *kernels[T, F]) makeKirchhoff() {
	k.kirchhoff = kirchhoffFunctions{
		spread: [2]function{k.function("kirchhoff.cu", "spread"), k.function("kirchhoff.cu", "spreadWeighted")},
		stack:  [2]function{k.function("kirchhoff.cu", "stack"), k.function("kirchhoff.cu", "stackWeighted")},
		join:   k.function("kirchhoff.cu", "joinParts"),
		filter: k.function("kirchhoff.cu", "filterTraces"),
	}
}

// kirchhoffArgs mirror KirchhoffArgs of kirchhoff.cu.
type kirchhoffArgs struct {
	traces, image, part                         uintptr
	src, rec                                    uintptr
	src0, src1, rec0, rec1                      uintptr
	aperture                                    uintptr
	sources, receivers, points, samples, depths int
	pitch                                       int
	segment, segments                           int32
	each, splits                                int32
}

// joinArgs mirror JoinArgs.
type joinArgs struct {
	dst, part uintptr
	n, splits int
}

// filterArgs mirror FilterArgs.
type filterArgs struct {
	dst, src, wavelet  uintptr
	samples, taps, off int
}

const (
	pointMultiple = 8        // rows of tables are padded to a multiple of this
	stackPoints   = 32       // points of a block of stack
	stackBlock    = 8 * 32   // threads of a block of stack
	spreadBlock   = 512      // threads of a block of spread
	spreadShared  = 48 << 10 // bytes of traces that a block of spread holds at most
	spreadEach    = 4        // receivers of a block of spread at most
	joinBlock     = 256
	filterBlock   = 256  // threads of a block of filterTraces
	filterSpan    = 1024 // samples of a block of filterTraces
)

var (
	_ device.Kirchhoff[float32, float32]    = (*kernels[float32, float32])(nil)
	_ device.Kirchhoff[complex128, float64] = (*kernels[complex128, float64])(nil)
)

// travelPlan is a device.TravelTables in GPU memory with the arguments and grids of
// both kernels.
type travelPlan struct {
	weighted      int // 1 with weights, 0 without
	spread, stack kirchhoffArgs
	spreadGrid    grid
	stackGrid     grid
	shared        int           // bytes
	filters       [2]filterArgs // of spread and stack
	filterGrid    grid
}

// Spread implements device.Kirchhoff. Sums are in the element type.
func (k *kernels[T, F]) Spread(y, x device.Mem[T], t *device.TravelTables[F]) {
	way := k.travelPlan(t)
	if way == nil || y.N == 0 {
		return
	}
	a := &way.spread
	a.traces, a.image = k.allocScratch(way, a, y, y), x.Addr
	launch(k.d, &k.kirchhoff.spread[way.weighted], way.spreadGrid, spreadBlock, way.shared, a)
	k.addPartials(a.splits, a.traces, y.N, a.part)
	if a.traces != y.Addr {
		way.filter(k.d, &k.kirchhoff.filter, 0, y.Addr, a.traces)
	}
}

// Stack implements device.Kirchhoff. Sums are in the element type.
func (k *kernels[T, F]) Stack(x, y device.Mem[T], t *device.TravelTables[F]) {
	way := k.travelPlan(t)
	if way == nil || x.N == 0 {
		return
	}
	a := &way.stack
	a.traces, a.image = k.allocScratch(way, a, y, x), x.Addr
	if a.traces != y.Addr {
		way.filter(k.d, &k.kirchhoff.filter, 1, a.traces, y.Addr)
	}
	launch(k.d, &k.kirchhoff.stack[way.weighted], way.stackGrid, stackBlock, 0, a)
	k.addPartials(a.splits, x.Addr, x.N, a.part)
}

// allocScratch provides memory for the partial sums of blocks that share a result. It
// returns where traces without the wavelet are: in scratch memory if there is one,
// otherwise in y.
func (k *kernels[T, F]) allocScratch(way *travelPlan, a *kirchhoffArgs, y, result device.Mem[T]) (traces uintptr) {
	filtered, partials := 0, 0
	if way.filterGrid.x > 0 {
		filtered = (y.N*k.size + 255) / 256 * 256
	}
	if a.splits > 1 {
		partials = int(a.splits) * result.N * k.size
	}
	traces = y.Addr
	if filtered+partials > 0 {
		a.part = k.d.scratch(filtered+partials) + uintptr(filtered)
	}
	if filtered > 0 {
		traces = a.part - uintptr(filtered)
	}
	return traces
}

// addPartials adds the partial sums of n elements up.
func (k *kernels[T, F]) addPartials(splits int32, dst uintptr, n int, part uintptr) {
	if splits > 1 {
		launch(k.d, &k.kirchhoff.join, blocks(n, joinBlock), joinBlock, 0, &joinArgs{dst, part, n, int(splits)})
	}
}

// filter convolves all traces with the wavelet, or correlates them.
func (way *travelPlan) filter(d *Device, f *function, direction int, dst, src uintptr) {
	a := &way.filters[direction]
	a.dst, a.src = dst, src
	launch(d, f, way.filterGrid, filterBlock, 0, a)
}

// travelPlan returns the plan for tables. It returns nil if the upload failed.
func (k *kernels[T, F]) travelPlan(t *device.TravelTables[F]) *travelPlan {
	if way, _ := t.Cache.Get(k.d).(*travelPlan); way != nil {
		return way
	}
	way, err := k.makeTravelPlan(t)
	if err != nil {
		k.d.fail(err)
		return nil
	}
	return way
}

func (k *kernels[T, F]) makeTravelPlan(t *device.TravelTables[F]) (*travelPlan, error) {
	if t.Samples > math.MaxInt32 {
		return nil, fmt.Errorf("%s: kirchhoff: traces of %d samples, at most %d are possible: cut them", k.d.p.Name, t.Samples, math.MaxInt32)
	}
	pitch := (t.Points + pointMultiple - 1) / pointMultiple * pointMultiple
	never := F(math.Inf(1))
	var list tables
	table := func(x []F, pad F) uintptr {
		if x == nil {
			return 0
		}
		return put(&list, padded(x, t.Points, pitch, pad))
	}
	a := kirchhoffArgs{
		src: table(t.Src, never), rec: table(t.Rec, never),
		src0: table(t.SrcW[0], 0), src1: table(t.SrcW[1], 0), rec0: table(t.RecW[0], 0), rec1: table(t.RecW[1], 0),
		sources: t.Sources, receivers: t.Receivers, points: t.Points, samples: t.Samples, depths: t.Depths, pitch: pitch,
	}
	if t.Aperture != nil {
		a.aperture = put(&list, t.Aperture)
	}
	way := &travelPlan{}
	if n := len(t.Wavelet); n > 0 && t.Sources*t.Receivers*t.Samples > 0 {
		back := slices.Clone(t.Wavelet)
		slices.Reverse(back)
		way.filters = [2]filterArgs{
			{wavelet: put(&list, back), samples: t.Samples, taps: n, off: t.Centre - n + 1},
			{wavelet: put(&list, t.Wavelet), samples: t.Samples, taps: n, off: -t.Centre},
		}
		way.filterGrid = grid{t.Sources * t.Receivers, (t.Samples + filterSpan - 1) / filterSpan}
	}
	addr, err := k.d.upload(list.bytes)
	if err != nil {
		return nil, fmt.Errorf("kirchhoff tables: %w", err)
	}
	for _, p := range []*uintptr{&a.src, &a.rec, &a.src0, &a.src1, &a.rec0, &a.rec1, &a.aperture, &way.filters[0].wavelet, &way.filters[1].wavelet} {
		if *p != 0 {
			*p += addr
		}
	}
	if a.src0 != 0 || a.aperture != 0 {
		way.weighted = 1
	}
	k.planStack(way, a)
	k.planSpread(way, a)
	cacheTables(k.d, &t.Cache, way, addr)
	return way, nil
}

// padded returns a table whose rows of points elements are padded to pitch.
func padded[F float](x []F, points, pitch int, with F) []F {
	if points == pitch || points == 0 {
		return x
	}
	out := slices.Repeat([]F{with}, len(x)/points*pitch)
	for i := range len(x) / points {
		copy(out[i*pitch:], x[i*points:][:points])
	}
	return out
}

// planStack splits the traces over several blocks if there are few points.
func (k *kernels[T, F]) planStack(way *travelPlan, a kirchhoffArgs) {
	n := (a.points + stackPoints - 1) / stackPoints
	traces := a.sources * a.receivers
	a.splits = int32(max(1, min(2*k.d.info.Processors/max(n, 1), traces/64)))
	way.stack, way.stackGrid = a, grid{n, int(a.splits)}
}

// planSpread gives a block several traces if there are many, and splits the points
// over several blocks if there are few traces.
func (k *kernels[T, F]) planSpread(way *travelPlan, a kirchhoffArgs) {
	busy := 2 * k.d.info.Processors
	traces := a.sources * a.receivers
	most := spreadShared / k.size // samples that fit
	a.each = int32(max(1, min(spreadEach, traces/(2*busy), most/max(a.samples, 1))))
	groups := a.sources * ((a.receivers + int(a.each) - 1) / int(a.each))
	a.segment = int32(min(a.samples, most))
	a.segments = int32((a.samples + most - 1) / most)
	work := a.points / (4 * spreadBlock * pointMultiple) // loop rounds that can be split
	a.splits = int32(max(1, min(busy/max(groups*int(a.segments), 1), work, 16)))
	way.shared = int(a.each) * int(a.segment) * k.size
	way.spread, way.spreadGrid = a, grid{groups, int(a.segments) * int(a.splits)}
}
