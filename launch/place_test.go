package launch

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/golops/golops/internal/gpu"
)

// at is a rank of a process on a machine that sees GPUs of these names.
func at(machine string, process int, gpus ...string) seat {
	s := seat{Machine: machine, Process: process, Platform: CUDA, Fault: "no driver"}
	for i, id := range gpus {
		s.GPUs = append(s.GPUs, gpu.Info{Index: i, ID: id, Name: "GPU " + id})
	}
	return s
}

func TestPlace(t *testing.T) {
	other := at("m", 2, "a")
	other.Platform = HIP
	for name, tc := range map[string]struct {
		seats  []seat
		share  bool
		want   string // indices, or part of the error
		shared bool
	}{
		"processes of two machines": {[]seat{at("m", 1, "a", "b"), at("n", 1, "a", "b"), at("m", 2, "a", "b"), at("n", 2, "a", "b")}, false, "[0 0 1 1]", false},
		"each sees its own":         {[]seat{at("m", 1, "a"), at("m", 2, "b"), at("m", 3, "c")}, false, "[0 0 0]", false},
		"too many":                  {[]seat{at("m", 1, "a"), at("m", 2, "a")}, false, "2 ranks on m, which has 1 GPU: start at most 1 there", false},
		"shared":                    {[]seat{at("m", 1, "a", "b"), at("m", 2, "a", "b"), at("m", 3, "a", "b")}, true, "[0 1 0]", true},
		"share though none need":    {[]seat{at("m", 1, "a", "b"), at("m", 2, "a", "b")}, true, "[0 1]", false},
		"one without":               {[]seat{at("m", 1, "a"), at("n", 1)}, false, "rank 1: no driver", false},
		"two kinds":                 {[]seat{at("m", 1, "a"), other}, true, "rank 1 one of hip", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := Config{Device: GPU, ShareGPU: tc.share}.place(tc.seats)
			if !strings.HasPrefix(tc.want, "[") {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %q", err, tc.want)
				}
				return
			}
			var got []int
			for _, s := range tc.seats {
				got = append(got, s.Index)
			}
			if err != nil || fmt.Sprint(got) != tc.want || shared(tc.seats) != tc.shared {
				t.Errorf("got %v, shared %v, %v", got, shared(tc.seats), err)
			}
			if _, _, same := sameProcess(tc.seats); same {
				t.Error("ranks of different processes share a process")
			}
		})
	}
	if r, q, same := sameProcess([]seat{at("m", 1, "a"), at("m", 2, "a"), at("m", 1, "a")}); !same || r != 0 || q != 2 {
		t.Errorf("got ranks %d and %d, %v", r, q, same)
	}
}

// TestAlone gives processes that share a GPU what makes NCCL accept them, and
// keeps what the user has set.
func TestAlone(t *testing.T) {
	for _, v := range []string{"NCCL_HOSTID", "NCCL_SOCKET_IFNAME"} {
		t.Setenv(v, "") // to be put back
		os.Unsetenv(v)
	}
	far := []seat{at("m", 7, "a"), at("m", 8, "a"), at("n", 1, "a")}
	if err := (Config{}).alone(far, 1); err != nil || os.Getenv("NCCL_HOSTID") != "golops-m-8" || os.Getenv("NCCL_SOCKET_IFNAME") != "" {
		t.Errorf("two machines: %v, %q, %q", err, os.Getenv("NCCL_HOSTID"), os.Getenv("NCCL_SOCKET_IFNAME"))
	}
	if err := (Config{}).alone(far[:2], 0); err != nil || os.Getenv("NCCL_HOSTID") != "golops-m-8" || os.Getenv("NCCL_SOCKET_IFNAME") != "lo" {
		t.Errorf("one machine: %v, %q, %q", err, os.Getenv("NCCL_HOSTID"), os.Getenv("NCCL_SOCKET_IFNAME"))
	}
}
