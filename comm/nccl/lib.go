package nccl

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/scalar"
)

// Results of the library.
const (
	success      = 0
	invalidUsage = 5
	inProgress   = 7
)

// failed reports whether a result is an error. inProgress is none.
func failed(code int32) bool { return code != success && code != inProgress }

// uniqueID identifies a communicator to be created: 128 bytes that one rank gets from the
// library and sends to the others.
type uniqueID [16]int64

// config is ncclConfig_t of version 2.18. Newer libraries use defaults for the fields that
// it lacks.
type config struct {
	size                              uint64
	magic, version                    uint32
	blocking, cluster, minCTA, maxCTA int32
	_                                 uintptr // the name of a network
	splitShare, trafficClass          int32
}

func newConfig() config {
	const unset = math.MinInt32
	return config{size: uint64(unsafe.Sizeof(config{})), magic: 0xcafebeef, version: oldest,
		blocking: 0, cluster: unset, minCTA: unset, maxCTA: unset, splitShare: unset, trafficClass: unset}
}

// initRank starts to create a communicator and stores its handle in *h. If the library has
// a function that takes the id by pointer, it is used. By value, the id is 16 words on the
// stack after six registers on amd64, and a pointer on arm64.
func (l *lib) initRank(h *uintptr, id *uniqueID, rank, size int, cfg *config) int32 {
	switch {
	case l.initRankScalable != 0:
		return l.initRankScalable.Call(dl.Pointer(h), uintptr(size), uintptr(rank), 1, dl.Pointer(id), dl.Pointer(cfg))
	case runtime.GOARCH == "amd64":
		args := []uintptr{dl.Pointer(h), uintptr(size), uintptr(rank), dl.Pointer(cfg), 0, 0}
		for _, w := range id {
			args = append(args, uintptr(w))
		}
		return l.initRankConfig.CallWide(args...)
	}
	return l.initRankConfig.Call(dl.Pointer(h), uintptr(size), dl.Pointer(id), uintptr(rank), dl.Pointer(cfg))
}

// errorOf turns a result into an error with the library's text. h is the communicator, or
// 0.
func (l *lib) errorOf(name string, code int32, h uintptr) error {
	if !failed(code) {
		return nil
	}
	text := fmt.Sprintf("code %d", code)
	if s := dl.CString(l.getErrorString.CallPointer(uintptr(code))); s != "" {
		text = s
	}
	if s := dl.CString(l.getLastError.CallPointer(h)); s != "" {
		text += ": " + s
	}
	if code == invalidUsage {
		text += ": does each rank have its own GPU?"
	}
	return fmt.Errorf("nccl: %s: %s", name, text)
}

// dtypes are the library's element types. A complex number is two reals.
var dtypes = [...]struct{ code, per uintptr }{
	scalar.Uint8: {1, 1}, scalar.Int32: {2, 1}, scalar.Int64: {4, 1}, scalar.Float32: {7, 1}, scalar.Float64: {8, 1},
	scalar.Complex64: {7, 2}, scalar.Complex128: {8, 2}, scalar.Half: {6, 1}, scalar.Brain: {9, 1},
}

// ops are the library's reductions.
var ops = [...]uintptr{driver.Sum: 0, driver.Prod: 1, driver.Max: 2, driver.Min: 3, driver.Average: 4}

// runs reports whether the library runs a collective as package comm defines it. The library
// has no scan, and it does not multiply complex numbers. Its min and max of floats hide a
// NaN. Its average divides before summing, which is exact only for floats and a power of
// two of ranks.
func runs(c *driver.Signature, ranks int) bool {
	float := c.DType >= scalar.Float32
	switch s := c.Kind.Spec(); {
	case s.Before:
		return false
	case ranks == 1 || !s.Reduces:
		return true
	case c.Op == driver.Prod:
		return !c.DType.IsComplex()
	case c.Op == driver.Min || c.Op == driver.Max:
		return !float
	case c.Op == driver.Average:
		return float && ranks&(ranks-1) == 0
	}
	return true
}
