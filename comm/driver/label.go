package driver

import "strings"

// Label says in up to eight ASCII characters what the elements of a buffer mean,
// such as "dot" or "forward". Buffers of the same type and count but with
// different labels are a mismatch. The zero Label means no label and differs from
// all others.
type Label uint64

// LabelOf packs text into a Label. It keeps the first eight bytes.
func LabelOf(text string) Label {
	var l Label
	for i := range min(len(text), 8) {
		l |= Label(text[i]) << (8 * i)
	}
	return l
}

// String returns the text.
func (l Label) String() string {
	var s strings.Builder
	for ; l != 0; l >>= 8 {
		s.WriteByte(byte(l))
	}
	return s.String()
}

// Labelled returns b with a label. The label of a call is that of its source, of
// a Scatter that of its destination.
func (b Buf) Labelled(l Label) Buf {
	b.Label = l
	return b
}
