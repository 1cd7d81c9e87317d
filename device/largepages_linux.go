package device

import (
	"syscall"
	"unsafe"
)

// huge is the size in bytes from which large pages pay: a loop over more small pages
// than the TLB has entries waits for page tables.
const huge = 4 << 20

// largePages asks for large pages for untouched memory, as NumPy does. Without system
// support it changes nothing.
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
