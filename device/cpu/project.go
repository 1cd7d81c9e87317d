package cpu

import (
	"sync/atomic"

	"github.com/golops/golops/device"
)

// rayArgs are the parameters of Project and BackProject. They work on one component
// of the elements at a time.
type rayArgs[F float] struct {
	image, data []F
	component   int
	r           *device.Rays
	plan        *rayPlan[F]
	next        atomic.Int64 // the next piece of work
}

var (
	_ device.Projector[float32]    = (*kernels[float32, float32])(nil)
	_ device.Projector[complex128] = (*kernels[complex128, float64])(nil)
)

// rayPlan is what a device keeps for one device.Rays.
//
// Lines are rows of the image, or its columns, with zeros around them. Rays that
// visit columns read them from a transposed copy, so that neighbouring rays always
// read neighbouring elements.
type rayPlan[F float] struct {
	lines   [2][]F // rows and columns; of BackProject there are two numbers for each pixel
	threads []rayScratch[F]
}

// rayScratch is the memory of one thread: the rays of a bundle.
type rayScratch[F float] struct {
	sums      []F
	at, slope []float64 // ray d crosses line a at at[d] + a·slope[d], counted from the margin
}

// margin is the number of zeros at each end of a line. A ray between two pixels reads
// both. One more is for rounding.
const margin = 2

// backLines is how many lines of the image a thread of BackProject takes at a time.
// They stay in the second cache while the rays of all views are added.
const backLines = 16

// lineSizes returns how many lines of rows or columns there are, and their length.
func lineSizes(r *device.Rays, columns bool) (n, length int) {
	if columns {
		return r.Cols, r.Rows
	}
	return r.Rows, r.Cols
}

// sides are the two kinds of lines.
var sides = [2]bool{false, true}

// Project implements device.Projector. Threads take bundles, and share nothing.
func (k *kernels[T, F]) Project(y, x device.Mem[T], r *device.Rays) {
	if x.N == 0 {
		k.Fill(y, 0)
		return
	}
	k.eachComponent(x, y, r, k.loops.padLines, k.loops.project)
}

// BackProject implements device.Projector. Threads share no lines. The order in which
// rays are added does not depend on threads.
func (k *kernels[T, F]) BackProject(x, y device.Mem[T], r *device.Rays) {
	if x.N > 0 {
		k.eachComponent(x, y, r, k.loops.backProject, k.loops.mergeLines)
	}
}

// eachComponent runs two loops on each component of the elements.
func (k *kernels[T, F]) eachComponent(x, y device.Mem[T], r *device.Rays, first, second func(lo, hi int)) {
	a := &k.rays
	a.image, a.data, a.r = k.flat(x), k.flat(y), r
	if a.plan, _ = r.Cache.Get(k.device).(*rayPlan[F]); a.plan == nil {
		a.plan = newRayPlan[F](r, max(k.workers, 0)+1)
		r.Cache.Set(k.device, a.plan, nil)
	}
	for a.component = range k.components {
		k.eachRayThread(first)
		k.eachRayThread(second)
	}
	a.image, a.data, a.r, a.plan = nil, nil, nil, nil
}

func newRayPlan[F float](r *device.Rays, threads int) *rayPlan[F] {
	p := &rayPlan[F]{threads: make([]rayScratch[F], threads)}
	for i, columns := range sides {
		n, length := lineSizes(r, columns)
		p.lines[i] = make([]F, 2*n*(length+2*margin))
	}
	for i := range p.threads {
		p.threads[i] = rayScratch[F]{make([]F, r.Detectors), make([]float64, r.Detectors), make([]float64, r.Detectors)}
	}
	return p
}

// eachRayThread calls body once per thread. It takes pieces of work until none is left.
func (k *kernels[T, F]) eachRayThread(body func(lo, hi int)) {
	k.rays.next.Store(0)
	k.run(len(k.rays.plan.threads), 1, body)
}

// claim returns a piece of work that no thread has taken yet.
func (a *rayArgs[F]) claim() int { return int(a.next.Add(1) - 1) }

