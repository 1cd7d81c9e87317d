package cpu

import (
	"syscall"
	"unsafe"
)

// huge is from how many bytes on memory is worth large pages: a processor that
// walks through more than it has entries for small ones waits for its tables.
const huge = 4 << 20

// largePages asks for large pages for memory that has not been touched yet, as
// NumPy does. Where the system has none it changes nothing.
func largePages(p unsafe.Pointer, bytes int) {
	const page = 2 << 20
	if bytes < huge {
		return
	}
	first := (page - uintptr(p)%page) % page
	n := (bytes - int(first)) &^ (page - 1)
	if n <= 0 {
		return
	}
	b := unsafe.Slice((*byte)(unsafe.Add(p, first)), n)
	_ = syscall.Madvise(b, 14) // MADV_HUGEPAGE; a refusal costs speed only
}
