package local

import (
	"unsafe"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// chunk is how many bytes a reduction works on at a time. It is small enough that the
// partial result stays in the first-level cache while all ranks' data is added.
const chunk = 8192

// streaming is the size in bytes from which a rank bypasses the caches when it writes
// its share. Caches cannot hold that much.
const streaming = 8 << 20

// operands returns the addresses of all ranks' sources and destinations. In a slot
// they lie on another cache line than flag and data, so small calls use inSlots.
func (r *rank) operands() (srcs, dsts []unsafe.Pointer) {
	r.srcs, r.dsts = r.srcs[:0], r.dsts[:0]
	for j := range r.n {
		s := r.slotOf(j)
		r.srcs, r.dsts = append(r.srcs, s.src), append(r.dsts, s.dst)
	}
	return r.srcs, r.dsts
}

// inSlots returns the addresses of the sources that ranks copied into their slots.
func (r *rank) inSlots() []unsafe.Pointer {
	r.srcs = r.srcs[:0]
	for j := range r.n {
		r.srcs = append(r.srcs, unsafe.Pointer(&r.slotOf(j).data))
	}
	return r.srcs
}

// reduceRange reduces elements lo to hi of all sources into all dsts. No other rank
// uses that range, so the call may be in place. Summation goes by rank, so a
// result repeats exactly.
func (r *rank) reduceRange(op driver.Op, dt scalar.DType, lo, hi int, dsts, srcs []unsafe.Pointer) {
	f, size := driver.ReducerOf(op, dt), dt.Size()
	if len(srcs) == 2 && len(dsts) == 2 && op == driver.Sum && lo < hi {
		o := lo * size
		stream := (hi-lo)*size >= streaming && srcs[0] != dsts[0] && srcs[1] != dsts[1]
		if driver.AddInto2(dt, unsafe.Add(dsts[0], o), unsafe.Add(dsts[1], o), unsafe.Add(srcs[0], o), unsafe.Add(srcs[1], o), hi-lo, stream) {
			return
		}
	}
	acc := unsafe.Pointer(&r.chunk)
	for at := lo; at < hi; at += chunk / size {
		n := min(chunk/size, hi-at)
		r.foldChunk(acc, f, op, dt, srcs, at*size, n)
		for _, d := range dsts {
			driver.Move(unsafe.Add(d, at*size), acc, n*size)
		}
	}
}

// foldInto reduces elements lo to hi of all sources into dst.
func (r *rank) foldInto(dst unsafe.Pointer, op driver.Op, dt scalar.DType, lo, hi int, srcs []unsafe.Pointer) {
	f, size := driver.ReducerOf(op, dt), dt.Size()
	acc := unsafe.Pointer(&r.chunk)
	for at := lo; at < hi; at += chunk / size {
		n := min(chunk/size, hi-at)
		to := unsafe.Add(dst, (at-lo)*size)
		if len(srcs) <= 2 { // a single reduction reads each element before it writes
			acc = to
		}
		r.foldChunk(acc, f, op, dt, srcs, at*size, n)
		driver.Move(to, acc, n*size)
	}
}

// foldChunk reduces n elements of all sources into acc.
func (r *rank) foldChunk(acc unsafe.Pointer, f driver.Reducer, op driver.Op, dt scalar.DType, srcs []unsafe.Pointer, offset, n int) {
	if len(srcs) == 1 {
		driver.Move(acc, unsafe.Add(srcs[0], offset), n*dt.Size())
		return
	}
	f(acc, unsafe.Add(srcs[0], offset), unsafe.Add(srcs[1], offset), n)
	for _, s := range srcs[2:] {
		f(acc, acc, unsafe.Add(s, offset), n)
	}
	if op == driver.Average {
		driver.Divide(acc, dt, n, len(srcs))
	}
}
