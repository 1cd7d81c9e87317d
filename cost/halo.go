package cost

import (
	"errors"
	"fmt"
	"strings"

	"github.com/golops/golops/scalar"
)

// Halo is an exchange of ghost cells: an array that is split over a grid of ranks gets
// copies of the cells around each block, corners included.
type Halo struct {
	Extents  []int
	Depth    int // ghost cells on each side of each axis that is split
	DType    scalar.DType
	Grid     []int // ranks along each axis, the last of neighbouring ranks
	OneSided bool  // ghosts are put into windows
}

// String describes the grid, as in "4 x 2 x 1, one-sided".
func (h Halo) String() string {
	var grid []string
	for _, n := range h.Grid {
		grid = append(grid, fmt.Sprint(n))
	}
	s := strings.Join(grid, " x ")
	if h.OneSided {
		s += ", one-sided"
	}
	return s
}

// Validate reports what no exchange can have.
func (h Halo) Validate() error {
	if !isScalar(h.DType) {
		return fmt.Errorf("cost: halo of %v: must be float32, float64, complex64 or complex128", h.DType)
	}
	if len(h.Extents) == 0 || len(h.Grid) != len(h.Extents) || h.Depth < 0 {
		return fmt.Errorf("cost: halo of %d cells around blocks of %v on a grid of %v: the grid must have an axis for each of the array, and the depth must not be negative", h.Depth, h.Extents, h.Grid)
	}
	for i, n := range h.Extents {
		if n < 1 || h.Grid[i] < 1 {
			return fmt.Errorf("cost: halo: %d cells over %d ranks along axis %d: must be at least 1", n, h.Grid[i], i)
		}
	}
	return nil
}

// Halo predicts an exchange: the copy of the block, and one message from each neighbour,
// all at once.
func (m Machine) Halo(h Halo) (Prediction, error) {
	if err := errors.Join(m.Validate(), h.Validate()); err != nil {
		return Prediction{}, err
	}
	if h.OneSided && m.OneSided == (Link{}) {
		return Prediction{}, errors.New("cost: one-sided halo: the machine has no one-sided messages")
	}
	return m.halo(h), nil
}

// halo is Halo without checks.
func (m Machine) halo(h Halo) (r Prediction) {
	elem := float64(h.DType.Size())
	ranks := 1
	for _, n := range h.Grid {
		ranks *= n
	}
	block, wide, messages := elem, elem, 1.0
	for i, n := range h.Extents {
		b := ceil(n, h.Grid[i])
		reach := min(2*ceil(h.Depth, b), h.Grid[i]-1) // neighbours on both sides
		ghosts := min(2*h.Depth, n-b)
		if reach == 1 {
			ghosts = min(h.Depth, n-b)
		}
		block, wide = block*float64(b), wide*float64(b+ghosts)
		messages *= float64(1 + reach)
	}
	messages--
	c := Cost{Messages: messages, Bytes: wide - block, Compute: (block + wide) / m.Copy * m.slower(ranks)}
	c.Seconds = c.Compute + m.travel(h, ranks, messages)
	c.Seconds += 2 * c.Bytes / m.Copy * m.slower(ranks) // into messages, and out of them
	r.Forward, r.Adjoint = c, c
	r.Adjoint.Seconds += c.Bytes / m.Copy * m.slower(ranks) // ghosts are added, not copied
	r.Memory = int64(block + wide)
	return r
}

// travel returns the seconds of all messages of a rank.
func (m Machine) travel(h Halo, ranks int, messages float64) (s float64) {
	if messages == 0 {
		return 0
	}
	elem, stride := float64(h.DType.Size()), 1
	var slowest Link
	for a := len(h.Grid) - 1; a >= 0; a-- {
		b := ceil(h.Extents[a], h.Grid[a])
		if h.Grid[a] > 1 {
			l := m.along(ranks, h.Grid[a], stride, h.OneSided)
			face := elem * float64(min(2*h.Depth, h.Extents[a]-b))
			if h.Grid[a] == 2 {
				face = elem * float64(min(h.Depth, h.Extents[a]-b))
			}
			for c, n := range h.Extents {
				if c != a {
					face *= float64(ceil(n, h.Grid[c]))
				}
			}
			s += face / l.Bandwidth
			if l.Latency+l.Overhead >= slowest.Latency+slowest.Overhead {
				slowest = l
			}
		}
		stride *= h.Grid[a]
	}
	s += slowest.Latency + messages*slowest.Overhead
	if h.OneSided { // ranks tell each other when they have put
		s += m.Messages.Latency + messages*m.Messages.Overhead
	}
	return s
}

// BestHalo returns the grid of ranks, and the way, on which an exchange takes the least
// time, among those that need no more than memory bytes on a rank. 0 means that memory
// does not matter. Extents, Depth and DType of h are given. A *MemoryError says that none
// fits.
func BestHalo(m Machine, h Halo, ranks int, memory int64) (Halo, Prediction, error) {
	best, found, any := h, Prediction{}, false
	if ranks < 1 || memory < 0 {
		return best, found, fmt.Errorf("cost: best halo on %d ranks of %d bytes: there must be at least 1 rank, and memory that is not negative", ranks, memory)
	}
	none := &MemoryError{Ranks: ranks, Given: memory}
	for grid := range grids(ranks, len(h.Extents)) {
		for _, one := range []bool{false, true} {
			if one && m.OneSided == (Link{}) {
				continue
			}
			c := h
			c.Grid, c.OneSided = grid, one
			r, err := m.Halo(c)
			if err != nil {
				return best, found, err
			}
			if memory > 0 && r.Memory > memory {
				if none.Need == 0 || r.Memory < none.Need {
					none.Need = r.Memory
				}
				continue
			}
			// Among equal ones the last has the longest contiguous rows.
			if !any || r.Seconds() <= found.Seconds()*(1+1e-9) {
				best, found, any = c, r, true
				best.Grid = append([]int{}, grid...)
			}
		}
	}
	if !any {
		return best, found, none
	}
	return best, found, nil
}
