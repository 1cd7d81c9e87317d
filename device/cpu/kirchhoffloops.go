package cpu

import (
	"iter"

	"github.com/golops/golops/device"
)

// pairGroup is the pairs of some sources and receivers at some image points.
type pairGroup struct {
	lo, hi     [2]int // sources and receivers
	begin, end int    // points
}

// pairRows are the tables of one pair of source and receiver.
type pairRows[F float] struct {
	samples        int
	src, rec       []F // times
	s0, r0, s1, r1 []F // factors of the weight; nil without
	aperture       []F // factors at each depth; nil means 1
}

// rowsOf returns the tables of pair p.
func rowsOf[F float](t *device.TravelTables[F], p int) pairRows[F] {
	s, r := p/t.Receivers*t.Points, p%t.Receivers*t.Points
	w := pairRows[F]{samples: t.Samples, src: t.Src[s:], rec: t.Rec[r:]}
	if t.SrcW[0] != nil {
		w.s0, w.s1 = t.SrcW[0][s:], t.SrcW[1][s:]
		w.r0, w.r1 = t.RecW[0][r:], t.RecW[1][r:]
	}
	if t.Aperture != nil {
		w.aperture = t.Aperture[p*t.Depths:][:t.Depths]
	}
	return w
}

// at returns the sample before the time of point i, the rest, the weight, and
// whether the sample and the next are on the trace.
func (w *pairRows[F]) at(i int) (n int, rest, weight F, ok bool) {
	at := w.src[i] + w.rec[i]
	if !(at >= 0 && at < F(w.samples-1)) { // also NaN and what no int holds
		return 0, 0, 0, false
	}
	weight = 1
	if w.s0 != nil {
		weight = w.s0[i]*w.r0[i] + w.s1[i]*w.r1[i]
	}
	if w.aperture != nil {
		weight *= w.aperture[i%len(w.aperture)]
	}
	n = int(at)
	return n, at - F(n), weight, weight != 0
}

// spreadGroup adds points of an image to the sums of their traces. For each sample
// there is the sum of values, and the sum of values times the rest of their time.
func (a *kirchhoffArgs[F]) spreadGroup(s *traceScratch[F], g pairGroup) {
	spreadVector(a, s, &g)
	sums := s.sums
	for p := range g.pairs(a.t.Receivers) {
		w := rowsOf(a.t, p)
		for i := g.begin; i < g.end; i++ {
			n, rest, weight, ok := w.at(i)
			for c := 0; ok && c < a.components; c++ {
				v := weight * a.image[i*a.components+c]
				two := sums[2*(n*a.components+c):][:2]
				two[0] += v
				two[1] += rest * v
			}
		}
		sums = sums[a.plan.stride:]
	}
}

// addSums sets a trace to the sums of its samples: a value adds what is not its
// rest to its sample, and its rest to the next. What lies beyond the end is dropped.
func addSums[F float](trace, sums []F, components int) {
	last := len(trace) - components
	for i := range trace {
		trace[i] = 0
		if i < last {
			trace[i] = sums[2*i] - sums[2*i+1]
		}
		if i >= components {
			trace[i] += sums[2*(i-components)+1]
		}
	}
}

// stackGroup adds traces to points of an image.
func (a *kirchhoffArgs[F]) stackGroup(s *traceScratch[F], g pairGroup) {
	stackVector(a, s, &g)
	for p := range g.pairs(a.t.Receivers) {
		w, trace := rowsOf(a.t, p), a.plan.traceOf(a.traces, p)
		for i := g.begin; i < g.end; i++ {
			n, rest, weight, ok := w.at(i)
			for c := 0; ok && c < a.components; c++ {
				v := trace[n*a.components+c]
				a.image[i*a.components+c] += weight * (v + rest*(trace[(n+1)*a.components+c]-v))
			}
		}
	}
}

// pairs yields each pair of the group, if it has points.
func (g pairGroup) pairs(receivers int) iter.Seq[int] {
	return func(yield func(p int) bool) {
		for src := g.lo[0]; src < g.hi[0] && g.begin < g.end; src++ {
			for rec := g.lo[1]; rec < g.hi[1]; rec++ {
				if !yield(src*receivers + rec) {
					return
				}
			}
		}
	}
}
