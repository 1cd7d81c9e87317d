package gpu

import (
	"math"
	"testing"

	"github.com/golops/golops/device"
)

// TestBandsSumByPlanes compares a sum that is large enough to be compiled for its
// shape with one pass per axis.
func TestBandsSumByPlanes(t *testing.T) {
	k := simulated(t, CUDA).f32
	for _, dims := range [][3]int{{43, 40, 41}, {23, 33, 131}, {9, 80, 93}} {
		bandsSumOf(t, k, dims)
	}
}

func bandsSumOf(t *testing.T, k *kernels[float32, float32], dims [3]int) {
	t.Helper()
	n := dims[0] * dims[1] * dims[2]
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Sin(float64(i * i % 977)))
	}
	sum := &device.BandedSum[float32]{}
	inner := n
	for a, rows := range dims {
		inner /= rows
		b := &device.Banded[float32]{Outer: n / rows / inner, Inner: inner, DstRows: rows, SrcRows: rows}
		for w, c := range []float32{1, -2, 1}[:3-a%2] { // the middle axis has two taps
			b.Taps = append(b.Taps, device.Tap[float32]{At: w, Step: 1, Coef: c + float32(a)})
		}
		b.Groups[0] = []device.Band{{Lo: 1, Hi: rows - 1, First: 0, Last: len(b.Taps)}}
		b.Groups[1] = []device.Band{{Lo: 0, Hi: 1}, {Lo: rows - 1, Hi: rows}}
		sum.Parts = append(sum.Parts, device.BandedPart[float32]{Banded: b})
	}
	var mem [3]device.Mem[float32]
	var err error
	for i := range mem {
		if mem[i], err = k.Alloc(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.CopyIn(mem[0], x); err != nil {
		t.Fatal(err)
	}
	k.BandsSum(mem[1], mem[0], sum, 0)
	k.BandsSum(mem[1], mem[0], sum, 1)
	if sum.Cache.Get(k.d).(*sumPlan[float32]).plane == nil {
		t.Error("it was not done by planes")
	}
	for i, p := range sum.Parts {
		for g := range p.Groups {
			k.Bands(mem[2], mem[0], p.Ghost, p.Banded, g, i > 0)
		}
	}
	got, want := make([]float32, n), make([]float32, n)
	for i, h := range [][]float32{got, want} {
		if err := k.CopyOut(h, mem[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range got {
		if d := math.Abs(float64(got[i] - want[i])); !(d <= 1e-4) {
			t.Fatalf("element %d: %g, one axis after another gives %g", i, got[i], want[i])
		}
	}
}
