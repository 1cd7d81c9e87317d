package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/nccl"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/internal/gpu"
	"github.com/golops/golops/internal/staged"
)

// connect returns the communicator that c asks for and why that one. It is
// collective and stands on host, which it closes.
func (c Config) connect(ctx context.Context, host comm.Comm, d *gpu.Device, seats []seat) (comm.Comm, string, error) {
	why := "it was asked for"
	if c.Comm != Staged {
		against, err := c.againstNCCL(ctx, host, d, seats)
		switch {
		case err != nil:
			return nil, "", err
		case against == "" && c.Comm == "":
			why = "each rank has a GPU of its own"
			if shared(seats) {
				why = "ranks are processes of their own, so that NCCL lets them share GPUs"
			}
			fallthrough
		case against == "":
			cm, err := nccl.New(ctx, host, d, nccl.Config{Checked: c.Checked, Timeout: c.Timeout})
			if err != nil {
				return nil, "", err
			}
			return over{cm, host}, why, nil
		case c.Comm == NCCL:
			return nil, "", &DeviceError{fmt.Errorf("communicator nccl: %s", against)}
		}
		why = against
	}
	cm, err := staged.New(host, d)
	if err := comm.Agree(ctx, host, err); err != nil {
		return nil, "", err
	}
	return cm, why, nil
}

// over is a communicator that leaves the one it stands on open.
type over struct {
	*nccl.Comm
	ground comm.Comm
}

// Close implements comm.Comm.
func (o over) Close() error { return errors.Join(o.Comm.Close(), o.ground.Close()) }

// againstNCCL says what speaks against NCCL, the same on all ranks, or "". It is
// collective.
func (c Config) againstNCCL(ctx context.Context, host comm.Comm, d *gpu.Device, seats []seat) (string, error) {
	if r, q, ok := sameProcess(seats); ok {
		return fmt.Sprintf("ranks %d and %d of one process share a GPU, which NCCL refuses", r, q), nil
	}
	if shared(seats) {
		if err := c.alone(seats, host.Rank()); err != nil {
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

// alone makes NCCL believe that this process has a machine to itself, for it
// refuses ranks of one machine that share a GPU. It must come before NCCL is
// loaded.
func (c Config) alone(seats []seat, rank int) error {
	if rank == 0 {
		c.log().Warn("ranks share GPUs: NCCL moves their data through sockets, which is slow")
	}
	me := seats[rank]
	env := [][2]string{{"NCCL_HOSTID", fmt.Sprintf("golops-%s-%d", me.Machine, me.Process)}}
	near := true
	for _, s := range seats {
		near = near && s.Machine == me.Machine
	}
	if near { // ranks of other machines are not reached by this interface
		env = append(env, [2]string{"NCCL_SOCKET_IFNAME", "lo"})
	}
	var errs []error
	for _, e := range env {
		errs = append(errs, dl.Setenv(e[0], e[1]))
	}
	return errors.Join(errs...)
}

// shared reports whether any two ranks have the same GPU.
func shared(seats []seat) bool {
	seen := map[string]bool{}
	for _, s := range seats {
		if seen[s.gpu()] {
			return true
		}
		seen[s.gpu()] = true
	}
	return false
}

// sameProcess finds two ranks of one process that have the same GPU.
func sameProcess(seats []seat) (r, q int, ok bool) {
	first := map[string]int{}
	for i, s := range seats {
		key := fmt.Sprint(s.Process, " ", s.gpu())
		if j, ok := first[key]; ok {
			return j, i, true
		}
		first[key] = i
	}
	return 0, 0, false
}

// describe lists which rank has which GPU.
func describe(seats []seat) string {
	var parts []string
	for i, s := range seats {
		g := s.GPUs[s.Index]
		parts = append(parts, fmt.Sprintf("rank %d: %s:%d of %s, %s, %.1f GiB", i, s.Platform, g.Index, s.Machine, g.Name, float64(g.Memory)/(1<<30)))
	}
	return strings.Join(parts, "; ")
}
