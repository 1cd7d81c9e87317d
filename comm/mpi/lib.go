// Package mpi is the communicator over an MPI library, which it finds and opens at run
// time: Open MPI, the MPICH family, or any with the MPI-5 ABI.
package mpi

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/scalar"
)

// addr returns the address of memory that C reads or writes. The memory must be on the
// heap, which does not move. The caller keeps it alive until C is done.
func addr[T any](p *T) uintptr { return dl.Pointer(p) }

// sized is a function with C int counts and, in newer libraries, the same function with
// 64-bit counts.
type sized struct{ small, wide dl.Func }

// lib is an initialised MPI library.
type lib struct {
	*Found
	*abi
	maxCount int         // the largest count of one call
	serial   *sync.Mutex // non-nil if the library allows one call at a time

	test, iprobe, recv, getCount, errorString, commFree, commSplit, commSplitType, commDup, commIdup, commSize, commRank, commGetAttr,
	setErrhandler, ibarrier, abort, finalize, opCreate, reduceLocal dl.Func
	isend, irecv sized
	collective   [len(collectives)]sized // by Kind
	winCreate, winFree, winFence, winLock, winUnlock, winLockAll, winUnlockAll, winFlush, winSync, put, get, accumulate,
	getAccumulate, winSetErrhandler dl.Func
	ownOps [driver.NoOp + 1][scalar.Brain + 1]uintptr // reductions that the library lacks or gets wrong
}

// bind looks up every function. Those of MPI 3 are required.
func bind(f *Found) (*lib, error) {
	l := &lib{Found: f, abi: f.abi, maxCount: math.MaxInt32}
	var missing string
	need := func(name string) dl.Func {
		fn := f.lib.Func("MPI_" + name)
		if fn == 0 && missing == "" {
			missing = name
		}
		return fn
	}
	for name, fn := range map[string]*dl.Func{
		"Test": &l.test, "Iprobe": &l.iprobe, "Recv": &l.recv, "Get_count": &l.getCount, "Error_string": &l.errorString,
		"Comm_free": &l.commFree, "Comm_split": &l.commSplit, "Comm_split_type": &l.commSplitType, "Comm_dup": &l.commDup, "Comm_idup": &l.commIdup,
		"Comm_size": &l.commSize, "Comm_get_attr": &l.commGetAttr, "Comm_rank": &l.commRank, "Comm_set_errhandler": &l.setErrhandler, "Ibarrier": &l.ibarrier,
		"Abort": &l.abort, "Finalize": &l.finalize, "Op_create": &l.opCreate, "Reduce_local": &l.reduceLocal, "Win_create": &l.winCreate, "Win_free": &l.winFree,
		"Win_fence": &l.winFence, "Win_lock": &l.winLock, "Win_unlock": &l.winUnlock, "Win_lock_all": &l.winLockAll,
		"Win_unlock_all": &l.winUnlockAll, "Win_flush": &l.winFlush, "Win_sync": &l.winSync, "Put": &l.put, "Get": &l.get,
		"Accumulate": &l.accumulate, "Get_accumulate": &l.getAccumulate, "Win_set_errhandler": &l.winSetErrhandler,
	} {
		*fn = need(name)
	}
	wide := true
	needSized := func(name string) sized {
		s := sized{need(name), f.lib.Func("MPI_" + name + "_c")}
		wide = wide && s.wide != 0
		return s
	}
	l.isend, l.irecv = needSized("Isend"), needSized("Irecv")
	for k, name := range collectives {
		if name != "" {
			l.collective[k] = needSized(name)
		}
	}
	if missing != "" {
		return nil, fmt.Errorf("mpi: %s lacks MPI_%s: MPI 3 or newer is needed", f.Path, missing)
	}
	if wide {
		l.maxCount = math.MaxInt
	}
	return l, nil
}

