package data

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestIBMValues starts with the worked example of Wikipedia's article on these
// floats, from which the largest and the smallest are too. Others follow from
// the definition by hand.
func TestIBMValues(t *testing.T) {
	for _, c := range []struct {
		ibm  uint32
		ieee float32
	}{
		{0xC276A000, -118.625},
		{0x41100000, 1},
		{0xC1100000, -1},
		{0x42640000, 100},
		{0x40800000, 0.5},
		{0x3F800000, 1.0 / 32},
		{0x413243F7, 3.14159297943115234375}, // π to 22 bits
		{0x00000000, 0},
		{0x80000000, float32(math.Copysign(0, -1))},
		{0x60FFFFFF, math.MaxFloat32},
		{0x1B800000, math.SmallestNonzeroFloat32},
		{0x21400000, 0x1p-126},
	} {
		if got := fromIBM(c.ibm); math.Float32bits(got) != math.Float32bits(c.ieee) {
			t.Errorf("IBM %08X is %v, want %v", c.ibm, got, c.ieee)
		}
		if got, ok := toIBM(c.ieee); !ok || got != c.ibm {
			t.Errorf("%v is IBM %08X, want %08X", c.ieee, got, c.ibm)
		}
	}
	for ibm, want := range map[uint32]float32{
		0x7FFFFFFF: float32(math.Inf(1)), // 7.2e75
		0xFFFFFFFF: float32(math.Inf(-1)),
		0x00100000: 0,                    // 5.4e-79
		0x61100000: float32(math.Inf(1)), // 2¹²⁸
		0x42001000: 1.0 / 16,             // not normalised
		0x46000001: 1,                    // not normalised
	} {
		if got := fromIBM(ibm); got != want {
			t.Errorf("IBM %08X is %v, want %v", ibm, got, want)
		}
	}
	for v, want := range map[float32]uint32{
		0.1:               0x4019999A, // the nearest, not 0x40199999
		math.Pi:           0x413243F7,
		1 + 0x1p-23:       0x41100000, // three bits are lost
		1 + 5*0x1p-23:     0x41100001,
		1 + 4*0x1p-23:     0x41100000, // halfway, to even
		1 + 12*0x1p-23:    0x41100002, // halfway, to even
		2 - 0x1p-23:       0x41200000, // into the next bit
		16 - 0x1p-20:      0x41FFFFFF, // a full fraction is exact
		-(1 + 12*0x1p-23): 0xC1100002,
	} {
		if got, ok := toIBM(v); !ok || got != want {
			t.Errorf("%v is IBM %08X, want %08X", v, got, want)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, ok := toIBM(float32(v)); ok {
			t.Errorf("%v has an IBM form", v)
		}
	}
}

// TestIBMAgainstBig compares with arithmetic of any precision.
func TestIBMAgainstBig(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 100_000 {
		b := r.Uint32()
		v := new(big.Float).SetInt64(int64(b & 0xffffff))
		v.SetMantExp(v, 4*(int(b>>24&0x7f)-64)-24)
		if b>>31 == 1 {
			v.Neg(v)
		}
		want, _ := v.Float32()
		got := fromIBM(b)
		if got != want {
			t.Fatalf("seed %d: IBM %08X is %v, want %v", seed, b, got, want)
		}
		normal := b&0xf00000 != 0 && math.Abs(float64(got)) >= 0x1p-126 && !math.IsInf(float64(got), 0)
		if back, ok := toIBM(got); normal && (!ok || back != b) {
			t.Fatalf("seed %d: IBM %08X came back as %08X", seed, b, back)
		}
	}
}

// TestIBMNearest wants no IBM float nearer than the one that is chosen, and no
// change the second time.
func TestIBMNearest(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 100_000 {
		v := math.Float32frombits(r.Uint32())
		if v != v || math.IsInf(float64(v), 0) {
			continue
		}
		b, ok := toIBM(v)
		got := fromIBM(b)
		far := math.Abs(float64(got) - float64(v))
		if !ok || far > math.Abs(float64(v))*0x1p-21 {
			t.Fatalf("seed %d: %v became %v", seed, v, got)
		}
		for _, near := range []uint32{b - 1, b + 1} {
			if near&0xf00000 != 0 && math.Abs(float64(fromIBM(near))-float64(v)) < far {
				t.Fatalf("seed %d: %v became %v, %v is nearer", seed, v, got, fromIBM(near))
			}
		}
		if again, _ := toIBM(got); again != b && b&0xffffff != 0 {
			t.Fatalf("seed %d: %v became %08X, then %08X", seed, v, b, again)
		}
	}
}
