package local

import "github.com/golops/golops/comm/driver"

// shares divides n elements into count shares: by counts if given, in equal blocks if
// bytes is 0. Otherwise bytes is the size of an element, and borders lie on cache lines,
// so that two ranks never write to one line.
type shares struct {
	n, count, bytes int
	counts          []int
}

// bounds returns the first element of share i and the one after its last.
func (s shares) bounds(i int) (lo, hi int) {
	if s.counts != nil {
		lo = driver.Offset(s.counts, i)
		return lo, lo + s.counts[i]
	}
	if s.bytes == 0 {
		return i * s.n / s.count, (i + 1) * s.n / s.count
	}
	perLine := max(cacheLine/s.bytes, 1)
	lines := (s.n + perLine - 1) / perLine
	return min(i*lines/s.count*perLine, s.n), min((i+1)*lines/s.count*perLine, s.n)
}
