package launch

import (
	"os"
	"strconv"
	"strings"
)

// threadsPerRank returns how many threads a rank gets. visible is the number of cores that
// this process sees. A launcher that binds its processes has divided the cores already: then
// the rank gets all visible ones.
func threadsPerRank(visible, all, ranks int) int {
	if ranks < 2 || visible*ranks <= all {
		return visible
	}
	return max(1, visible/ranks)
}

// Cores returns how many cores the machine has, whether or not this process is bound to
// some. It returns 0 if that is not known.
func Cores() int {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return 0
	}
	n := 0
	for part := range strings.SplitSeq(strings.TrimSpace(string(b)), ",") {
		lo, hi, found := strings.Cut(part, "-")
		if !found {
			hi = lo
		}
		l, err1 := strconv.Atoi(lo)
		h, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || h < l {
			return 0
		}
		n += h - l + 1
	}
	return n
}
