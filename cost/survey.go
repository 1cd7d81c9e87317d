package cost

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/scalar"
)

// Survey is Kirchhoff modelling and migration of a seismic survey. Each source, receiver
// and image point is one pair of work.
type Survey struct {
	Sources, Receivers, Samples int
	Image                       []int // extents of the image
	DType                       scalar.DType

	// ByModel splits the image along its first axis, with data on all ranks. Otherwise
	// traces are split, with the image on all ranks.
	ByModel bool
}

// String says what is split.
func (s Survey) String() string {
	if s.ByModel {
		return "image split, data on all ranks"
	}
	return "traces split, image on all ranks"
}

// Points returns the number of image points.
func (s Survey) Points() float64 {
	n := 1.0
	for _, e := range s.Image {
		n *= float64(e)
	}
	return n
}

// Validate reports what no survey can have.
func (s Survey) Validate() error {
	if s.Sources < 1 || s.Receivers < 1 || s.Samples < 2 || len(s.Image) == 0 {
		return fmt.Errorf("cost: survey of %d sources, %d receivers, %d samples and an image of %v: there must be at least 1, 1 and 2, and an image", s.Sources, s.Receivers, s.Samples, s.Image)
	}
	for _, n := range s.Image {
		if n < 1 {
			return fmt.Errorf("cost: survey with an image of %v: extents must be at least 1", s.Image)
		}
	}
	if s.DType != scalar.Float32 && s.DType != scalar.Float64 {
		return fmt.Errorf("cost: survey of %v: must be float32 or float64", s.DType)
	}
	return nil
}

// traces returns the sources and receivers of the rank with the most traces, on the grid
// that gives it the fewest. If several do, it has the most ranks along sources, as in
// package wave.
func (s Survey) traces(ranks int) (sources, receivers int) {
	least := math.MaxInt
	for _, d := range slices.Backward(divisors(ranks)) {
		a, b := ceil(s.Sources, d), ceil(s.Receivers, ranks/d)
		if a*b < least {
			sources, receivers, least = a, b, a*b
		}
	}
	return sources, receivers
}

// Survey predicts modelling and migration on a number of ranks: the pairs of a rank, and
// the sum of the image, or of the data. Memory is that of tables of travel times and of
// the vectors of an inversion by conjugate gradients.
func (m Machine) Survey(s Survey, ranks int) (r Prediction, err error) {
	if err := errors.Join(m.Validate(), s.Validate()); err != nil {
		return r, err
	}
	if ranks < 1 {
		return r, fmt.Errorf("cost: survey on %d ranks: must be at least 1", ranks)
	}
	rate := m.Pairs[s.DType.String()]
	if rate == 0 {
		return r, fmt.Errorf("cost: survey of %v: the machine has no pairs_per_s of it: measure it with golops perf roofline", s.DType)
	}
	elem, points := float64(s.DType.Size()), s.Points()
	sources, receivers := s.Sources, s.Receivers
	if s.ByModel {
		points *= float64(ceil(s.Image[0], ranks)) / float64(s.Image[0])
	} else {
		sources, receivers = s.traces(ranks)
	}
	data := float64(sources) * float64(receivers) * float64(s.Samples)
	c := Cost{Compute: float64(sources) * float64(receivers) * points / rate * m.slower(ranks)}
	c.Seconds = c.Compute
	r.Forward, r.Adjoint = c, c
	if s.ByModel {
		r.Forward = r.Forward.then(m.sum(ranks, ranks, 1, elem*data))
	} else {
		r.Adjoint = r.Adjoint.then(m.sum(ranks, ranks, 1, elem*points))
	}
	tables := elem * points * (float64(sources) + float64(receivers))
	r.Memory = int64(min(tables+3*elem*(points+data), math.MaxInt64/2))
	return r, nil
}

// BestSurvey returns the split with the least time that fits the memory. 0 means that
// memory does not matter. A *MemoryError says that none fits.
func BestSurvey(m Machine, s Survey, ranks int, memory int64) (Survey, Prediction, error) {
	best, found, any := s, Prediction{}, false
	none := &MemoryError{Ranks: ranks, Given: memory}
	for _, by := range []bool{false, true} {
		s.ByModel = by
		r, err := m.Survey(s, ranks)
		if err != nil {
			return best, found, err
		}
		if memory > 0 && r.Memory > memory {
			if none.Need == 0 || r.Memory < none.Need {
				none.Need = r.Memory
			}
			continue
		}
		if !any || r.Seconds() < found.Seconds() {
			best, found, any = s, r, true
		}
	}
	if !any {
		return best, found, none
	}
	return best, found, nil
}