// padLinesPart copies rows and columns of the image into lines.
func (k *kernels[T, F]) padLinesPart(lo, hi int) {
	a := &k.rays
	rows, cols, w := a.r.Rows, a.r.Cols, a.r.Cols+2*margin
	tall := rows + 2*margin
	for first := a.claim() * backLines; first < rows; first = a.claim() * backLines {
		for row := first; row < min(first+backLines, rows); row++ {
			line := a.plan.lines[0][row*w:][:w]
			clear(line[:margin])
			clear(line[margin+cols:])
			from := a.image[row*cols*k.components+a.component:]
			for c := range cols {
				line[margin+c] = from[c*k.components]
			}
		}
		last := min(first+backLines, rows)
		for c := range cols {
			line := a.plan.lines[1][c*tall:][:tall]
			if first == 0 {
				clear(line[:margin])
			}
			if last == rows {
				clear(line[margin+rows:])
			}
			for row := first; row < last; row++ {
				line[margin+row] = a.image[(row*cols+c)*k.components+a.component]
			}
		}
	}
}

// projectPart integrates along the rays of bundles.
func (k *kernels[T, F]) projectPart(lo, hi int) {
	a := &k.rays
	for thread := lo; thread < hi; thread++ {
		s := &a.plan.threads[thread]
		for i := a.claim(); i < len(a.r.Bundles); i = a.claim() {
			b := &a.r.Bundles[i]
			n, length := lineSizes(a.r, b.Columns)
			lines, w := a.plan.lines[side(b.Columns)], length+2*margin
			s.trace(b)
			sums := s.sums[:b.Hi-b.Lo]
			clear(sums)
			for l := range n {
				if from, to := s.crossing(b, l, length); from < to {
					s.gather(sums[from:to], lines[l*w:][:w], b, from, l)
				}
			}
			out := a.data[(b.View*a.r.Detectors+b.Lo)*k.components+a.component:]
			for d, v := range sums {
				out[d*k.components] = F(rayLength(b, s.slope[d])) * v
			}
		}
	}
}

// backProjectPart adds the rays of all bundles to some lines.
func (k *kernels[T, F]) backProjectPart(lo, hi int) {
	a := &k.rays
	rowPieces, colPieces := (a.r.Rows+backLines-1)/backLines, (a.r.Cols+backLines-1)/backLines
	for thread := lo; thread < hi; thread++ {
		s := &a.plan.threads[thread]
		for p := a.claim(); p < rowPieces+colPieces; p = a.claim() {
			columns, first := p >= rowPieces, p*backLines
			if columns {
				first -= rowPieces * backLines
			}
			n, length := lineSizes(a.r, columns)
			w := 2 * (length + 2*margin)
			last := min(first+backLines, n)
			lines := a.plan.lines[side(columns)]
			clear(lines[first*w : last*w])
			for i := range a.r.Bundles {
				b := &a.r.Bundles[i]
				if b.Columns != columns {
					continue
				}
				s.trace(b)
				in := a.data[(b.View*a.r.Detectors+b.Lo)*k.components+a.component:]
				for d := range b.Hi - b.Lo {
					s.sums[d] = F(rayLength(b, s.slope[d])) * in[d*k.components]
				}
				for l := first; l < last; l++ {
					if from, to := s.crossing(b, l, length); from < to {
						s.scatter(lines[l*w:][:w], s.sums[from:to], b, from, l)
					}
				}
			}
		}
	}
}

// mergeLinesPart sets the image to what rays have added to rows and columns.
func (k *kernels[T, F]) mergeLinesPart(lo, hi int) {
	a := &k.rays
	rows, cols := a.r.Rows, a.r.Cols
	w, tall := 2*(cols+2*margin), 2*(rows+2*margin)
	for first := a.claim() * backLines; first < rows; first = a.claim() * backLines {
		last := min(first+backLines, rows)
		for row := first; row < last; row++ {
			line := a.plan.lines[0][row*w:][:w]
			to := a.image[row*cols*k.components+a.component:]
			for c := range cols {
				i := 2 * (margin + c)
				to[c*k.components] = line[i] + line[i-1]
			}
		}
		for c := range cols {
			line := a.plan.lines[1][c*tall:][:tall]
			for row := first; row < last; row++ {
				i := 2 * (margin + row)
				a.image[(row*cols+c)*k.components+a.component] += line[i] + line[i-1]
			}
		}
	}
}
