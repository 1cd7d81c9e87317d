package perf

import (
	"math"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// Verified data are small integers, so that every element type holds them and
// every reduction of them exactly and == is the right comparison. They depend
// on the rank, the index and a seed that changes with each verification, and
// on the index through a hash: without it, blocks swapped by a faulty
// algorithm would often look alike.

// mix hashes an index to 8 bits.
func mix(i int, seed uint32) uint32 {
	x := uint32(i)*0x9E3779B1 + seed*0x85EBCA77
	x ^= x >> 15
	return x * 0xC2B2AE3D >> 24
}

const (
	copies = 128 // values that copied elements take
	levels = 8   // values of the hash that reduced elements depend on
)

// values makes and checks the elements of one operation, type and reduction.
// Everything comes from tables, so that loops over elements contain no
// switch over types.
type values[T scalar.Element] struct {
	n             int
	copied        [copies]T
	mask          uint32    // of the hash, less than levels
	contributions []T       // [k*levels+a]: what rank r contributes where k = (r+index) mod n and the hash is a
	want          [levels]T // the reduction of all contributions
	poison        T         // what destinations hold before a call; NaN if the type has it
	idempotent    T         // reduces to itself
}

func newValues[T scalar.Element](op comm.Op, n int) *values[T] {
	dt := scalar.Of[T]()
	v := &values[T]{n: n, contributions: make([]T, n*levels)}
	for i := range v.copied {
		v.copied[i] = number[T](float64(i), float64(-i))
	}
	v.poison = number[T](255, 0)
	if dt != scalar.Uint8 {
		v.poison = number[T](math.NaN(), math.NaN())
	}
	v.idempotent = number[T](0, 0)
	if op != comm.Sum {
		v.idempotent = number[T](1, 0)
	}
	if op == comm.Prod {
		v.product()
	} else {
		v.offsets(op, dt)
	}
	return v
}

// offsets fills the tables for all reductions but Prod: a rank contributes
// a + 2k, so all contributions to an element differ and their sum divides
// by n. Where that is more than the type holds, ranks share values; each
// still differs from the others at some index.
func (v *values[T]) offsets(op comm.Op, dt scalar.DType) {
	n := v.n
	v.mask = levels - 1
	offset := func(k int) int { return 2 * k }
	switch small := dt == scalar.Uint8; {
	case dt == scalar.Half || dt == scalar.Brain:
		// The sum must stay below the bits of the fraction.
		limit := map[scalar.DType]int{scalar.Half: 2048, scalar.Brain: 256}[dt]
		offset = func(k int) int { return n * max(0, 1-k) }
		for v.mask > 0 && n*(int(v.mask)+1) > limit {
			v.mask >>= 1
		}
		if n > limit {
			offset = func(int) int { return 0 }
		}
	case small && op == comm.Average && n > 13:
		// The sum must stay below 256, as nobody promises to keep it in more bits.
		offset = func(k int) int { return max(0, 1-k) }
		for v.mask > 0 && n*int(v.mask)+1 > 255 {
			v.mask >>= 1
		}
	case small && n > 100:
		offset = func(k int) int { return 2 * (k % 100) }
	case n > 1024:
		// The sum must stay below the 24 bits of a float32.
		offset = func(k int) int { return n * max(0, 1-k) }
	}
	sum, least, most := 0, offset(0), offset(0)
	for k := range n {
		sum, least, most = sum+offset(k), min(least, offset(k)), max(most, offset(k))
	}
	for a := range levels {
		for k := range n {
			v.contributions[k*levels+a] = fromInt[T](a + offset(k))
		}
		switch op {
		case comm.Sum:
			v.want[a] = fromInt[T](n*a + sum)
		case comm.Average:
			v.want[a] = fromInt[T]((n*a + sum) / n)
		case comm.Min:
			v.want[a] = fromInt[T](a + least)
		case comm.Max:
			v.want[a] = fromInt[T](a + most)
		}
	}
}

// product fills the tables for Prod. Few ranks contribute more than 1, so
// that the product stays small; one factor is imaginary where there are such.
func (v *values[T]) product() {
	v.mask = levels - 1
	factors := [...]float64{0, 2, 3, 2, 3, 2}
	for a := range levels {
		want := 1 + 0i
		for k := range v.n {
			part := 1 + 0i
			switch {
			case k == 0 && scalar.Of[T]().IsComplex():
				part = complex(0, float64(a+1))
			case k == 0:
				part = complex(float64(a+1), 0)
			case k < len(factors):
				part = complex(factors[k], 0)
			}
			v.contributions[k*levels+a] = number[T](real(part), imag(part))
			want *= part
		}
		v.want[a] = number[T](real(want), imag(want))
	}
}

// fillCopied fills dst with elements from to from+len(dst) of what rank sends.
func (v *values[T]) fillCopied(dst []T, rank, from int, seed uint32) {
	r := 37 * uint32(rank) // odd, so that up to 128 ranks send different values
	for i := range dst {
		dst[i] = v.copied[(mix(from+i, seed)+r)%copies]
	}
}

// wrongCopied counts the elements of got that are not what rank sends from from on.
func (v *values[T]) wrongCopied(got []T, rank, from int, seed uint32) (wrong int64) {
	r := 37 * uint32(rank)
	for i, x := range got {
		if x != v.copied[(mix(from+i, seed)+r)%copies] {
			wrong++
		}
	}
	return wrong
}

// fillReduced fills dst with what rank contributes to a reduction.
func (v *values[T]) fillReduced(dst []T, rank int, seed uint32) {
	k := rank
	for i := range dst {
		dst[i] = v.contributions[k*levels+int(mix(i, seed)&v.mask)]
		if k++; k == v.n {
			k = 0
		}
	}
}

// wrongReduced counts the elements of got that are not the reduction of
// elements from on.
func (v *values[T]) wrongReduced(got []T, from int, seed uint32) (wrong int64) {
	for i, x := range got {
		if x != v.want[mix(from+i, seed)&v.mask] {
			wrong++
		}
	}
	return wrong
}

func set[T any](s []T, x T) {
	for i := range s {
		s[i] = x
	}
}

// pair returns x - xi as a complex number, x in other types.
func fromInt[T scalar.Element](x int) T { return number[T](float64(x), float64(-x)) }

// number converts to T. Integers wrap, as their sums do, and turn NaN into -1.
func number[T scalar.Element](re, im float64) T {
	whole := int64(-1)
	if !math.IsNaN(re) {
		whole = int64(re)
	}
	var z T
	switch p := any(&z).(type) {
	case *uint8:
		*p = uint8(whole)
	case *int32:
		*p = int32(whole)
	case *int64:
		*p = whole
	case *float32:
		*p = float32(re)
	case *float64:
		*p = re
	case *complex64:
		*p = complex(float32(re), float32(im))
	case *complex128:
		*p = complex(re, im)
	case *scalar.Float16:
		*p = scalar.ToFloat16(float32(re))
	case *scalar.BFloat16:
		*p = scalar.ToBFloat16(float32(re))
	}
	return z
}
