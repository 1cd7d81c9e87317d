package cpu

import (
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/klauspost/cpuid/v2"
)

var vectors = cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3)

// pointRun is the arguments of the loops in assembly, which know its layout. Factors
// are nil without weights.
type pointRun struct {
	image  unsafe.Pointer
	traces [2]unsafe.Pointer // samples, or sums; the second is nil for one receiver
	src    [3]unsafe.Pointer // times and factors of the source
	rec    [3]unsafe.Pointer // the same of the first receiver
	second int               // the distance in bytes of the tables of the second
	bytes  int               // of the run
	last   int               // sample
}

//go:noescape
func spreadF64(run *pointRun)

//go:noescape
func spreadF32(run *pointRun)

//go:noescape
func stackF64(run *pointRun)

//go:noescape
func stackF32(run *pointRun)

// spreadVector is spreadGroup for the first points, which it removes from g.
func spreadVector[F float](a *kirchhoffArgs[F], s *traceScratch[F], g *pairGroup) {
	f := spreadF64
	if unsafe.Sizeof(F(0)) == 4 {
		f = spreadF32
	}
	eachRun(a, s, g, s.sums, (g.hi[1]-g.lo[1])*a.plan.stride, a.plan.stride, f)
}

// stackVector is stackGroup for the first points, which it removes from g.
func stackVector[F float](a *kirchhoffArgs[F], s *traceScratch[F], g *pairGroup) {
	f := stackF64
	if unsafe.Sizeof(F(0)) == 4 {
		f = stackF32
	}
	n := a.plan.length
	eachRun(a, s, g, a.traces[(g.lo[0]*a.t.Receivers+g.lo[1])*n:], a.t.Receivers*n, n, f)
}

// eachRun calls f for the points of g that the vector units take, with two receivers
// at a time. traces begins at the first trace of the group.
func eachRun[F float](a *kirchhoffArgs[F], s *traceScratch[F], g *pairGroup, traces []F, perSource, perReceiver int, f func(*pointRun)) {
	t, size, run := a.t, int(unsafe.Sizeof(F(0))), &s.run
	n := (g.end - g.begin) &^ (32/size - 1)
	indexed := t.Samples > 1 && t.Samples <= 1<<24 // 32 bits hold an index into the sums of a trace
	if !vectors || n == 0 || !indexed || a.components > 1 || t.Aperture != nil && t.SrcW[0] == nil {
		return
	}
	run.image, run.bytes, run.last = unsafe.Pointer(&a.image[g.begin]), n*size, t.Samples-1
	for rec := g.lo[1]; rec < g.hi[1]; rec += 2 {
		run.second = t.Points * size
		tablesAt(&run.rec, t.Rec, t.RecW[0], t.RecW[1], rec*t.Points+g.begin)
		for src := g.lo[0]; src < g.hi[0]; src++ {
			at := (src-g.lo[0])*perSource + (rec-g.lo[1])*perReceiver
			run.traces = [2]unsafe.Pointer{unsafe.Pointer(&traces[at])}
			if rec+1 < g.hi[1] {
				run.traces[1] = unsafe.Pointer(&traces[at+perReceiver])
			}
			if t.Aperture != nil {
				s.taper(t, src, rec, min(rec+2, g.hi[1]), g.begin, g.begin+n)
				run.second = pointTile * size
				tablesAt(&run.rec, s.tapered[0], s.tapered[1], s.tapered[2], 0)
			}
			tablesAt(&run.src, t.Src, t.SrcW[0], t.SrcW[1], src*t.Points+g.begin)
			f(run)
		}
	}
	g.begin += n
	*run = pointRun{} // keep nobody's memory alive
}

// tablesAt sets p to where the tables begin.
func tablesAt[F float](p *[3]unsafe.Pointer, times, even, odd []F, at int) {
	*p = [3]unsafe.Pointer{unsafe.Pointer(&times[at])}
	if even != nil {
		p[1], p[2] = unsafe.Pointer(&even[at]), unsafe.Pointer(&odd[at])
	}
}

// taper copies the tables of receivers rec to recs at points lo to hi. Their factors
// get those of the aperture.
func (s *traceScratch[F]) taper(t *device.TravelTables[F], src, rec, recs, lo, hi int) {
	for to := 0; rec < recs; rec, to = rec+1, to+pointTile {
		row := rec * t.Points
		copy(s.tapered[0][to:], t.Rec[row+lo:row+hi])
		a := t.Aperture[(src*t.Receivers+rec)*t.Depths:][:t.Depths]
		for i := lo; i < hi; { // the rest of a column
			end := min(hi, (i/t.Depths+1)*t.Depths)
			for k, factors := range t.RecW {
				mul(s.tapered[1+k][to+i-lo:to+end-lo], factors[row+i:], a[i%t.Depths:])
			}
			i = end
		}
	}
}

// ptr is the memory of x as numbers of type E, which F is.
func ptr[E, F float](x []F) *E { return (*E)(unsafe.Pointer(unsafe.SliceData(x))) }
