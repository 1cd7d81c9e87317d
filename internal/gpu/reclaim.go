package gpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// reclaimList is GPU memory whose owners in Go have become unreachable. Cleanups
// of the garbage collector add to it, on another goroutine. The goroutine of the
// device frees it.
type reclaimList struct {
	some atomic.Bool
	sync.Mutex
	addrs []uintptr
}

func (a *reclaimList) add(addr uintptr) {
	if addr == 0 {
		return
	}
	a.Lock()
	a.addrs = append(a.addrs, addr)
	a.some.Store(true)
	a.Unlock()
}

// freeReclaimed frees the memory in the list, and reports whether there was any.
func (d *Device) freeReclaimed() bool {
	a := &d.reclaimed
	if !a.some.Load() {
		return false
	}
	a.Lock()
	addrs := a.addrs
	a.addrs = nil
	a.some.Store(false)
	a.Unlock()
	for _, addr := range addrs {
		d.release(addr)
	}
	return true
}

// collectGarbage runs the garbage collector when GPU memory is exhausted: the
// collector does not see GPU memory and would not run. It reports whether memory
// was freed.
func (d *Device) collectGarbage() (found bool) {
	runtime.GC()
	for range 20 { // cleanups run a little after the collection
		if d.freeReclaimed() {
			found = true
		} else if found {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return found
}
