package array

import (
	"fmt"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Gemv sets y = alpha·op(A)·x + beta·y. A has m × n elements in row-major order.
// With beta = 0, y is not read.
func Gemv[T scalar.Scalar](op device.Trans, m, n int, alpha T, a, x Array[T], beta T, y Array[T]) error {
	rows, cols := m, n
	if op == device.Transpose || op == device.ConjTrans {
		rows, cols = n, m
	}
	y.holds("Gemv", "y", rows, y.dev)
	x.holds("Gemv", "x", cols, y.dev)
	a.holds("Gemv", "A", device.Size(m, n), y.dev)
	return y.k.Gemv(op, m, n, alpha, a.mem, x.mem, beta, y.mem)
}

// Gemm sets C = alpha·op(A)·op(B) + beta·C. op(A) is m × k, op(B) k × n and C m × n,
// all in row-major order without gaps. With beta = 0, C is not read.
func Gemm[T scalar.Scalar](opA, opB device.Trans, m, n, k int, alpha T, a, b Array[T], beta T, c Array[T]) error {
	c.holds("Gemm", "C", device.Size(m, n), c.dev)
	a.holds("Gemm", "A", device.Size(m, k), c.dev)
	b.holds("Gemm", "B", device.Size(k, n), c.dev)
	return c.k.Gemm(opA, opB, m, n, k, alpha, a.mem, b.mem, beta, c.mem)
}

// GemmBatch is n products Gemm: matrix i of a factor begins at element i·stride; see
// device.Batch.
func GemmBatch[T scalar.Scalar](opA, opB device.Trans, batch device.Batch, m, n, k int, alpha T, a, b Array[T], beta T, c Array[T]) error {
	c.holds("GemmBatch", "C", batch.Holds(batch.C, m, n), c.dev)
	a.holds("GemmBatch", "A", batch.Holds(batch.A, m, k), c.dev)
	b.holds("GemmBatch", "B", batch.Holds(batch.B, k, n), c.dev)
	return device.GemmBatch(c.k, opA, opB, batch, m, n, k, alpha, a.mem, b.mem, beta, c.mem)
}

// CopyND copies a box of elements between two strided blocks, or adds it to dst.
func CopyND[T scalar.Scalar](dst, src Array[T], c *device.Strided, add bool) {
	on("CopyND", &dst, &src)
	must("CopyND", c.Check(dst.mem.N, src.mem.N))
	dst.k.CopyND(dst.mem, src.mem, c, add)
}

// Bands applies one group of a banded matrix along an axis; see device.Banded. ghost
// may be the zero Array if the matrix has no ghosts.
func Bands[T scalar.Scalar](dst, src, ghost Array[T], b *device.Banded[T], group int, add bool) {
	must("Bands", b.Check())
	needDst, needSrc, needGhost := b.Sizes()
	dst.holds("Bands", "dst", needDst, dst.dev)
	src.holds("Bands", "src", needSrc, dst.dev)
	if needGhost > ghost.mem.N || needGhost > 0 && ghost.dev != dst.dev {
		ghost.holds("Bands", "ghost", needGhost, dst.dev)
	}
	dst.k.Bands(dst.mem, src.mem, ghost.mem, b, group, add)
}

// BandsSum sets dst = Σₖ Bₖ·src in two calls; see device.BandsSum. Ghosts are read in
// the second one only.
func BandsSum[T scalar.Scalar](dst, src Array[T], s *device.BandedSum[T], group int) {
	same("BandsSum", &dst, &src)
	for i := range s.Parts {
		p := &s.Parts[i]
		must("BandsSum", p.Check())
		needDst, needSrc, needGhost := p.Sizes()
		dst.holds("BandsSum", "dst", needDst, dst.dev)
		src.holds("BandsSum", "src", needSrc, dst.dev)
		if group == 1 && needGhost > p.Ghost.N {
			panic(Error{fmt.Sprintf("array: BandsSum: the ghosts of part %d have %d elements, need %d", i, p.Ghost.N, needGhost)})
		}
	}
	device.BandsSum(dst.k, dst.mem, src.mem, s, group)
}

// Gather sets dst[i] = Σ w[k]·src[at[k]] over k from first[i] to first[i+1]: the
// product with a sparse matrix in compressed rows.
func Gather[T scalar.Scalar](dst, src Array[T], s *device.Sparse[T]) {
	on("Gather", &dst, &src)
	must("Gather", s.Check(dst.mem.N, src.mem.N))
	dst.k.Gather(dst.mem, src.mem, s)
}
