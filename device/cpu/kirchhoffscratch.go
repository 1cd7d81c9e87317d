package cpu

import (
	"unsafe"

	"github.com/golops/golops/device"
)

// travelPlan is what a device keeps for one device.TravelTables.
type travelPlan[F float] struct {
	blocks   traceBlocks // of Spread
	threads  []traceScratch[F]
	length   int // of a trace, in F
	stride   int // of the sums of a trace, in F
	filtered []F // all traces, correlated with the wavelet
}

// traceScratch is the memory of one thread.
type traceScratch[F float] struct {
	sums    []F // of the traces of a block
	line    []F // one trace, with zeros around it
	out     []F // the same, convolved
	run     pointRun
	tapered [3][]F              // tables of two receivers at a tile, with factors of an aperture
	taps    [2][]unsafe.Pointer // where in line each sample of the wavelet begins, for both directions
}

// maxSums is how many sums the traces of a block have at most, unless it is one trace.
const maxSums = 64 << 10

// The directions of a wavelet: that of Spread and that of Stack.
const (
	convolve = iota
	correlate
)

func newTravelPlan[F float](t *device.TravelTables[F], threads, components int) *travelPlan[F] {
	block := 256 / int(unsafe.Sizeof(F(0))) // of which loops of taps are fast
	p := &travelPlan[F]{threads: make([]traceScratch[F], threads), blocks: newTraceBlocks(t.Sources, t.Receivers)}
	p.length = t.Samples * components
	p.stride = 2*p.length + block
	for (threads > 1 && p.blocks.number() < 8*threads || p.blocks.largest()*p.stride > maxSums) && p.blocks.halve() {
		// Many blocks let all threads end at the same time. Small ones stay in the second cache.
	}
	for i := range p.threads {
		s := &p.threads[i]
		margin := len(t.Wavelet) * components
		s.sums = make([]F, p.blocks.largest()*p.stride)
		s.out = make([]F, (p.length+block-1)/block*block)
		s.line = make([]F, margin+len(s.out)+margin)
		for j := range s.tapered {
			if t.Aperture != nil {
				s.tapered[j] = make([]F, 2*pointTile)
			}
		}
		for j := range t.Wavelet {
			at := (t.Centre - j) * components
			s.taps[convolve] = append(s.taps[convolve], unsafe.Pointer(&s.line[margin+at]))
			s.taps[correlate] = append(s.taps[correlate], unsafe.Pointer(&s.line[margin-at]))
		}
	}
	return p
}

// traceOf returns trace i.
func (p *travelPlan[F]) traceOf(traces []F, i int) []F { return traces[i*p.length:][:p.length] }

// inner returns the part of the line that holds a trace of n numbers.
func (s *traceScratch[F]) inner(n int) []F { return s.line[(len(s.line)-len(s.out))/2:][:n] }

// filter sets dst to the trace in the line, convolved with the wavelet or
// correlated with it.
func (s *traceScratch[F]) filter(dst, wavelet []F, way int) {
	if len(wavelet) == 0 {
		copy(dst, s.inner(len(dst)))
		return
	}
	if vectors {
		tapsVector(s.out, s.taps[way], wavelet, false, 1, 0, 0, 0)
	} else {
		clear(s.out)
		for i, c := range wavelet {
			scaleAdd(s.out, c, unsafe.Slice((*F)(s.taps[way][i]), len(s.out)), s.out)
		}
	}
	copy(dst, s.out)
}
