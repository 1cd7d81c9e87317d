package perf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// Result is what Run measured.
type Result struct {
	Rank   int     // of this process under a launcher, 0 otherwise
	Tables []Table // of this process; rank 0 has all
}

// Wrong returns the number of wrong elements in all tables.
func (r Result) Wrong() (wrong int64) {
	for _, t := range r.Tables {
		wrong += t.Wrong
	}
	return wrong
}

// Missing returns what could not be measured, and why.
func (r Result) Missing() (missing []string) {
	for _, t := range r.Tables {
		if t.NotMeasured != "" {
			missing = append(missing, t.Operation+": not measured: "+t.NotMeasured)
		}
	}
	return missing
}

// Run starts the ranks of cfg and measures each communicator with each algorithm, in
// host memory and in GPU memory. Start cfg from Defaults. o may be nil. Run returns a
// *ConfigError if cfg cannot be run. Operations that a communicator lacks are not an
// error: see Result.Missing.
//
// Under a launcher every process calls Run. Goroutine ranks then run inside rank 0
// while the other processes sleep.
func Run(ctx context.Context, cfg Config, o Observer) (Result, error) {
	cfg = cfg.choose()
	ranks := 0
	if !launch.Launched() {
		ranks = cfg.goroutineRanks()
	}
	// Under a launcher a process must not return alone: the others would wait for it.
	err := errors.Join(cfg.Fault, cfg.Validate(ranks))
	if err != nil && !launch.Launched() {
		return Result{}, &ConfigError{err}
	}
	cfg.Fault = err
	r := &session{cfg: cfg, o: o}
	if launch.Launched() {
		err = launch.Config{Timeout: cfg.Timeout, Log: cfg.Log}.World(ctx, r.measureMPI)
	} else {
		err = r.measureGoroutines(ctx, ranks, cfg.Comms)
	}
	if r.fault == nil {
		r.fault = impossible(err)
	}
	if r.fault != nil {
		err = &ConfigError{r.fault}
	}
	return r.Result, err
}

// session collects the tables of all communicators.
type session struct {
	Result
	cfg   Config
	o     Observer
	fault error // fault of cfg that needs the ranks to be found; the same on all ranks
}

// measureGoroutines measures goroutine ranks, and NCCL between them.
func (r *session) measureGoroutines(ctx context.Context, ranks int, names []string) error {
	return launch.Config{Ranks: ranks, Timeout: r.cfg.Timeout, Log: r.cfg.Log}.Local(ctx, func(ctx context.Context, c dist.Proc) error {
		tables, err := r.measureMemories(ctx, c.Comm, names)
		if c.Rank() == 0 {
			r.Tables = append(r.Tables, tables...)
		}
		return err
	})
}

// measureMPI measures all communicators inside an MPI program.
func (r *session) measureMPI(ctx context.Context, rank dist.Proc) error {
	c := rank.Comm
	r.Rank = c.Rank()
	if err := comm.Agree(ctx, c, r.cfg.Fault); err != nil {
		var abort *comm.AbortError
		if errors.As(err, &abort) {
			return err
		}
		r.fault = err
		return nil
	}
	ranks := c.Size()
	if r.cfg.Ranks > 0 {
		if !slices.Contains(r.cfg.Comms, Local) && r.cfg.Ranks != ranks {
			r.fault = fmt.Errorf("ranks is %d, but the launcher started %d: leave ranks out under a launcher", r.cfg.Ranks, ranks)
			return nil
		}
		ranks = r.cfg.Ranks
	}
	var ours []string // communicators that MPI ranks measure
	for _, name := range r.cfg.Comms {
		size := c.Size()
		if name == Local {
			size = ranks
		} else {
			ours = append(ours, name)
		}
		if r.fault = r.cfg.Validate(size); r.fault != nil {
			return nil
		}
	}
	if slices.Contains(r.cfg.Comms, Local) {
		fault := ""
		if c.Rank() == 0 {
			if err := r.measureGoroutines(ctx, ranks, []string{Local}); impossible(err) != nil {
				fault = impossible(err).Error()
			} else if err != nil {
				return err
			}
		}
		if err := sleepUntilRank0(ctx, c); err != nil {
			return err
		}
		if err := comm.BroadcastObject(ctx, c, &fault, 0); err != nil {
			return err
		}
		if fault != "" {
			r.fault = errors.New(fault)
			return nil
		}
	}
	tables, err := r.measureMemories(ctx, c, ours)
	r.Tables = append(r.Tables, tables...)
	if r.fault = impossible(err); r.fault != nil {
		return nil // on all ranks
	}
	return err
}

