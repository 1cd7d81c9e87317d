package mpi

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/golops/golops/comm/driver"
)

const (
	tagAbort = 1 // a rank aborts the program
	tagBye   = 2 // a rank has ended its program after an abort
	tagEnded = 3 // a rank has ended its program and waits for the others
)

const maxNotice = 2048 // small enough that libraries buffer it

// abort ends the program on all ranks. It sends a notice with the cause to every
// rank. The others poll for notices in every wait.
func (w *world) abort(rank int, cause error) *driver.AbortError {
	ae := &driver.AbortError{Rank: rank, Err: cause}
	var had *driver.AbortError
	if errors.As(cause, &had) {
		ae = had // the abort of another rank: keep its cause
	}
	w.aborted.CompareAndSwap(nil, ae)
	ae = w.aborted.Load()
	if ae.Rank == w.rank { // its notice goes to all ranks, so the others need not forward it
		w.sendNotice(ae, tagAbort)
	}
	return ae
}

// sendNotice sends a notice of the abort to all ranks, once for each tag.
func (w *world) sendNotice(ae *driver.AbortError, tag int) {
	text := ae.Err.Error()
	notice := binary.LittleEndian.AppendUint32(nil, uint32(ae.Rank))
	w.send(append(notice, text[:min(len(text), maxNotice-4)]...), tag)
}

// send sends a notice to all ranks, once for each tag.
func (w *world) send(notice []byte, tag int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.noticeSent[tag] {
		return
	}
	w.noticeSent[tag] = true
	for r := range w.size {
		if r == w.rank {
			continue
		}
		o := &operation{mem: unsafe.Pointer(&notice[0])}
		code := w.l.call(w.l.isend.small, addr(&notice[0]), uintptr(len(notice)), w.l.dtypes[1], uintptr(r),
			uintptr(tag), w.ctrl, addr(&o.req))
		if code == 0 {
			w.sends = append(w.sends, o)
		}
	}
}

// pollNotices receives the notices that have arrived.
func (w *world) pollNotices() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		o := &w.probe
		code := w.l.call(w.l.iprobe, uintptr(w.l.anySource), uintptr(w.l.anyTag), w.ctrl, addr(&o.flag), addr(&o.status))
		if code != 0 || o.flag == 0 {
			return
		}
		from, tag := w.l.source(&o.status), w.l.tag(&o.status)
		b := make([]byte, maxNotice)
		n := new(int32)
		w.l.call(w.l.recv, addr(&b[0]), uintptr(len(b)), w.l.dtypes[1], uintptr(from), uintptr(tag), w.ctrl, addr(&o.status))
		w.l.call(w.l.getCount, addr(&o.status), w.l.dtypes[1], addr(n))
		switch tag {
		case tagBye:
			w.goodbyes[from] = true
		case tagEnded:
			w.ended.Add(1)
			continue
		}
		if *n >= 4 {
			ae := &driver.AbortError{Rank: int(binary.LittleEndian.Uint32(b)), Err: errors.New(string(b[4:*n]))}
			w.aborted.CompareAndSwap(nil, ae)
		}
	}
}
