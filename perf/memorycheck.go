package perf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// checkComms refuses unknown communicators and algorithms that a communicator lacks.
func (c Config) checkComms() (errs []error) {
	lacks := map[string]driver.Algo{Local: driver.Native, MPI: driver.Direct}
	if err := (launch.Config{Device: c.Device, ShareGPU: c.ShareGPU}).Validate(); err != nil {
		errs = append(errs, err)
	}
	if c.Device != "" && !slices.Equal(c.Algos, []driver.Algo{driver.Auto}) {
		errs = append(errs, errors.New("algorithms are for host memory: leave them out with a device"))
	}
	if c.Register != Unregistered {
		errs = append(errs, c.checkRegister()...)
	}
	for _, name := range c.Comms {
		if name == NCCL {
			if c.Device == "" {
				errs = append(errs, fmt.Errorf("communicator nccl needs GPU memory: set the device to %s, %s or %s", launch.CUDA, launch.HIP, launch.GPU))
			}
			continue
		}
		missing, known := lacks[name]
		if !known {
			errs = append(errs, fmt.Errorf("unknown communicator %q: have %s, %s, %s", name, Local, MPI, NCCL))
			continue
		}
		for _, a := range c.Algos {
			if a == missing {
				errs = append(errs, fmt.Errorf("communicator %s has no algorithm %v: have %s", name, a, algosBut(missing)))
			}
		}
		if name == MPI && !launch.Launched() {
			errs = append(errs, fmt.Errorf("communicator mpi needs a launcher: run mpirun -n 4 golops perf %s",
				strings.Join(c.Operations, " ")))
		}
	}
	return errs
}

// checkRegister refuses a registration without NCCL or without a collective.
func (c Config) checkRegister() (errs []error) {
	if !slices.Contains(c.Comms, NCCL) {
		errs = append(errs, errors.New("registration (-R) is of GPU memory with NCCL: set the device, and the communicators to nccl"))
	}
	if slices.Contains(c.Operations, "sendrecv") {
		errs = append(errs, errors.New("registration (-R) is for collectives: leave out sendrecv"))
	}
	return errs
}

func algosBut(missing driver.Algo) string {
	var names []string
	for a := driver.Auto; a <= driver.Native; a++ {
		if a != missing {
			names = append(names, a.String())
		}
	}
	return strings.Join(names, ", ")
}

// checkMemory refuses buffers that do not fit into the host memory of this machine.
// That says more than a failed allocation halfway. It checks goroutine ranks only,
// because the machines of other processes are unknown.
func (c plan) checkMemory(n int) error {
	_, have := device.HostMemory()
	if have == 0 || n == 0 || slices.Contains(c.Comms, MPI) || launch.Launched() {
		return nil
	}
	if most := c.memory(n); most > float64(have) {
		return fmt.Errorf("the buffers of %d ranks take %s, this machine has %s: lower the largest size (-e) or the ranks",
			n, formatBytes(most), FormatSize(have))
	}
	return nil
}

// memory returns the bytes that the buffers of n ranks take at most.
func (c plan) memory(n int) (most float64) {
	for _, o := range c.ops {
		e := o.extent(c.Max, 1, n)
		rootSend, rootRecv := o.bufferSizes(e, true)
		send, recv := o.bufferSizes(e, false)
		if o.name == "accumulate" && slices.Contains(c.Modes, Messages) {
			recv, rootRecv = 2*recv, 2*rootRecv // what arrives is added afterwards
		}
		most = max(most, float64(rootSend)+float64(rootRecv)+float64(n-1)*(float64(send)+float64(recv)))
	}
	return most
}

func formatBytes(n float64) string { return FormatSize(int64(min(n, 1<<62))) }

// gpuShare is the GPU memory that one rank needs and sees as free.
type gpuShare struct {
	GPU        string // host, platform and index
	Need, Free float64
}

// checkDevice refuses buffers that do not fit into GPU memory, with the same fault on
// all ranks. It is collective.
func (c plan) checkDevice(ctx context.Context, r dist.Proc) (fault, err error) {
	var send, recv int
	for _, o := range c.ops {
		s, d := o.bufferSizes(o.extent(c.Max, 1, r.Size()), r.Rank() == c.Root || c.Register != Unregistered)
		send, recv = max(send, s), max(recv, d)
	}
	mine := gpuShare{Need: float64(send) + float64(recv)}
	d := r.Device.Info()
	if d.Platform != "" {
		host, _ := os.Hostname()
		mine.GPU = fmt.Sprint(host, " ", d.Platform, " ", d.Index)
	}
	mine.Free = math.Inf(1)
	if d.Memory != nil {
		free, _ := d.Memory()
		mine.Free = float64(free)
	}
	all, err := comm.AllGatherObjects(ctx, r.Comm, mine)
	if err != nil {
		return nil, err
	}
	need, least, ranks := map[string]float64{}, map[string]float64{}, map[string]int{}
	for _, s := range all {
		if ranks[s.GPU] == 0 || s.Free < least[s.GPU] {
			least[s.GPU] = s.Free
		}
		need[s.GPU] += s.Need
		ranks[s.GPU]++
	}
	for i, s := range all {
		if need[s.GPU] > least[s.GPU] {
			return &ConfigError{fmt.Errorf("the buffers of %d ranks on the GPU of rank %d take %s, it has %s free: lower the largest size (-e) or the ranks",
				ranks[s.GPU], i, formatBytes(need[s.GPU]), formatBytes(least[s.GPU]))}, nil
		}
	}
	return nil, nil
}
