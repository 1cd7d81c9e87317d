package device

import (
	"runtime/metrics"

	"golang.org/x/sys/unix"
)

type host struct{}

var thisHost host

// memory returns the physical memory and how much of it Go does not use. That is
// an upper bound: macOS does not say what other programs would give back.
func (host) memory() (free, total int64) {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0, 0
	}
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	metrics.Read(s)
	total = int64(size)
	return max(total-int64(s[0].Value.Uint64()+s[1].Value.Uint64()), 0), total
}
