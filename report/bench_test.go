package report

import (
	"io"
	"math"
	"testing"
)

// BenchmarkPicture draws 1000 by 1000 values: what a picture costs beside a
// run.
func BenchmarkPicture(b *testing.B) {
	const n = 1000
	v := make([]float64, n*n)
	for i := range v {
		v[i] = math.Sin(float64(i/n)/30) * math.Cos(float64(i%n)/40)
	}
	g, err := GridOf(n, n, v)
	if err != nil {
		b.Fatal(err)
	}
	p := Picture{Title: "benchmark", Data: g, X: sampleX, Y: sampleZ, Map: Seismic}
	b.SetBytes(8 * n * n)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.PNG(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
