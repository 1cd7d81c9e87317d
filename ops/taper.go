package ops

import (
	"fmt"
	"math"
)

// TaperKind is how the ends of a window are faded in and out.
type TaperKind uint8

// The kinds of tapers, of n samples at each end. Sample i of n is multiplied by
// c = (1-cos(πi/(n-1)))/2 or a power of it. Where n is 1, c is 1.
const (
	TaperNone         TaperKind = iota
	TaperHanning                // c, which PyLops calls hanning and cosine
	TaperCosineSquare           // c²
	TaperCosineSqrt             // √c
)

// weights returns the weights of a window of n samples with overlap ones faded at
// each end.
func (k TaperKind) weights(n, overlap int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
		if at := min(i, n-1-i); k != TaperNone && at < overlap && overlap > 1 {
			c := (1 - math.Cos(math.Pi*float64(at)/float64(overlap-1))) / 2
			w[i] = map[TaperKind]float64{TaperHanning: c, TaperCosineSquare: c * c, TaperCosineSqrt: math.Sqrt(c)}[k]
		}
	}
	return w
}

func (k TaperKind) validate() error {
	if k > TaperCosineSqrt {
		return fmt.Errorf("taper is %d: have TaperNone, TaperHanning, TaperCosineSquare, TaperCosineSqrt", k)
	}
	return nil
}
