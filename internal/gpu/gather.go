package gpu

import (
	"math"
	"slices"

	"github.com/golops/golops/device"
)

// gatherFunctions are the kernels of gather.cu.
type gatherFunctions struct {
	short, long function
}

func (k *kernels[T, F]) makeGather() {
	k.gather = gatherFunctions{short: k.function("gather.cu", "gatherShort"), long: k.function("gather.cu", "gatherLong")}
}

// gatherArgs mirror GatherArgs of gather.cu.
type gatherArgs struct {
	dst, src, w uintptr
	first, at   uintptr
	rows        int
	wide, lanes int32
}

const (
	gatherBlock = 256 // threads
	gatherShort = 8   // elements per row up to which one thread adds up a row
)

// Gather multiplies in the element type and adds in 64 bits.
func (k *kernels[T, F]) Gather(dst, src device.Mem[T], s *device.Sparse[T]) {
	if dst.N == 0 {
		return
	}
	a, _ := s.Cache.Get(k.d).(*gatherArgs)
	if a == nil {
		var err error
		if a, err = k.makeSparseTables(s); err != nil {
			k.d.fail(err)
			return
		}
	}
	a.dst, a.src = dst.Addr, src.Addr
	if a.lanes == 1 {
		launch(k.d, &k.gather.short, blocks(a.rows, gatherBlock), gatherBlock, 0, a)
	} else {
		launch(k.d, &k.gather.long, blocks(a.rows*int(a.lanes), gatherBlock), gatherBlock, 0, a)
	}
}

// makeSparseTables uploads a matrix. It uses 32-bit indices if they suffice.
func (k *kernels[T, F]) makeSparseTables(s *device.Sparse[T]) (*gatherArgs, error) {
	a := &gatherArgs{rows: len(s.First) - 1, lanes: 1}
	most := len(s.At)
	if most > 0 {
		most = max(most, slices.Max(s.At))
	}
	var t tables
	if most > math.MaxUint32 {
		a.wide, a.first, a.at = 1, put(&t, s.First), put(&t, s.At)
	} else {
		a.first, a.at = put(&t, toUint32(s.First)), put(&t, toUint32(s.At))
	}
	if s.W != nil {
		a.w = put(&t, s.W)
	}
	if perRow := len(s.At) / max(a.rows, 1); perRow > gatherShort {
		a.lanes = int32(powerOf2(perRow/4, gatherBlock))
	}
	addr, err := k.d.upload(t.bytes)
	if err != nil {
		return nil, err
	}
	a.first, a.at = addr+a.first, addr+a.at
	if s.W != nil {
		a.w += addr
	}
	cacheTables(k.d, &s.Cache, a, addr)
	return a, nil
}

func toUint32(list []int) []uint32 {
	s := make([]uint32, len(list))
	for i, v := range list {
		s[i] = uint32(v)
	}
	return s
}
