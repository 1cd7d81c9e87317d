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
	Tables []Table // those that this process took part in; on rank 0 all of them
}

// Wrong returns how many elements came out wrong in all tables.
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

// Run starts the ranks that cfg asks for and measures each communicator with
// each algorithm and in each memory. o may be nil. A *ConfigError says that cfg
// cannot be run. Operations that a communicator cannot do are no error: see
// Result.Missing.
//
// Under a launcher every process calls Run. Goroutine ranks then run inside
// rank 0 while the other processes sleep.
func Run(ctx context.Context, cfg Config, o Observer) (Result, error) {
	full := cfg.withDefaults()
	cfg.Comms, cfg.Device = full.Comms, full.Device
	ranks := 0
	if !launch.Launched() {
		ranks = cfg.goroutineRanks()
	}
	// Of several processes none ends alone: the others would wait for it.
	err := errors.Join(cfg.Fault, cfg.Validate(ranks))
	if err != nil && !launch.Launched() {
		return Result{}, &ConfigError{err}
	}
	cfg.Fault = err
	r := &runner{cfg: cfg, o: o}
	if launch.Launched() {
		err = launch.Config{Timeout: cfg.Timeout, Log: cfg.Log}.World(ctx, r.world)
	} else {
		err = r.local(ctx, ranks, cfg.Comms)
	}
	if r.fault == nil {
		r.fault = impossible(err)
	}
	if r.fault != nil {
		err = &ConfigError{r.fault}
	}
	return r.Result, err
}

// runner gathers the tables of all communicators.
type runner struct {
	Result
	cfg   Config
	o     Observer
	fault error // of cfg, found once the ranks were there; the same on all of them
}

// local measures goroutine ranks, and NCCL between them.
func (r *runner) local(ctx context.Context, ranks int, names []string) error {
	return launch.Config{Ranks: ranks, Timeout: r.cfg.Timeout, Log: r.cfg.Log}.Local(ctx, func(ctx context.Context, c dist.Proc) error {
		tables, err := r.ways(ctx, c.Comm, names)
		if c.Rank() == 0 {
			r.Tables = append(r.Tables, tables...)
		}
		return err
	})
}

// world measures all communicators from inside an MPI program.
func (r *runner) world(ctx context.Context, rank dist.Proc) error {
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
	var ours []string // what MPI ranks measure, the rest is for goroutines
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
			if err := r.local(ctx, ranks, []string{Local}); impossible(err) != nil {
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
	tables, err := r.ways(ctx, c, ours)
	r.Tables = append(r.Tables, tables...)
	if r.fault = impossible(err); r.fault != nil {
		return nil // on all ranks
	}
	return err
}

// impossible returns why what was asked for cannot be done, or nil if err is of
// another kind.
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

// ways measures the ranks of host: as they are, and over NCCL, whichever names
// say; with a device in host memory and in the device's.
func (r *runner) ways(ctx context.Context, host comm.Comm, names []string) (all []Table, err error) {
	var gpu []string // the communicators of launch that are wanted
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
		var fault error // kept from On, which would abort the ranks
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
		for _, name := range gpu { // what cannot be had is said before long measurements
			if err := on(name, func(context.Context, dist.Proc) error { return nil }); err != nil {
				return nil, err
			}
		}
		if all, err = r.algos(ctx, host, nil, Unregistered); err != nil {
			return all, err
		}
	}
	for _, name := range gpu {
		how := Unregistered
		if name == launch.NCCL {
			how = r.cfg.Register
		}
		err := on(name, func(ctx context.Context, rank dist.Proc) error {
			tables, err := r.algos(ctx, rank.Comm, rank.Device, how)
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
func (r *runner) checkDevice(ctx context.Context, rank dist.Proc) (fault, err error) {
	p, err := r.cfg.plan(rank.Size())
	if err != nil {
		return &ConfigError{err}, nil
	}
	return p.checkDevice(ctx, rank)
}

// algos measures c with each algorithm, in memory of d or of the host.
func (r *runner) algos(ctx context.Context, c comm.Comm, d device.Device, how Registration) ([]Table, error) {
	var all []Table
	cfg := r.cfg
	cfg.Register = how
	for _, algo := range r.cfg.withDefaults().Algos {
		h, err := withAlgo(c, algo)
		if err != nil {
			return all, err
		}
		if r.cfg.Wrap != nil {
			h = r.cfg.Wrap(h)
		}
		tables, err := Sweep(ctx, h, d, algo, cfg, r.o)
		all = append(all, tables...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// withAlgo returns a handle on the group of c that uses algo.
func withAlgo(c comm.Comm, algo comm.Algo) (comm.Comm, error) {
	if algo == comm.Auto {
		return c, nil // what launch starts with
	}
	a, ok := c.(interface {
		WithAlgo(comm.Algo) (comm.Comm, error)
	})
	if !ok {
		return nil, fmt.Errorf("perf: %v has no choice of algorithms: leave out algorithm %v", c, algo)
	}
	return a.WithAlgo(algo)
}

// sleepUntilRank0 returns when rank 0 calls it. It is a barrier for ranks that
// have nothing to do for long: MPI waits by spinning at first, and would take
// processors from the goroutine ranks that rank 0 is measuring.
func sleepUntilRank0(ctx context.Context, c comm.Comm) error {
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
