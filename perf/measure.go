package perf

import (
	"context"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/trace"
)

// measure runs the warm-up, the timed loop and one verified iteration of a job.
func (s *sweeper) measure(ctx context.Context, o operation, j job, size int64, reg trace.Region, how string) (*Measurement, error) {
	j.fillIdempotent()
	if err := j.upload(); err != nil {
		return nil, err
	}
	if err := j.ready(ctx); err != nil {
		return nil, err
	}
	reg.Mark("Begin " + how + "warm-up")
	if _, err := loop(ctx, j.call, s.Warmup); err != nil {
		return nil, err
	}
	reg.Mark("Begin " + how + "timed loop")
	micros, iters, err := s.timed(ctx, j)
	if err != nil {
		return nil, err
	}
	m := o.measurement(size, s.c.Size(), micros, iters)
	if !s.NoCheck {
		reg.Mark("Begin " + how + "check")
		m.Wrong, err = s.verify(ctx, j)
	}
	return m, err
}

// timed returns the time of one iteration in microseconds and the length of the loop.
// It doubles the loop until it takes LoopTime on rank 0.
func (s *sweeper) timed(ctx context.Context, j job) (micros float64, iters int, err error) {
	for iters = s.Iters; ; iters *= 2 {
		if err := s.c.Barrier(ctx); err != nil {
			return 0, 0, err
		}
		took, err := loop(ctx, j.call, iters)
		if err != nil {
			return 0, 0, err
		}
		longer := []int32{0}
		if s.LoopTime > 0 {
			if took < s.LoopTime {
				longer[0] = 1
			}
			// Ranks measure different times, but must loop equally often.
			if err := s.c.Broadcast(ctx, comm.Of(longer), 0); err != nil {
				return 0, 0, err
			}
		}
		if longer[0] == 0 {
			micros, err = s.overRanks(ctx, float64(took.Nanoseconds())/1e3/float64(iters))
			return micros, iters, err
		}
	}
}

// loop times iterations of call. Nothing in it allocates or is traced.
func loop(ctx context.Context, call func(context.Context) error, iters int) (time.Duration, error) {
	start := time.Now()
	for range iters {
		if err := call(ctx); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// overRanks reduces the times of all ranks to the reported one.
func (s *sweeper) overRanks(ctx context.Context, x float64) (float64, error) {
	buf := comm.Of([]float64{x})
	var err error
	switch s.Time {
	case Mean:
		err = s.c.AllReduce(ctx, buf, buf, comm.Average)
	case Rank0:
		err = s.c.Broadcast(ctx, buf, 0)
	case Fastest:
		err = s.c.AllReduce(ctx, buf, buf, comm.Min)
	case Slowest:
		err = s.c.AllReduce(ctx, buf, buf, comm.Max)
	}
	return comm.As[float64](buf)[0], err
}

// verify runs one iteration on known data and returns the number of wrong elements of
// all ranks.
func (s *sweeper) verify(ctx context.Context, j job) (int64, error) {
	s.seed++
	j.fill(s.seed)
	if err := j.upload(); err != nil {
		return 0, err
	}
	if err := j.ready(ctx); err != nil {
		return 0, err
	}
	if err := j.call(ctx); err != nil {
		return 0, err
	}
	if err := j.download(); err != nil {
		return 0, err
	}
	wrong := []int64{j.wrong(s.seed)}
	buf := comm.Of(wrong)
	err := s.c.AllReduce(ctx, buf, buf, comm.Sum)
	return wrong[0], err
}
