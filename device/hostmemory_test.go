package device

import (
	"runtime"
	"testing"
)

// The systems that golops is built for tell of their memory.
func TestHostMemory(t *testing.T) {
	free, total := HostMemory()
	if free <= 0 || total < free || total < 64<<20 {
		t.Errorf("%s/%s: %d bytes free of %d", runtime.GOOS, runtime.GOARCH, free, total)
	}
}
