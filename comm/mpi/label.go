package mpi

import (
	"sync/atomic"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// labels are those that messages of this process have had, by hash. The tag of a
// message holds its type and the hash of its label, which is all that MPI has room
// for: tags up to 32767 are the least that a library offers. A receiver that
// has used the sender's label too can name it.
type labels [4096]atomic.Uint64

const typeBits = 3 // of a tag

// unknown stands for the label of a sender that this rank has never used.
var unknown = comm.LabelOf("(other)")

// hash is 0 for no label only.
func hash(l comm.Label) int32 {
	if l == 0 {
		return 0
	}
	return int32(uint64(l)*0x9e3779b97f4a7c15>>32%4095) + 1
}

// tag returns the tag of a message of this type and label.
func (t *labels) tag(dt scalar.DType, l comm.Label) int32 {
	if l == 0 {
		return int32(dt)
	}
	return int32(dt) | hash(l)<<typeBits
}

// note remembers a label that this process uses.
func (t *labels) note(l comm.Label) {
	if at := &t[hash(l)]; at.Load() != uint64(l) {
		at.Store(uint64(l))
	}
}

// read returns the type and the label of a message that came with a tag. asked is
// the label that the receiver asks for.
func (t *labels) read(tag int, asked comm.Label) (scalar.DType, comm.Label) {
	dt, h := scalar.DType(tag&(1<<typeBits-1)), int32(tag)>>typeBits
	switch l := comm.Label(t[h].Load()); {
	case h == hash(asked):
		return dt, asked
	case h == 0:
		return dt, 0
	case l != 0:
		return dt, l
	}
	return dt, unknown
}
