package perf

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/scalar"
)

// Local, MPI and NCCL are the communicators that Config.Comms names.
const (
	Local = "local"
	MPI   = "mpi"
	NCCL  = "nccl" // on a device, started by the other two
)

// What a loop runs when Config.Iters does not say.
const (
	autoIters = 20
	autoTime  = 50 * time.Millisecond
)

// Stat says which of the ranks' times is reported.
type Stat uint8

// The statistics over ranks.
const (
	Mean Stat = iota
	Rank0
	Fastest
	Slowest
)

var statNames = [...]string{"mean over ranks", "of rank 0", "least of ranks", "most of ranks"}

// String describes s as in "time: mean over ranks".
func (s Stat) String() string { return statNames[s] }

// Registration says how NCCL gets to know the buffers beforehand.
type Registration uint8

// The kinds of registration: none, by each rank for itself, and as windows of
// all ranks.
const (
	Unregistered Registration = iota
	RegisterLocal
	RegisterSymmetric
)

var registrationNames = [...]string{"none", "local registration", "symmetric windows"}

// String describes r as in "registration: symmetric windows".
func (r Registration) String() string { return registrationNames[r] }

// Config says what to measure, over which ranks. The letter in brackets is
// the flag of the command. The zero Config measures all_reduce.
type Config struct {
	Operations []string // names of Operations, or All; none means all_reduce

	Min, Max int64 // sizes in bytes (-b, -e); 0 means 8 and 64 MB
	Factor   int64 // from one size to the next (-f); 0 means 2
	Step     int64 // bytes from one size to the next, instead of Factor (-i); 0 means Factor

	// Iters is the length of a timed loop (-n). 0 means 20, doubled until rank
	// 0 has spent 50 ms in the loop; the time is that of the last loop alone, so
	// that ranks starting at different moments weigh little in it.
	Iters   int
	Warmup  int  // untimed iterations before (-w); 0 means 5, negative means none
	NoCheck bool // trust the results (-c 0)

	Reduction string // sum, prod, min, max, avg or All (-o); "" means sum
	DType     string // float32, int32, ..., as C calls them too, or All (-d); "" means float32
	Root      int    // of broadcast, reduce, gather and scatter (-r)
	Time      Stat   // whose time is reported (-a)

	Comms []string    // Local, MPI, NCCL; none means MPI under a launcher, otherwise Local, and NCCL too with a Device
	Ranks int         // goroutine ranks; 0 means as many as MPI ranks, or GOMAXPROCS where there are none
	Algos []comm.Algo // one table each; none means comm.Auto

	// Device is a GPU, as launch.Config names them. Local and MPI are then measured
	// twice, with buffers in host memory and in device memory. "" means none.
	Device   string
	ShareGPU bool         // see launch.Config
	Register Registration // of buffers in device memory, over NCCL (-R)

	Timeout time.Duration // the longest that a call may wait for another rank; 0 means for ever
	Log     *slog.Logger  // passed to launch; nil means slog.Default()

	// Fault is what this process alone has found wrong before, such as a folder
	// that is missing. Run returns it on all ranks.
	Fault error

	// Wrap, if not nil, returns what is measured in place of each communicator,
	// which is how tests put faults into one.
	Wrap func(comm.Comm) comm.Comm
}

// A ConfigError says why a Config cannot be run. All ranks see the same one.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return "perf: " + e.Err.Error() }

// Unwrap returns the fault, or all of them joined.
func (e *ConfigError) Unwrap() error { return e.Err }

// withDefaults replaces zero values by what they mean.
func (c Config) withDefaults() Config {
	def := func(p *int64, v int64) {
		if *p == 0 {
			*p = v
		}
	}
	def(&c.Min, 8)
	def(&c.Max, 64<<20)
	def(&c.Factor, 2)
	if len(c.Operations) == 0 {
		c.Operations = []string{"all_reduce"}
	}
	if c.Reduction == "" {
		c.Reduction = "sum"
	}
	if c.DType == "" {
		c.DType = "float32"
	}
	switch {
	case c.Warmup == 0:
		c.Warmup = 5
	case c.Warmup < 0:
		c.Warmup = 0
	}
	if len(c.Algos) == 0 {
		c.Algos = []comm.Algo{comm.Auto}
	}
	if len(c.Comms) == 0 {
		c.Comms = []string{Local}
		if launch.Launched() {
			c.Comms = []string{MPI}
		}
		if c.Device != "" {
			c.Comms = append(c.Comms, NCCL)
		}
	}
	if c.Device == launch.CPU {
		c.Device = ""
	}
	return c
}

