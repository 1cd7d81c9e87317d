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
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/scalar"
)

// Local, MPI and NCCL are the communicators that Config.Comms names.
const (
	Local = "local"
	MPI   = "mpi"
	NCCL  = "nccl" // on a device, started by the other two
)

// Messages and OneSided are the modes that Config.Modes names.
const (
	Messages = "messages"
	OneSided = "onesided"
)

// Stat selects which of the ranks' times is reported.
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

// Registration says how buffers are registered with NCCL.
type Registration uint8

// The kinds of registration: none, by each rank alone, and as symmetric windows of all
// ranks.
const (
	Unregistered Registration = iota
	RegisterLocal
	RegisterSymmetric
)

var registrationNames = [...]string{"none", "local registration", "symmetric windows"}

// String describes r as in "registration: symmetric windows".
func (r Registration) String() string { return registrationNames[r] }

// Config says what to measure and over which ranks. The letter in brackets is the
// flag of the command. Start from Defaults: a zero field is zero.
type Config struct {
	Operations []string // names of Operations, or All

	Min, Max int64 // sizes in bytes (-b, -e)
	Factor   int64 // from one size to the next (-f); ignored with a Step
	Step     int64 // bytes from one size to the next (-i); 0 means none

	// Iters is the length of the first timed loop (-n). The loop is doubled until
	// rank 0 has spent LoopTime in it; 0 never doubles it. The last loop alone counts,
	// so different start times of ranks weigh little.
	Iters    int
	LoopTime time.Duration
	Warmup   int  // untimed iterations before the loop (-w)
	NoCheck  bool // do not verify results (-c 0)

	Reduction string // sum, prod, min, max, avg or All (-o)
	DType     string // float32, int32, ..., or their C names, or All (-d)
	// Modes are Messages and OneSided. put, get and accumulate are measured with each:
	// through windows, and by messages that bring the same data to the same place. nil
	// means OneSided. Other operations have no modes.
	Modes []string
	Root  int  // of broadcast, reduce, gather and scatter (-r)
	Time  Stat // which rank's time is reported (-a)

	// Comms are Local, MPI and NCCL. nil lets Run choose: MPI under a launcher,
	// otherwise Local, and with a Device NCCL too.
	Comms []string
	// Ranks is the number of goroutine ranks. 0 lets Run choose: as many as MPI ranks,
	// or GOMAXPROCS without a launcher.
	Ranks int
	Algos []driver.Algo // one table each; nil lets the communicator choose

	// Device is the name of a GPU, as in launch.Config. Local and MPI are then measured
	// twice: in host memory and in GPU memory. "" means no GPU.
	Device   string
	ShareGPU bool         // see launch.Config
	Register Registration // of buffers in GPU memory with NCCL (-R)

	Timeout time.Duration // the longest that a call may wait for another rank; 0 means no limit
	Log     *slog.Logger  // passed to launch; nil means slog.Default()

	// Fault is an error that this process has found before Run, such as a missing
	// folder. Run returns it on all ranks.
	Fault error

	// Wrap, if not nil, replaces each communicator. Tests use it to inject faults.
	Wrap func(*comm.Comm) *comm.Comm
}

// Defaults returns a Config that measures all_reduce of float32 from 8 bytes to 64 MB,
// with loops of 50 ms.
func Defaults() Config {
	return Config{
		Operations: []string{"all_reduce"}, Min: 8, Max: 64 << 20, Factor: 2,
		Iters: 20, LoopTime: 50 * time.Millisecond, Warmup: 5, Reduction: "sum", DType: "float32",
	}
}

// ConfigError says why a Config cannot be run. All ranks return the same one.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return "perf: " + e.Err.Error() }

// Unwrap returns the fault, or all of them joined.
func (e *ConfigError) Unwrap() error { return e.Err }

