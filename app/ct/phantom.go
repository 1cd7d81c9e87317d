package ct

import "math/rand/v2"

// noise returns that of a view, which does not depend on ranks.
func noise(view, detectors int) []float64 {
	rng := rand.New(rand.NewPCG(uint64(view), 26))
	v := make([]float64, detectors)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}
