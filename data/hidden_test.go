package data_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/ondevice"
	"github.com/golops/golops/scalar"
)

// hidden is a device of float32 whose memory the host cannot read, as that of a
// GPU: it numbers its allocations and keeps them to itself.
type hidden struct{ device.Device }

func (h hidden) Kernels(dt scalar.DType) any {
	k, ok := h.Device.Kernels(dt).(device.Kernels[float32])
	if !ok {
		return nil
	}
	return hiddenKernels{k, map[uintptr][]float32{}}
}

type hiddenKernels struct {
	device.Kernels[float32]
	mem map[uintptr][]float32
}

func (k hiddenKernels) Alloc(n int) (device.Mem[float32], error) {
	at := uintptr(len(k.mem) + 1)
	k.mem[at] = make([]float32, n)
	return device.Mem[float32]{Addr: at, N: n}, nil
}

func (k hiddenKernels) Free(device.Mem[float32]) {}

func (k hiddenKernels) CopyIn(dst device.Mem[float32], src []float32) error {
	copy(k.mem[dst.Addr], src)
	return nil
}

func (k hiddenKernels) CopyOut(dst []float32, src device.Mem[float32]) error {
	copy(dst, k.mem[src.Addr])
	return nil
}

func TestHiddenMemory(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.npy"), filepath.Join(dir, "out.npy")
	all := make([]float32, 35)
	for i := range all {
		all[i] = float32(i)
	}
	if err := data.WriteNPY(in, []int{5, 7}, all); err != nil {
		t.Fatal(err)
	}
	err := ondevice.Local(t.Context(), 3, func(ctx context.Context, r dist.Rank) error {
		r, err := dist.NewRank(ctx, r.Comm, &hidden{r.Device})
		if err != nil {
			return err
		}
		s, err := dist.NewSpace(ctx, r, dist.Split(1), 5, 7)
		if err != nil {
			return err
		}
		a, err := data.Load[float32](ctx, in, s)
		if err != nil {
			return err
		}
		if a.Local().Mem().Host != nil {
			return fmt.Errorf("the memory is not hidden")
		}
		return data.Save(ctx, out, a)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, got, err := data.ReadNPY[float32](out); err != nil || !slices.Equal(got, all) {
		t.Errorf("%v %v, want %v", got, err, all)
	}
}
