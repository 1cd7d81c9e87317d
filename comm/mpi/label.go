package mpi

import (
	"sync/atomic"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// labels are the labels that this process has used in messages, by hash. The tag of a
// message holds its type and the hash of its label. MPI guarantees tags only up to 32767,
// so there is no room for more. A receiver can name the sender's label if it has used
// the same label.
type labels [1 << (15 - typeBits)]atomic.Uint64

const typeBits = 4 // of the tag

// unknown stands for a sender's label that this rank has never used.
var unknown = driver.LabelOf("(other)")

// hash returns 0 only for no label.
func hash(l driver.Label) int32 {
	if l == 0 {
		return 0
	}
	return int32(uint64(l)*0x9e3779b97f4a7c15>>32%uint64(len(labels{})-1)) + 1
}

// tag returns the tag of a message of this type and label.
func (t *labels) tag(dt scalar.DType, l driver.Label) int32 {
	return int32(dt) | hash(l)<<typeBits
}

// note remembers a label that this process uses.
func (t *labels) note(l driver.Label) {
	if at := &t[hash(l)]; at.Load() != uint64(l) {
		at.Store(uint64(l))
	}
}

// read returns the type and the label of a message from its tag. asked is the label of
// the receive.
func (t *labels) read(tag int, asked driver.Label) (scalar.DType, driver.Label) {
	dt, h := scalar.DType(tag&(1<<typeBits-1)), int32(tag)>>typeBits
	switch l := driver.Label(t[h].Load()); {
	case h == hash(asked):
		return dt, asked
	case h == 0:
		return dt, 0
	case l != 0:
		return dt, l
	}
	return dt, unknown
}