// fn returns the function with 64-bit counts if all functions have them.
func (l *lib) fn(s *sized) dl.Func {
	if l.maxCount > math.MaxInt32 {
		return s.wide
	}
	return s.small
}

// call calls a function that returns an error code.
func (l *lib) call(f dl.Func, args ...uintptr) int32 {
	if l.serial != nil {
		l.serial.Lock()
		defer l.serial.Unlock()
	}
	return f.Call(args...)
}

// errorOf turns an error code into an error with the library's text.
func (l *lib) errorOf(name string, code int32) error {
	if code == 0 {
		return nil
	}
	text, n := make([]byte, 1024), new(int32)
	if l.call(l.errorString, uintptr(code), addr(&text[0]), addr(n)) != 0 {
		return fmt.Errorf("mpi: %s failed with code %d", name, code)
	}
	return fmt.Errorf("mpi: %s: %s", name, dl.String(text))
}

// handle reads a handle that C has stored.
func (l *lib) handle(p *uintptr) uintptr {
	if l.intHandles {
		return uintptr(uint32(*p))
	}
	return *p
}

// status is an MPI_Status of any ABI: the largest has 32 bytes.
type status [8]int32

func (l *lib) source(s *status) int { return int(s[l.statusSource/4]) }
func (l *lib) tag(s *status) int    { return int(s[l.statusTag/4]) }

// op returns the handle of a reduction for one element type.
func (l *lib) op(o driver.Op, dt scalar.DType) uintptr {
	if h := l.ownOps[o][dt]; h != 0 {
		return h
	}
	return l.ops[o]
}

// windowOp is op for windows, which take only the library's reductions.
func (l *lib) windowOp(o driver.Op, dt scalar.DType) (uintptr, error) {
	switch {
	case l.ownOps[o][dt] == 0:
		return l.ops[o], nil
	case dt == scalar.Uint8:
		return 0, fmt.Errorf("comm: %v of uint8 in a window is wrong in %s, which takes bytes as signed: use int32: %w",
			o, l.Version, errors.ErrUnsupported)
	}
	return 0, fmt.Errorf("comm: %v of %v in a window: MPI has no such reduction: use float32: %w", o, dt, errors.ErrUnsupported)
}

// makeOps makes the reductions that the library lacks: those of 16-bit floats, and those
// of uint8 that it gets wrong.
func (l *lib) makeOps() error {
	for _, o := range []driver.Op{driver.Sum, driver.Prod, driver.Min, driver.Max} {
		for _, dt := range []scalar.DType{scalar.Uint8, scalar.Half, scalar.Brain} {
			if dt == scalar.Uint8 && l.reducesBytes(o) {
				continue
			}
			reduce := driver.ReducerOf(o, dt)
			f := dl.Callback(func(in, inout unsafe.Pointer, n *int32, _ uintptr) uintptr {
				reduce(inout, in, inout, int(*n))
				return 0
			})
			h := new(uintptr)
			if err := l.errorOf("MPI_Op_create", l.call(l.opCreate, f, 1, addr(h))); err != nil {
				return err
			}
			l.ownOps[o][dt] = l.handle(h)
		}
	}
	l.ownOps[driver.Average] = l.ownOps[driver.Sum]
	return nil
}

// reducesBytes reports whether the library reduces uint8 as unsigned numbers. MPICH 4.0
// compares them as signed ones. It tests the library instead of its version.
func (l *lib) reducesBytes(o driver.Op) bool {
	in, inout, want := []uint8{100, 200}, []uint8{200, 100}, []uint8{200, 100}
	driver.ReducerOf(o, scalar.Uint8)(unsafe.Pointer(&want[0]), unsafe.Pointer(&in[0]), unsafe.Pointer(&want[0]), 2)
	code := l.call(l.reduceLocal, addr(&in[0]), addr(&inout[0]), 2, l.dtypes[scalar.Uint8], l.ops[o])
	return code == 0 && inout[0] == want[0] && inout[1] == want[1]
}
