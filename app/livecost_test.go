package app

import (
	"testing"
	"time"

	"github.com/golops/golops/report"
)

// No image is made while nobody looks, and all images together take at most 1% of the
// time.
func TestLiveImagesAreCheap(t *testing.T) {
	l := &live{viewers: map[string]time.Time{"gone": time.Now().Add(-2 * looks)}}
	if l.wants() {
		t.Error("an image is made although nobody looks")
	}
	l.viewers["here"] = time.Now()
	if !l.wants() {
		t.Fatal("somebody looks, and no image is made")
	}
	const took = 40 * time.Millisecond
	l.show(func([]float64) report.Picture { return report.Picture{} }, []float64{1}, nil, took)
	if l.model = nil; l.wants() || time.Until(l.rest) < 99*took {
		t.Errorf("after an image of %v the next may come in %v", took, time.Until(l.rest))
	}
}