// impossible returns the fault of the configuration in err, or nil if err is another
// error.
func impossible(err error) error {
	var config *ConfigError
	var dev *launch.DeviceError
	switch {
	case errors.As(err, &config):
		return config.Err
	case errors.As(err, &dev):
		return dev.Err
	}
	return nil
}

// measureMemories measures the communicators in names on the ranks of host. With a
// device it measures both host memory and GPU memory.
func (r *session) measureMemories(ctx context.Context, host *comm.Comm, names []string) (all []Table, err error) {
	var gpu []string // launch's names of communicators for GPU memory
	hosts := false
	for _, name := range names {
		switch {
		case name == NCCL:
			gpu = append(gpu, launch.NCCL)
		default:
			hosts = true
			if r.cfg.Device != "" {
				gpu = append([]string{launch.Staged}, gpu...)
			}
		}
	}
	on := func(name string, p launch.Program) error {
		var fault error // not returned from RunOn, which would abort the ranks
		err := launch.Config{Device: r.cfg.Device, Comm: name, ShareGPU: r.cfg.ShareGPU, Timeout: r.cfg.Timeout, Log: r.cfg.Log}.RunOn(ctx, host,
			func(ctx context.Context, rank dist.Proc) (err error) {
				if fault, err = r.checkDevice(ctx, rank); fault != nil || err != nil {
					return err
				}
				if name == launch.NCCL && r.cfg.Register != Unregistered {
					if fault, err = tryRegister(ctx, rank.Comm, r.cfg.Register); fault != nil || err != nil {
						return err
					}
				}
				return p(ctx, rank)
			})
		return errors.Join(fault, err)
	}
	if hosts {
		for _, name := range gpu { // find faults before long measurements
			if err := on(name, func(context.Context, dist.Proc) error { return nil }); err != nil {
				return nil, err
			}
		}
		if all, err = r.measureAlgos(ctx, host, nil, Unregistered); err != nil {
			return all, err
		}
	}
	for _, name := range gpu {
		how := Unregistered
		if name == launch.NCCL {
			how = r.cfg.Register
		}
		err := on(name, func(ctx context.Context, rank dist.Proc) error {
			tables, err := r.measureAlgos(ctx, rank.Comm, rank.Device, how)
			all = append(all, tables...)
			return err
		})
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// checkDevice returns why the GPUs cannot hold the buffers, the same on all
// ranks. It is collective.
func (r *session) checkDevice(ctx context.Context, rank dist.Proc) (fault, err error) {
	p, err := r.cfg.plan(rank.Size())
	if err != nil {
		return &ConfigError{err}, nil
	}
	return p.checkDevice(ctx, rank)
}

// measureAlgos measures c with each algorithm, in the memory of d, or in host memory if
// d is nil.
func (r *session) measureAlgos(ctx context.Context, c *comm.Comm, d device.Device, how Registration) ([]Table, error) {
	var all []Table
	cfg := r.cfg
	cfg.Register = how
	for _, algo := range r.cfg.Algos {
		h := c
		if r.cfg.Wrap != nil {
			h = r.cfg.Wrap(c)
		}
		if err := h.SetAlgo(algo); err != nil {
			return all, err
		}
		tables, err := Sweep(ctx, h, d, algo, cfg, r.o)
		all = append(all, tables...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// sleepUntilRank0 returns when rank 0 calls it. It is a barrier that does not spin:
// MPI's barrier would take processors from the goroutine ranks that rank 0 measures.
func sleepUntilRank0(ctx context.Context, c *comm.Comm) error {
	flag := comm.Of([]uint8{0})
	if c.Rank() == 0 {
		for r := 1; r < c.Size(); r++ {
			if err := c.Send(ctx, flag, r); err != nil {
				return err
			}
		}
		return nil
	}
	req, err := c.IRecv(ctx, flag, 0)
	if err != nil {
		return err
	}
	for {
		if done, err := req.Test(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return req.Wait(ctx) // tells the others
		case <-time.After(2 * time.Millisecond):
		}
	}
}
