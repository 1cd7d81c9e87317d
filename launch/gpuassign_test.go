package launch

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/golops/golops/internal/gpu"
)

// slotOn returns the slot of a rank of a process on a machine that sees these GPUs.
func slotOn(machine string, process int, gpus ...string) gpuSlot {
	s := gpuSlot{Machine: machine, Process: process, Platform: CUDA, Fault: "no driver"}
	for i, id := range gpus {
		s.GPUs = append(s.GPUs, gpu.Info{Index: i, ID: id, Name: "GPU " + id})
	}
	return s
}

func TestAssignGPUs(t *testing.T) {
	other := slotOn("m", 2, "a")
	other.Platform = HIP
	for name, tc := range map[string]struct {
		slots  []gpuSlot
		share  bool
		want   string // indices, or part of the error
		shared bool
	}{
		"processes of two machines": {[]gpuSlot{slotOn("m", 1, "a", "b"), slotOn("n", 1, "a", "b"), slotOn("m", 2, "a", "b"), slotOn("n", 2, "a", "b")}, false, "[0 0 1 1]", false},
		"each sees its own":         {[]gpuSlot{slotOn("m", 1, "a"), slotOn("m", 2, "b"), slotOn("m", 3, "c")}, false, "[0 0 0]", false},
		"too many":                  {[]gpuSlot{slotOn("m", 1, "a"), slotOn("m", 2, "a")}, false, "2 ranks on m, which has 1 GPU: start at most 1 there", false},
		"shared":                    {[]gpuSlot{slotOn("m", 1, "a", "b"), slotOn("m", 2, "a", "b"), slotOn("m", 3, "a", "b")}, true, "[0 1 0]", true},
		"share though none need":    {[]gpuSlot{slotOn("m", 1, "a", "b"), slotOn("m", 2, "a", "b")}, true, "[0 1]", false},
		"one without":               {[]gpuSlot{slotOn("m", 1, "a"), slotOn("n", 1)}, false, "rank 1: no driver", false},
		"two cpuLibraries":          {[]gpuSlot{slotOn("m", 1, "a"), other}, true, "rank 1 one of hip", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := Config{Device: GPU, ShareGPU: tc.share}.setIndices(tc.slots)
			if !strings.HasPrefix(tc.want, "[") {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %q", err, tc.want)
				}
				return
			}
			var got []int
			for _, s := range tc.slots {
				got = append(got, s.Index)
			}
			if err != nil || fmt.Sprint(got) != tc.want || shared(tc.slots) != tc.shared {
				t.Errorf("got %v, shared %v, %v", got, shared(tc.slots), err)
			}
			if _, _, same := sameProcess(tc.slots); same {
				t.Error("ranks of different processes share a process")
			}
		})
	}
	if r, q, same := sameProcess([]gpuSlot{slotOn("m", 1, "a"), slotOn("m", 2, "a"), slotOn("m", 1, "a")}); !same || r != 0 || q != 2 {
		t.Errorf("got ranks %d and %d, %v", r, q, same)
	}
}

// TestSeparateHosts sets the variables with which NCCL accepts processes that share a GPU,
// unless the user has set them.
func TestSeparateHosts(t *testing.T) {
	for _, v := range []string{"NCCL_HOSTID", "NCCL_SOCKET_IFNAME"} {
		t.Setenv(v, "") // restores it after the test
		os.Unsetenv(v)
	}
	far := []gpuSlot{slotOn("m", 7, "a"), slotOn("m", 8, "a"), slotOn("n", 1, "a")}
	if err := (Config{}).separateHosts(far, 1); err != nil || os.Getenv("NCCL_HOSTID") != "golops-m-8" || os.Getenv("NCCL_SOCKET_IFNAME") != "" {
		t.Errorf("two machines: %v, %q, %q", err, os.Getenv("NCCL_HOSTID"), os.Getenv("NCCL_SOCKET_IFNAME"))
	}
	if err := (Config{}).separateHosts(far[:2], 0); err != nil || os.Getenv("NCCL_HOSTID") != "golops-m-8" || os.Getenv("NCCL_SOCKET_IFNAME") != "lo" {
		t.Errorf("one machine: %v, %q, %q", err, os.Getenv("NCCL_HOSTID"), os.Getenv("NCCL_SOCKET_IFNAME"))
	}
}
