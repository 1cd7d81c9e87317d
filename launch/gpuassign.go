package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/gpu"
)

// gpuSlot says where a rank runs, which GPUs it sees and which one it gets.
type gpuSlot struct {
	Machine  string
	Process  int
	Platform string
	GPUs     []gpu.Info // visible to this rank
	Fault    string     // why GPUs is empty
	Index    int        // of this rank's GPU in GPUs
}

// gpuSet identifies the set of visible GPUs.
func (s gpuSlot) gpuSet() string {
	v := s.Machine
	for _, g := range s.GPUs {
		v += " " + g.ID
	}
	return v
}

// gpuID identifies the GPU of s among all machines.
func (s gpuSlot) gpuID() string { return s.Machine + " " + s.GPUs[s.Index].ID }

// probe returns the kind of GPU and the GPUs that this process sees.
func (c Config) probe() (platform, gpuSlot) {
	s := gpuSlot{Process: os.Getpid()}
	s.Machine, _ = os.Hostname() // ignore the error: an empty hostname still identifies this machine
	p, _, err := c.platform()
	if err != nil {
		s.Fault = errors.Unwrap(err).Error()
		return p, s
	}
	s.Platform = p.name
	s.GPUs = p.look().Devices
	return p, s
}

// assignGPUs assigns a GPU to each rank: the i-th of the ranks that see the same GPUs gets
// the i-th GPU. It is collective and returns the same on all ranks.
func (c Config) assignGPUs(ctx context.Context, host *comm.Comm) (platform, []gpuSlot, error) {
	p, own := c.probe()
	slots, err := comm.AllGatherObjects(ctx, host, own)
	if err != nil {
		return p, nil, err
	}
	if err := c.setIndices(slots); err != nil {
		return p, nil, &DeviceError{err}
	}
	return p, slots, nil
}

// setIndices sets Index of all slots.
func (c Config) setIndices(slots []gpuSlot) error {
	ranks, taken := map[string]int{}, map[string]int{}
	for _, s := range slots {
		ranks[s.gpuSet()]++
	}
	for i := range slots {
		s := &slots[i]
		v, n := s.gpuSet(), len(s.GPUs)
		switch {
		case n == 0:
			return fmt.Errorf("rank %d: %s", i, s.Fault)
		case s.Platform != slots[0].Platform:
			return fmt.Errorf("rank 0 has a GPU of %s and rank %d one of %s, which cannot communicate: set the device to one of them", slots[0].Platform, i, s.Platform)
		case ranks[v] > n && !c.ShareGPU:
			return tooMany(ranks[v], n, s.Machine)
		}
		s.Index = taken[v] % n
		taken[v]++
	}
	return nil
}

// tooMany is the error of more ranks than GPUs.
func tooMany(ranks, gpus int, machine string) error {
	s := "s"
	if gpus == 1 {
		s = ""
	}
	return fmt.Errorf("%d ranks on %s, which has %d GPU%s: start at most %d there, or let ranks share GPUs (--share-gpu), which is slow and for development",
		ranks, machine, gpus, s, gpus)
}

// shared reports whether any two ranks have the same GPU.
func shared(slots []gpuSlot) bool {
	seen := map[string]bool{}
	for _, s := range slots {
		if seen[s.gpuID()] {
			return true
		}
		seen[s.gpuID()] = true
	}
	return false
}

// sameProcess returns two ranks of one process that have the same GPU, if any.
func sameProcess(slots []gpuSlot) (r, q int, ok bool) {
	first := map[string]int{}
	for i, s := range slots {
		key := fmt.Sprint(s.Process, " ", s.gpuID())
		if j, ok := first[key]; ok {
			return j, i, true
		}
		first[key] = i
	}
	return 0, 0, false
}

// describe lists which rank has which GPU.
func describe(slots []gpuSlot) string {
	var parts []string
	for i, s := range slots {
		g := s.GPUs[s.Index]
		parts = append(parts, fmt.Sprintf("rank %d: %s:%d of %s, %s, %.1f GiB", i, s.Platform, g.Index, s.Machine, g.Name, float64(g.Memory)/(1<<30)))
	}
	return strings.Join(parts, "; ")
}
