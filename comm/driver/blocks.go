package driver

// Offset returns where the block of rank r starts.
func Offset(counts []int, r int) int {
	at := 0
	for _, n := range counts[:r] {
		at += n
	}
	return at
}

// Block returns the block of rank r when b holds size equal blocks.
func Block(b Buf, r, size int) Buf {
	n := b.N / size
	return b.Slice(r*n, (r+1)*n)
}

// BlockV returns the block of rank r when b holds blocks of counts elements.
func BlockV(b Buf, counts []int, r int) Buf {
	at := Offset(counts, r)
	return b.Slice(at, at+counts[r])
}

// InBlock reports whether small is the block of large that starts at element at.
func InBlock(small, large Buf, at int) bool {
	return small.N > 0 && at >= 0 && at <= large.N-small.N && Same(small, large.Slice(at, at+small.N))
}
