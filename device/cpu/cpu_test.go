package cpu_test

import (
	"fmt"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/device/devicetest"
)

func open(t testing.TB, cfg cpu.Config) *cpu.Device {
	t.Helper()
	d, err := cpu.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestSuite(t *testing.T) {
	for _, threads := range []int{1, 2, 3} {
		t.Run(fmt.Sprintf("threads=%d", threads), func(t *testing.T) {
			devicetest.Run(t, func(t *testing.T) device.Device { return open(t, cpu.Config{Threads: threads}) })
		})
	}
}
