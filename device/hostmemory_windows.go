package device

import (
	"math"
	"unsafe"

	"golang.org/x/sys/windows"
)

type host struct{}

var thisHost host

// memoryStatus is MEMORYSTATUSEX of the Windows API.
type memoryStatus struct {
	length, load            uint32
	totalPhys, availPhys    uint64
	totalCommit, freeCommit uint64 // of memory and page files, that this process can have
	totalVirtual            uint64
	availVirtual            uint64
	availExtended           uint64
}

var globalMemoryStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// memory returns what Windows lets this process commit, in all and still.
// Windows counts memory as used once it is committed, before it is touched.
func (host) memory() (free, total int64) {
	s := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	if ok, _, _ := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return 0, 0
	}
	return int64(min(s.freeCommit, math.MaxInt64)), int64(min(s.totalCommit, math.MaxInt64))
}