// goroutineRanks returns how many goroutine ranks c asks for where no
// launcher says it.
func (c Config) goroutineRanks() int {
	if c.Ranks > 0 {
		return c.Ranks
	}
	return runtime.GOMAXPROCS(0)
}

// Validate reports every fault of c at once. ranks is the size of the group
// to measure; 0 means that it is not known yet, and leaves out what depends
// on it.
func (c Config) Validate(ranks int) error {
	p, err := c.plan(ranks)
	errs := []error{err}
	errs = append(errs, p.checkComms()...)
	return errors.Join(append(errs, p.checkMemory(ranks))...)
}

// plan is a Config with its defaults set and its names looked up.
type plan struct {
	Config
	ops        []operation
	dtypes     []scalar.DType
	reductions []comm.Op
}

// plan finds the faults that do not depend on where the ranks come from.
func (c Config) plan(ranks int) (plan, error) {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, v := range []struct {
		name  string
		value int64
	}{
		{"smallest size (-b)", c.Min}, {"largest size (-e)", c.Max}, {"factor (-f)", c.Factor},
		{"step (-i)", c.Step}, {"iterations (-n)", int64(c.Iters)}, {"ranks", int64(c.Ranks)},
	} {
		if v.value < 0 {
			fault("%s is %d, must not be negative", v.name, v.value)
		}
	}
	c = c.withDefaults()
	p := plan{Config: c}

	if c.Min > c.Max {
		fault("smallest size (-b) %s is larger than largest size (-e) %s", FormatSize(c.Min), FormatSize(c.Max))
	}
	if c.Factor == 1 && c.Step == 0 && c.Min < c.Max {
		fault("factor (-f) is 1, must be at least 2 for sizes to grow")
	}
	if int(c.Time) >= len(statNames) {
		fault("time (-a) is statistic %d, must be from 0 to %d", c.Time, len(statNames)-1)
	}
	if int(c.Register) >= len(registrationNames) {
		fault("registration (-R) is %d, must be from 0 to %d", c.Register, len(registrationNames)-1)
	}
	if ranks > 0 && (c.Root < 0 || c.Root >= ranks) {
		fault("root (-r) is %d, must be from 0 to %d: there are %d ranks", c.Root, ranks-1, ranks)
	} else if c.Root < 0 {
		fault("root (-r) is %d, must not be negative", c.Root)
	}

	var err error
	if p.ops, err = findOperations(c.Operations); err != nil {
		errs = append(errs, err)
	}
	if p.dtypes, err = parseAll(c.DType, scalar.DTypes[:], scalar.ParseDType); err != nil {
		if slices.Contains(shortFloats, strings.ToLower(c.DType)) {
			err = fmt.Errorf("%w; floating-point numbers of 16 and 8 bits are planned", err)
		}
		errs = append(errs, err)
	}
	if p.reductions, err = parseAll(c.Reduction, comm.Ops[:], comm.ParseOp); err != nil {
		errs = append(errs, err)
	}
	// Only what was asked for by name can be senseless; a sweep leaves such
	// combinations out.
	if c.DType != All && c.Reduction != All && len(p.dtypes) == 1 && len(p.reductions) == 1 && p.reduces() {
		if err := comm.CheckOp(p.reductions[0], p.dtypes[0]); err != nil {
			errs = append(errs, err)
		}
	}
	return p, errors.Join(errs...)
}

// shortFloats are types of nccl-tests that golops does not have yet.
var shortFloats = []string{"half", "float16", "fp16", "bfloat16", "bf16", "fp8", "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2"}

func (p plan) reduces() bool {
	for _, o := range p.ops {
		if o.reduces {
			return true
		}
	}
	return false
}

// parseAll parses the one called name, or returns all of them.
func parseAll[T any](name string, all []T, parse func(string) (T, error)) ([]T, error) {
	if name == All {
		return all, nil
	}
	v, err := parse(name)
	if err != nil {
		return nil, fmt.Errorf("%w, or all", err)
	}
	return []T{v}, nil
}
