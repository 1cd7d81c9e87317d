package launch

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/nccl"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/internal/gpu"
	"github.com/golops/golops/internal/staged"
)

// connect returns the communicator that c asks for, and why it was chosen. It is
// collective. The communicator is built on host and closes it.
func (c Config) connect(ctx context.Context, host *comm.Comm, d *gpu.Device, slots []gpuSlot) (*comm.Comm, string, error) {
	why := "it was asked for"
	if c.Comm != Staged {
		whyNot, err := c.whyNotNCCL(ctx, host, d, slots)
		switch {
		case err != nil:
			return nil, "", err
		case whyNot == "" && c.Comm == "":
			why = "each rank has its own GPU"
			if shared(slots) {
				why = "ranks are separate processes, so NCCL lets them share GPUs"
			}
			fallthrough
		case whyNot == "":
			cm, err := nccl.New(ctx, host, d, nccl.Config{Checked: c.Checked, Timeout: c.Timeout, SharedGPU: shared(slots)})
			if err != nil {
				return nil, "", err
			}
			return cm, why, nil
		case c.Comm == NCCL:
			return nil, "", &DeviceError{fmt.Errorf("communicator nccl: %s", whyNot)}
		}
		why = whyNot
	}
	cm, err := staged.New(host, d)
	if err := comm.Agree(ctx, host, err); err != nil {
		return nil, "", err
	}
	return cm, why, nil
}

// whyNotNCCL returns why NCCL cannot be used, or "". It is collective and returns the same
// on all ranks.
func (c Config) whyNotNCCL(ctx context.Context, host *comm.Comm, d *gpu.Device, slots []gpuSlot) (string, error) {
	if r, q, ok := sameProcess(slots); ok {
		return fmt.Sprintf("ranks %d and %d of one process share a GPU, which NCCL refuses", r, q), nil
	}
	if shared(slots) {
		if err := c.separateHosts(slots, host.Rank()); err != nil {
			return "", err
		}
	}
	text := ""
	if _, err := nccl.Find(d.Platform()); err != nil {
		text = err.Error()
	}
	all, err := comm.AllGatherObjects(ctx, host, text)
	for i, t := range all {
		if t != "" && i > 0 {
			return fmt.Sprintf("rank %d: %s", i, t), err
		}
		if t != "" {
			return t, err
		}
	}
	return "", err
}

// separateHosts makes NCCL treat each process as a separate machine, because NCCL refuses
// ranks of one machine that share a GPU. It must be called before NCCL is loaded.
func (c Config) separateHosts(slots []gpuSlot, rank int) error {
	if rank == 0 {
		c.log().Warn("ranks share GPUs: NCCL moves their data through sockets, which is slow")
	}
	me := slots[rank]
	env := [][2]string{{"NCCL_HOSTID", fmt.Sprintf("golops-%s-%d", me.Machine, me.Process)}}
	oneHost := true
	for _, s := range slots {
		oneHost = oneHost && s.Machine == me.Machine
	}
	if oneHost { // the loopback interface does not reach other machines
		env = append(env, [2]string{"NCCL_SOCKET_IFNAME", "lo"})
	}
	var errs []error
	for _, e := range env {
		errs = append(errs, dl.Setenv(e[0], e[1]))
	}
	return errors.Join(errs...)
}
