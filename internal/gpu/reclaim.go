package gpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// reclaimed is memory that nobody can reach any more, as the collector finds
// out. It is told so on a goroutine of its own.
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

// freeReclaimed frees what has been abandoned, and reports whether there was any.
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

// collectGarbage lets the collector look for memory that nobody can reach, for when the
// device has none left: the collector knows nothing of that.
func (d *Device) collectGarbage() (found bool) {
	runtime.GC()
	for range 20 { // what it found, it tells a little later
		if d.freeReclaimed() {
			found = true
		} else if found {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return found
}
