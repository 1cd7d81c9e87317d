package perf

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/golops/golops/comm"
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

// Run starts the ranks that cfg asks for and measures each communicator with
// each algorithm. o may be nil. A *ConfigError says that cfg cannot be run.
//
// Under a launcher every process calls Run. Goroutine ranks then run inside
// rank 0 while the other processes sleep.
func Run(ctx context.Context, cfg Config, o Observer) (Result, error) {
	cfg.Comms = cfg.withDefaults().Comms
	ranks := 0
	if !launch.Launched() {
		ranks = cfg.goroutineRanks()
	}
	if err := cfg.Validate(ranks); err != nil {
		return Result{}, &ConfigError{err}
	}
	r := &runner{cfg: cfg, o: o}
	var err error
	if launch.Launched() {
		err = launch.Config{Log: cfg.Log}.World(ctx, r.world)
	} else {
		err = r.local(ctx, ranks)
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

// local measures goroutine ranks.
func (r *runner) local(ctx context.Context, ranks int) error {
	return launch.Config{Ranks: ranks, Log: r.cfg.Log}.Local(ctx, func(ctx context.Context, c dist.Rank) error {
		tables, err := r.algos(ctx, c.Comm)
		if c.Rank() == 0 {
			r.Tables = append(r.Tables, tables...)
		}
		return err
	})
}

// world measures all communicators from inside an MPI program.
func (r *runner) world(ctx context.Context, rank dist.Rank) error {
	c := rank.Comm
	r.Rank = c.Rank()
	ranks := c.Size()
	if r.cfg.Ranks > 0 {
		if !slices.Contains(r.cfg.Comms, Local) && r.cfg.Ranks != ranks {
			r.fault = fmt.Errorf("ranks is %d, but the launcher started %d: leave ranks out under a launcher", r.cfg.Ranks, ranks)
			return nil
		}
		ranks = r.cfg.Ranks
	}
	for _, name := range r.cfg.Comms {
		size := c.Size()
		if name == Local {
			size = ranks
		}
		if r.fault = r.cfg.Validate(size); r.fault != nil {
			return nil
		}
	}
	for _, name := range r.cfg.Comms {
		if name == MPI {
			tables, err := r.algos(ctx, c)
			r.Tables = append(r.Tables, tables...)
			if err != nil {
				return err
			}
			continue
		}
		if c.Rank() == 0 {
			if err := r.local(ctx, ranks); err != nil {
				return err
			}
		}
		if err := sleepUntilRank0(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// algos measures c with each algorithm.
func (r *runner) algos(ctx context.Context, c comm.Comm) ([]Table, error) {
	var all []Table
	for _, algo := range r.cfg.withDefaults().Algos {
		h, err := withAlgo(c, algo)
		if err != nil {
			return all, err
		}
		if r.cfg.Wrap != nil {
			h = r.cfg.Wrap(h)
		}
		tables, err := Sweep(ctx, h, algo, r.cfg, r.o)
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
