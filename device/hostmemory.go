package device

import (
	"fmt"
	"math"
	"runtime/debug"
	"sync/atomic"
	"unsafe"
)

// smallAlloc is the size in bytes below which memory is not checked. Go uses as
// much for its own bookkeeping, and a check costs some 50 µs.
const smallAlloc = 64 << 20

// HostMemory returns how many bytes of host memory this process can still
// allocate, and its limit: that of the machine, of the container or of ulimit.
// Allocated memory counts as used even before it is touched. macOS gives an upper
// bound of free. Both are 0 where they are unknown, on other systems than Linux,
// macOS and Windows.
func HostMemory() (free, total int64) { return thisHost.memory() }

// CheckHostMemory returns an error that wraps ErrMemory if the host has fewer free
// bytes than the product of the factors. The product may overflow an int. A
// negative factor is an error. Less than 64 MiB is not checked.
func CheckHostMemory(factors ...int) error {
	n, err := product(factors)
	if err != nil {
		return err
	}
	return checkFree(n, pendingBytes.Load())
}

// Make returns n zeros in host memory, in large pages if there are many. Where make
// would end the process, it returns an error that wraps ErrMemory. Concurrent calls
// are counted together.
func Make[T any](n int) (s []T, err error) {
	var one T
	size, err := product([]int{n, int(unsafe.Sizeof(one))})
	if err != nil {
		return nil, err
	}
	if size < smallAlloc {
		s = make([]T, n)
	} else if s, err = makeLarge[T](n, size); err != nil {
		return nil, err
	}
	largePages(unsafe.Pointer(unsafe.SliceData(s)), int(size))
	return s, nil
}

func makeLarge[T any](n int, size int64) (s []T, err error) {
	mine := min(size, 1<<50) // a sum of many must not overflow
	others := pendingBytes.Add(mine) - mine
	defer func() {
		pendingBytes.Add(-mine)
		if r := recover(); r != nil { // make panics for a length that no memory can hold
			err = fmt.Errorf("%s asked for: %v: %w", BytesText(size), r, ErrMemory)
		}
	}()
	if err := checkFree(size, others); err != nil {
		return nil, err
	}
	return make([]T, n), nil
}

// pendingBytes is what calls of Make under way are about to allocate.
var pendingBytes atomic.Int64

// checkFree returns an error unless the host has n bytes free beside those that
// others are about to allocate. It collects garbage before it refuses.
func checkFree(n, others int64) error {
	if n < smallAlloc {
		return nil
	}
	free, total := HostMemory()
	if total != 0 && n > free-others && n <= total {
		debug.FreeOSMemory()
		free, total = HostMemory()
	}
	if total == 0 || n <= free-others {
		return nil
	}
	return fmt.Errorf("%s asked for, the host has %s free of %s: use smaller arrays, or more hosts: %w",
		BytesText(n), BytesText(max(free-others, 0)), BytesText(total), ErrMemory)
}

// product multiplies without overflow.
func product(factors []int) (int64, error) {
	n, zero := int64(1), false
	for _, f := range factors {
		if f < 0 {
			return 0, fmt.Errorf("memory for %d elements: must not be negative", f)
		}
		zero = zero || f == 0
		if f > 0 && n > math.MaxInt64/int64(f) {
			n = math.MaxInt64
			continue
		}
		n *= int64(max(f, 1))
	}
	if zero {
		return 0, nil
	}
	return n, nil
}

// BytesText formats a number of bytes, such as "1.5 GiB".
func BytesText[I int | int64](n I) string {
	switch n := int64(n); {
	case n < 0 || n > 1<<60:
		return "more than 1024 PiB"
	case n >= 1<<50:
		return fmt.Sprintf("%.1f PiB", float64(n)/(1<<50))
	case n >= 1<<40:
		return fmt.Sprintf("%.1f TiB", float64(n)/(1<<40))
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
