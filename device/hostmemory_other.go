//go:build !linux

package device

type memoryFiles struct{}

var thisHost memoryFiles

// memory returns 0, which means unknown: only Linux reports it.
func (memoryFiles) memory() (free, total int64) { return 0, 0 }
