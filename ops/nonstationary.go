package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// NonStationaryConvolve1D filters along an axis of x with a filter that changes
// along it: sample j of x is spread by filter h_j,
//
//	y[i] = Σⱼ h_j[i-j+len/2]·x[j]
//
// where h_j is filters[k] at j = at[k]. Between two of these samples it is
// interpolated linearly. Before the first it is the first filter, after the last the
// last one. Filters have the same odd length, and at increases in equal steps.
func NonStationaryConvolve1D[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, filters [][]T, at []int) (linop.Operator[T], error) {
	m, err := along[T](x, axis)
	if err == nil {
		err = checkFilters(filters, at)
	}
	if err == nil {
		const perTap = 128 // bytes that the matrix takes, about
		if err = device.CheckHostMemory(m.rows, len(filters[0]), perTap); err != nil {
			err = fmt.Errorf("%d filters of %d samples: %w", m.rows, len(filters[0]), err)
		}
	}
	if err == nil {
		m.nonStationary(filters, at)
	}
	return newAxisOperator(ctx, "ops: non-stationary convolve", x, m, nil, err, filters, at)
}

func checkFilters[T scalar.Scalar](filters [][]T, at []int) error {
	if len(filters) == 0 || len(filters) != len(at) {
		return fmt.Errorf("%d filters at %d places", len(filters), len(at))
	}
	for k, h := range filters {
		if len(h) != len(filters[0]) || len(h)%2 == 0 {
			return fmt.Errorf("filter %d has %d samples: all must have the same odd number", k, len(h))
		}
		if k > 0 && (at[k] <= at[k-1] || at[k]-at[k-1] != at[1]-at[0]) {
			return errors.New("places of the filters do not increase in equal steps")
		}
	}
	if at[len(at)-1] < at[0] || at[len(at)-1]-at[0] < 0 {
		return fmt.Errorf("places of the filters from %d to %d are further apart than an int can count", at[0], at[len(at)-1])
	}
	return nil
}

// nonStationary adds the taps of filters that change along the axis.
func (m *matrix[T]) nonStationary(filters [][]T, at []int) {
	half := len(filters[0]) / 2
	last := len(at) - 1
	for j := range m.cols {
		k, w := 0, 0.0 // filter k with weight 1-w, filter k+1 with weight w
		switch {
		case j >= at[last]:
			k = last
		case j > at[0]:
			step := at[1] - at[0]
			k = (j - at[0]) / step
			w = float64((j-at[0])%step) / float64(step)
		}
		for s := range filters[0] {
			i := j + s - half
			if i < 0 || i >= m.rows {
				continue
			}
			c := filters[k][s]
			if w > 0 {
				c = scalar.From[T](complex(1-w, 0))*c + scalar.From[T](complex(w, 0))*filters[k+1][s]
			}
			m.add(i, i+1, j, 1, c)
		}
	}
}