// choose fills in communicators and algorithms that are not given.
func (c Config) choose() Config {
	if len(c.Algos) == 0 {
		c.Algos = []driver.Algo{driver.Auto}
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

// goroutineRanks returns the number of goroutine ranks without a launcher.
func (c Config) goroutineRanks() int {
	if c.Ranks > 0 {
		return c.Ranks
	}
	return runtime.GOMAXPROCS(0)
}

// Validate reports every fault of c at once. ranks is the number of ranks to measure.
// If it is 0 the number is unknown, and checks that need it are left out.
func (c Config) Validate(ranks int) error {
	p, err := c.plan(ranks)
	errs := []error{err}
	errs = append(errs, p.checkComms()...)
	return errors.Join(append(errs, p.checkMemory(ranks))...)
}

// plan is a Config with communicators chosen and names parsed.
type plan struct {
	Config
	ops        []operation
	dtypes     []scalar.DType
	reductions []comm.Op
}

// modes returns how an operation is measured: "" for one without modes.
func (p plan) modes(o operation) []string {
	switch {
	case !o.window:
		return []string{""}
	case p.Modes == nil:
		return []string{OneSided}
	}
	return p.Modes
}

// plan parses names. It finds all faults that do not depend on the launcher.
func (c Config) plan(ranks int) (plan, error) {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, v := range []struct {
		name         string
		value, least int64
	}{
		{"smallest size (-b)", c.Min, 1}, {"largest size (-e)", c.Max, 1}, {"factor (-f)", c.Factor, 0},
		{"step (-i)", c.Step, 0}, {"iterations (-n)", int64(c.Iters), 1}, {"warm-up (-w)", int64(c.Warmup), 0},
		{"loop time", int64(c.LoopTime), 0}, {"ranks", int64(c.Ranks), 0},
	} {
		if v.value < v.least {
			fault("%s is %d, must be at least %d", v.name, v.value, v.least)
		}
	}
	c = c.choose()
	p := plan{Config: c}

	if len(c.Operations) == 0 {
		fault("no operation: name one of %s, or all", strings.Join(Operations(), ", "))
	}
	if c.Min > c.Max {
		fault("smallest size (-b) %s is larger than largest size (-e) %s", FormatSize(c.Min), FormatSize(c.Max))
	}
	if c.Factor < 2 && c.Step == 0 && c.Min < c.Max {
		fault("factor (-f) is %d, must be at least 2 for sizes to grow", c.Factor)
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
	errs = append(errs, checkModes(c.Modes))
	if c.Modes != nil && !slices.Contains(c.Operations, All) {
		for _, o := range p.ops {
			if !o.window {
				fault("%s has no modes: they are for put, get and accumulate, and for perf halo and perf product", o.name)
			}
		}
	}
	if p.dtypes, err = parseAll(c.DType, scalar.DTypes[:], scalar.ParseDType); err != nil {
		if slices.Contains(shortFloats, strings.ToLower(c.DType)) {
			err = fmt.Errorf("%w; 8-bit floating-point types are planned", err)
		}
		errs = append(errs, err)
	}
	if p.reductions, err = parseAll(c.Reduction, driver.Ops[:], driver.ParseOp); err != nil {
		errs = append(errs, err)
	}
	// A combination that makes no sense is refused only if both are named. A sweep over
	// all leaves it out.
	if c.DType != All && c.Reduction != All && len(p.dtypes) == 1 && len(p.reductions) == 1 && p.reduces() {
		if err := driver.CheckOp(p.reductions[0], p.dtypes[0]); err != nil {
			errs = append(errs, err)
		}
	}
	return p, errors.Join(errs...)
}

// checkModes refuses unknown modes and repetitions.
func checkModes(modes []string) error {
	for i, m := range modes {
		if m != Messages && m != OneSided {
			return fmt.Errorf("unknown mode %q: have %s, %s", m, Messages, OneSided)
		}
		if slices.Contains(modes[:i], m) {
			return fmt.Errorf("mode %s is given twice", m)
		}
	}
	return nil
}

// shortFloats are types of nccl-tests that golops lacks.
var shortFloats = []string{"fp8", "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2"}

func (p plan) reduces() bool {
	for _, o := range p.ops {
		if o.reduces {
			return true
		}
	}
	return false
}

// parseAll parses name, or returns all values if name is All.
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
