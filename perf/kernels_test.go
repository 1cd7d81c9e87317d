package perf

import (
	"bytes"
	"encoding/csv"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/scalar"
)

// small measures every kernel with little work.
func small(devices ...string) KernelConfig {
	return KernelConfig{Devices: devices, DType: "float32", Shrink: maxShrink, Rounds: 1, LoopTime: time.Nanosecond}
}

func TestKernels(t *testing.T) {
	for _, dt := range []scalar.DType{scalar.Float32, scalar.Float64, scalar.Complex64, scalar.Complex128} {
		t.Run(dt.String(), func(t *testing.T) {
			cfg := small("cpu")
			cfg.DType = dt.String()
			var out bytes.Buffer
			text := NewText(&out, sampleMachine)
			tables, err := Kernels(t.Context(), cfg, text)
			if err != nil {
				t.Fatal(err)
			}
			checkKernels(t, tables, dt.String())
			if got := strings.Count(out.String(), "\n"); got != 6+len(tables[0].Rows) {
				t.Errorf("%d lines:\n%s", got, out.String())
			}
		})
	}
}

// TestKernelsOnGPU has every kernel on a simulated GPU.
func TestKernelsOnGPU(t *testing.T) {
	simulate(t, 1, 1<<30)
	cfg := small("cuda", "cpu")
	cfg.Log = slog.New(slog.DiscardHandler)
	tables, err := Kernels(t.Context(), cfg, nil)
	if err != nil || len(tables) != 2 || !strings.HasPrefix(tables[0].Device, "cuda:0") {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	checkKernels(t, tables, "float32")
}

// TestKernelsWithoutGPU measures nothing if one of the devices is not there.
func TestKernelsWithoutGPU(t *testing.T) {
	simulate(t, 0, 1<<30)
	tables, err := Kernels(t.Context(), small("cpu", "cuda"), nil)
	if err == nil || !strings.Contains(err.Error(), "no GPU for device cuda") || tables != nil {
		t.Errorf("%d tables, %v", len(tables), err)
	}
}

// checkKernels wants a full row for each kernel that the device has.
func checkKernels(t *testing.T, tables []KernelTable, dtype string) {
	t.Helper()
	for _, tab := range tables {
		if tab.Type != dtype || tab.Copy <= 0 || tab.Peak <= 0 || tab.Rows[0].Kernel != "copy" || len(tab.Rows) != 13 {
			t.Errorf("got %+v", tab)
		}
		for _, r := range tab.Rows {
			if r.Missing != "" || r.Time <= 0 || r.Launches < 1 || r.Bandwidth <= 0 && r.Rate <= 0 {
				t.Errorf("%s: got %+v", tab.Device, r)
			}
		}
	}
	var b bytes.Buffer
	if err := WriteKernelsCSV(&b, tables); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != 1+13*len(tables) {
		t.Errorf("%d lines of CSV, %v", len(lines), err)
	}
}

func TestKernelConfig(t *testing.T) {
	err := KernelConfig{Devices: []string{"abacus"}, DType: "int32", Shrink: 99, Threads: -1, Rounds: -1}.Validate()
	for _, want := range []string{`"abacus"`, "not with int32", "shrink is 99", "threads is -1", "-1 rounds"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to contain %q", err, want)
		}
	}
	if err := KernelDefaults().Validate(); err != nil {
		t.Error(err)
	}
	if err := (KernelConfig{}).Validate(); err == nil {
		t.Error("the zero KernelConfig is valid: it has no device")
	}
}
