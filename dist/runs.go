package dist

import (
	"iter"

	"github.com/golops/golops/shape"
)

// Runs returns the start and the length of each run of elements of a rank's block
// that lie together in the whole array, the last axis running fastest. They come in
// the order of the block.
func (s *Space) Runs(rank int) iter.Seq2[int, int] {
	b, n := s.Box(rank), s.shape.NDim()
	return shape.Runs(s.shape.Dims(), b.Lo[:n], b.Hi[:n])
}
