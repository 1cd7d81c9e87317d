package perf

import (
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/cost"
)

// LinkFit is a link that was fitted to measurements.
type LinkFit struct {
	Name   string    `json:"name"` // Messages, OneSided or Network
	Link   cost.Link `json:"link"`
	Points int       `json:"points"`
	Median float64   `json:"median_error"` // of |predicted - measured| / measured
	Worst  float64   `json:"worst_error"`
}

// fitLink fits latency, overhead and bandwidth to the times of points: T = latency +
// m·overhead + m·n/bandwidth. Relative errors count, as times differ by factors of
// thousands. Their absolute values are added, not their squares, so that a few points
// which something disturbed do not matter.
func fitLink(name string, points []RooflinePoint) (LinkFit, error) {
	f := LinkFit{Name: name, Points: len(points)}
	if len(points) < 3 {
		return f, fmt.Errorf("perf: roofline: %d measurements of %s: a link needs 3 or more", len(points), name)
	}
	weights := make([]float64, len(points))
	for i := range weights {
		weights[i] = 1
	}
	var x [3]float64
	for range 50 { // least squares with weights 1/|error| have the least sum of |error|
		x = leastSquares(points, weights)
		for i, p := range points {
			weights[i] = 1 / max(math.Abs(predict(x, p)/p.Seconds-1), 1e-3)
		}
	}
	if x[2] == 0 { // no message was so large that its size mattered: take the most that was seen
		for _, p := range points {
			x[2] = max(x[2], p.terms()[2]/p.Seconds)
		}
		x[2] = 1 / x[2]
	}
	f.Link = cost.Link{Latency: x[0], Overhead: x[1], Bandwidth: 1 / x[2]}
	var errs []float64
	for _, p := range points {
		errs = append(errs, math.Abs(predict(x, p)/p.Seconds-1))
	}
	slices.Sort(errs)
	f.Median, f.Worst = errs[len(errs)/2], errs[len(errs)-1]
	return f, nil
}

// terms are what latency, overhead and the inverse of bandwidth are multiplied by.
func (p RooflinePoint) terms() [3]float64 {
	return [3]float64{1, float64(p.Messages), float64(p.Messages) * float64(p.Size)}
}

func predict(x [3]float64, p RooflinePoint) (s float64) {
	for i, t := range p.terms() {
		s += x[i] * t
	}
	return s
}

// leastSquares minimizes the weighted squares of relative errors over numbers that are not
// negative. There are three of them, so it tries which are zero.
func leastSquares(points []RooflinePoint, weights []float64) (best [3]float64) {
	least := math.Inf(1)
	for set := 1; set < 8; set++ {
		var use []int
		for i := range 3 {
			if set>>i&1 == 1 {
				use = append(use, i)
			}
		}
		x, ok := normal(points, weights, use)
		if !ok {
			continue
		}
		sum := 0.0
		for i, p := range points {
			e := predict(x, p)/p.Seconds - 1
			sum += weights[i] * e * e
		}
		if sum < least {
			best, least = x, sum
		}
	}
	return best
}

// normal solves the normal equations for some of the numbers. ok is false if one of them
// is negative, or if they cannot be told apart.
func normal(points []RooflinePoint, weights []float64, use []int) (x [3]float64, ok bool) {
	n := len(use)
	a, scale := make([][]float64, n), make([]float64, n) // scaled, as the terms differ by 1e10
	for i, u := range use {
		a[i] = make([]float64, n+1)
		for _, p := range points {
			scale[i] = max(scale[i], p.terms()[u]/p.Seconds)
		}
	}
	for k, p := range points {
		t := p.terms()
		for i, u := range use {
			ti := t[u] / p.Seconds / scale[i]
			for j, v := range use {
				a[i][j] += weights[k] * ti * t[v] / p.Seconds / scale[j]
			}
			a[i][n] += weights[k] * ti
		}
	}
	for i := range n { // Gauss with pivots
		pivot := i
		for r := i; r < n; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[pivot][i]) {
				pivot = r
			}
		}
		a[i], a[pivot] = a[pivot], a[i]
		if math.Abs(a[i][i]) < 1e-14 {
			return x, false
		}
		for r := range n {
			if r == i {
				continue
			}
			f := a[r][i] / a[i][i]
			for c := i; c <= n; c++ {
				a[r][c] -= f * a[i][c]
			}
		}
	}
	for i, u := range use {
		if x[u] = a[i][n] / a[i][i] / scale[i]; x[u] < 0 {
			return x, false
		}
	}
	return x, true
}
