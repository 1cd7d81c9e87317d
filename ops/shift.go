package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// NewFlip turns an axis around: y[i] = x[n-1-i].
func NewFlip[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int) (linop.Operator[T], error) {
	a, n, err := axisOf(x, axis)
	m := matrix[T]{rows: n, cols: n}
	m.add(0, n, tap[T]{n - 1, -1, 1})
	return newAlong(ctx, "ops: flip", x, a, m, nil, err)
}

// NewRoll moves an axis around in a circle: y[(i+shift) mod n] = x[i].
func NewRoll[T scalar.Scalar](ctx context.Context, x *dist.Space, axis, shift int) (linop.Operator[T], error) {
	a, n, err := axisOf(x, axis)
	m := matrix[T]{rows: n, cols: n}
	if n > 0 {
		s := (shift%n + n) % n
		m.add(0, s, tap[T]{n - s, 1, 1})
		m.add(s, n, tap[T]{0, 1, 1})
	}
	return newAlong(ctx, "ops: roll", x, a, m, nil, err, "shift ", shift)
}

// NewPad puts zeros around: before[a] rows in front of each axis a, after[a]
// behind it. Rows stay on their rank; the zeros are on the first and last.
func NewPad[T scalar.Scalar](ctx context.Context, x *dist.Space, before, after []int) (linop.Operator[T], error) {
	if x == nil {
		return nil, errors.New("ops: pad: no space given")
	}
	r := x.Shape().Rank()
	var err error
	if len(before) != r || len(after) != r {
		err = fmt.Errorf("%d and %d paddings for an array of %d axes", len(before), len(after), r)
	}
	for a := 0; err == nil && a < r; a++ {
		if before[a] < 0 || after[a] < 0 {
			err = fmt.Errorf("paddings %d and %d of axis %d must not be negative", before[a], after[a], a)
		}
	}
	if err := dist.Agree(ctx, x.Comm(), "ops: pad", err, before, after); err != nil {
		return nil, err
	}
	parts := []linop.Operator[T]{}
	y := x
	for a := range r {
		n := y.Shape().Dim(a)
		if before[a]+after[a] == 0 {
			continue
		}
		m := matrix[T]{rows: n + before[a] + after[a], cols: n}
		m.add(before[a], before[a]+n, tap[T]{0, 1, 1})
		_, counts := y.SplitBy(a)
		if counts != nil {
			counts = append([]int(nil), counts...)
			counts[0] += before[a]
			counts[len(counts)-1] += after[a]
		}
		p, err := newAlong(ctx, "ops: pad", y, a, m, counts, nil)
		if err != nil {
			return nil, err
		}
		parts, y = append(parts, p), p.Range()
	}
	if len(parts) == 0 {
		return NewIdentity[T](x)
	}
	op := parts[0]
	for _, p := range parts[1:] {
		if op, err = linop.Compose(p, op); err != nil {
			return nil, err
		}
	}
	return op, nil
}

// NewSymmetrize continues an axis in front of its first sample as a mirror
// does: y has 2n-1 rows, y[n-1+i] = y[n-1-i] = x[i].
func NewSymmetrize[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int) (linop.Operator[T], error) {
	a, n, err := axisOf(x, axis)
	m := matrix[T]{rows: max(2*n-1, 0), cols: n}
	m.add(0, n-1, tap[T]{n - 1, -1, 1})
	m.add(max(n-1, 0), 2*n-1, tap[T]{0, 1, 1})
	return newAlong(ctx, "ops: symmetrize", x, a, m, nil, err)
}

// NewRestriction takes rows of an axis: y[k] = x[index[k]]. A sorted index leaves
// rows on their ranks; any other order is split evenly and sends them.
func NewRestriction[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, index []int) (linop.Operator[T], error) {
	a, n, err := axisOf(x, axis)
	var runs []run[T]
	var counts []int
	sorted := true
	for k, i := range index {
		if i < 0 || i >= n {
			err = errors.Join(err, fmt.Errorf("index %d is %d: rows are 0 to %d", k, i, n-1))
			break
		}
		sorted = sorted && (k == 0 || index[k-1] <= i)
		if e := len(runs) - 1; e >= 0 && runs[e].t.last(k-runs[e].lo)+1 == i {
			runs[e].hi++
			continue
		}
		runs = append(runs, run[T]{k, k + 1, tap[T]{i, 1, 1}})
	}
	if err == nil && sorted {
		if _, c := x.SplitBy(a); c != nil {
			ends := starts(c)
			counts = make([]int, len(c))
			for _, i := range index {
				counts[owner(ends, i)]++
			}
		}
	}
	return newAlong(ctx, "ops: restriction", x, a, sweep(len(index), n, runs), counts, err, "index ", index)
}
