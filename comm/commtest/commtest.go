// Package commtest is the suite that every communicator must pass.
//
// A case is a program that all ranks of a group run. Ranks share nothing but their
// [comm.Comm], so the suite works for goroutine ranks and for MPI processes. Each rank
// computes the values that it expects. After a failed check the case goes on, so that ranks
// keep calling the same collectives. Only a call that fails ends a case early.
package commtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/splitmix"
	"github.com/golops/golops/scalar"
)

// Case is one property that every communicator has.
type Case struct {
	Name string
	Run  func(ctx context.Context, c *comm.Comm) error // collective
	body func(r *rank)
}

// Config chooses the size of the suite.
type Config struct {
	Seed      uint64 // of the random sequences
	Sequences int    // random sequences
	// NoTruncation leaves out a long message to a receiver with half the count. Open MPI
	// 4.1.4 reports it, but writes past the end of the buffer.
	NoTruncation bool
	// Device holds the buffers of this rank's collectives, messages and requests. nil
	// means host memory. Windows and handles of other goroutines always use host memory.
	Device device.Accelerator
	// NoWindows leaves out windows, for an MPI that cannot make any.
	NoWindows bool
	NoFaults  bool // leave out errors that only a communicator that compares calls can find
	// FewTypes keeps one element type of each kind and size, for a communicator that
	// stands on another one or is another setting of one that has passed with all types.
	FewTypes bool
}

// Defaults is the whole suite, with 10,000 random sequences.
func Defaults() Config { return Config{Seed: 1, Sequences: 10000} }

// Cases returns the suite. All ranks must give the same Config.
func Cases(cfg Config) []Case {
	cases := slices.Concat(groupCases(), collectiveCases(), badArgumentCases(), messageCases(), exchangeCases(), requestCases(),
		splitCases(), objectCases(), failedMessageCases(), []Case{on("Closed/group", closedGroup)})
	if !cfg.NoWindows {
		cases = slices.Concat(cases, windowCases())
	}
	if !cfg.NoFaults {
		cases = slices.Concat(cases, mismatchCases(cfg), oneRankCases())
	}
	cases = append(cases, randomCases(cfg)...)
	if cfg.FewTypes {
		cases = slices.DeleteFunc(cases, func(k Case) bool {
			_, kind, _ := strings.Cut(k.Name, "/")
			return slices.Contains([]string{"float16", "int32", "int64", "float64", "complex64"}, kind)
		})
	}
	for i := range cases {
		cases[i].Run = cases[i].on(cfg.Device)
	}
	return cases
}

// Run runs all cases one after another on c. It returns all failures, joined, each with the
// name of the case and the rank. It is collective: ranks agree on the result after each case.
// Rank 0 calls report, which may be nil, with that result. If ranks cannot agree, the run
// ends.
func Run(ctx context.Context, c *comm.Comm, cfg Config, report func(name string, err error)) error {
	var errs []error
	for _, k := range Cases(cfg) {
		own := k.Run(ctx, c)
		agreed := comm.Agree(ctx, c, own)
		_, other := agreed.(*comm.RankError)
		stop := agreed != nil && agreed != own && !other
		if agreed != nil && !other {
			agreed = fmt.Errorf("rank %d: %w", c.Rank(), agreed)
		}
		if agreed != nil {
			errs = append(errs, fmt.Errorf("%s: %w", k.Name, agreed))
		}
		if report != nil && c.Rank() == 0 {
			report(k.Name, agreed)
		}
		if stop {
			break
		}
	}
	return errors.Join(errs...)
}

// rank is one rank's run of one case.
type rank struct {
	ctx      context.Context
	c        *comm.Comm
	me, size int
	tag      uint64 // of the last values, equal on all ranks of the group
	*state
}

// state is shared by the handles of one rank.
type state struct {
	memory
	bad error // the first check that failed
}

func newRank(ctx context.Context, c *comm.Comm) *rank {
	return &rank{ctx: ctx, c: c, me: c.Rank(), size: c.Size(), state: &state{}}
}

// on returns a case that runs f and fails if a call or a check in it does.
func on(name string, f func(r *rank)) Case { return Case{Name: name, body: f} }

// ofTypes returns a case for each element type.
func ofTypes(name string, f func(r *rank, dt scalar.DType)) []Case {
	var cases []Case
	for _, dt := range scalar.DTypes {
		cases = append(cases, on(name+"/"+dt.String(), func(r *rank) { f(r, dt) }))
	}
	return cases
}

// on returns the case with its buffers on dev, or on the host if dev is nil.
func (k Case) on(dev device.Accelerator) func(context.Context, *comm.Comm) error {
	return func(ctx context.Context, c *comm.Comm) error {
		r := newRank(ctx, c)
		if dev != nil {
			p := newDeviceMemory(dev)
			defer p.close()
			r.device = p
		}
		err := try(func() { k.body(r) })
		return errors.Join(r.bad, err)
	}
}

// callError is the panic with which must ends a case.
type callError struct{ error }

// must ends the case if a call has failed. Functions that Group calls must not use it: Group would
// queue all later messages.
func must(err error) {
	if err != nil {
		panic(callError{err})
	}
}

// mustf is must with a text before the error.
func mustf(err error, format string, args ...any) {
	if err != nil {
		must(fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err))
	}
}

// try runs f and returns the error with which must ended it.
func try(f func()) (err error) {
	defer func() {
		p := recover()
		failed, ok := p.(callError)
		if p != nil && !ok {
			panic(p)
		}
		err = failed.error
	}()
	f()
	return nil
}

// check records the first failed check.
func (r *rank) check(err error) {
	if r.bad == nil {
		r.bad = err
	}
}

// checkf records an error if ok is false.
func (r *rank) checkf(ok bool, format string, args ...any) {
	if !ok && r.bad == nil {
		r.bad = fmt.Errorf(format, args...)
	}
}

// nextTag returns a new tag, the same on all ranks of the group.
func (r *rank) nextTag() uint64 {
	r.tag++
	return splitmix.Hash(r.tag)
}

// right and left are the neighbours at a distance in the ring of ranks.
func (r *rank) right(d int) int { return (r.me + d) % r.size }
func (r *rank) left(d int) int  { return (r.me + r.size - d) % r.size }

// alive checks that the group still works.
func (r *rank) alive() {
	mustf(r.c.Barrier(r.ctx), "barrier after an error")
	v := []int64{int64(r.me + 1)}
	mustf(r.c.AllReduce(r.ctx, comm.Of(v), comm.Of(v), comm.Sum), "sum after an error")
	want := int64(r.size * (r.size + 1) / 2)
	r.checkf(v[0] == want, "sum after an error: got %d, want %d", v[0], want)
}
