package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/golops/golops/app/lsm"
	"github.com/golops/golops/launch"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// lsmFlags are the flags of golops lsm. They override the configuration file.
type lsmFlags struct {
	config, velocity, data, geometry string
	out, checkpoint, method, dtype   string
	ranks, threads                   int
	iterations, samples              int
	tol, damp                        float64
	dx, dy, dz, interval, frequency  float64
	resume, quiet, json, print       bool
	restart, force                   bool
	device, comm                     string
	shareGPU                         bool
	timeout                          time.Duration
}

func (f *lsmFlags) register(s *pflag.FlagSet) {
	s.SortFlags = false
	s.StringVar(&f.config, "config", "", "read parameters from `file.yaml`")
	s.BoolVar(&f.print, "print-config", false, "print the default parameters, with comments, and end")
	s.StringVar(&f.velocity, "velocity", "", "velocity model, `v.npy` of shape nx × nz or ny × nx × nz")
	s.StringVar(&f.data, "data", "", "recorded data, `shots.npy` or .segy")
	s.StringVar(&f.geometry, "geometry", "", "sources and receivers, `geom.csv`")
	s.Float64Var(&f.dx, "dx", 0, "`spacing` of the grid in x, in m")
	s.Float64Var(&f.dy, "dy", 0, "`spacing` of the grid in y, in m")
	s.Float64Var(&f.dz, "dz", 0, "`spacing` of the grid in z, in m")
	s.IntVar(&f.samples, "samples", 0, "`samples` of a trace")
	s.Float64Var(&f.interval, "interval", 0, "sampling interval in `seconds`")
	s.Float64Var(&f.frequency, "frequency", 0, "peak frequency of the Ricker wavelet, in `Hz`")
	s.IntVar(&f.ranks, "ranks", 0, "goroutine `ranks` (default GOMAXPROCS, or one per GPU)")
	s.IntVar(&f.threads, "threads", 0, "`threads` of each rank (default its share of the cores)")
	s.StringVar(&f.device, "device", "", "where arrays live, a `device`: "+launch.DeviceNames()+" (default cpu)")
	s.StringVar(&f.comm, "comm", "", "how ranks on GPUs talk: `nccl or staged` (default nccl where that works)")
	s.BoolVar(&f.shareGPU, "share-gpu", false, "let ranks share GPUs, which is slow")
	s.IntVar(&f.iterations, "iterations", 0, "`iterations` of the solver")
	s.Float64Var(&f.tol, "tol", 0, "`tolerance` of the residual relative to the data, below 1; with 0, iterations alone end the inversion")
	s.Float64Var(&f.damp, "damp", 0, "`damping`")
	s.StringVar(&f.method, "method", "", "`solver`: cgls, cgls-one-message, lsqr")
	s.StringVar(&f.dtype, "type", "", "element `type`: float32, float64")
	s.StringVar(&f.checkpoint, "checkpoint", "", "keep the state of the solver in `folder`")
	s.BoolVar(&f.resume, "resume", false, "go on from the newest checkpoint")
	s.BoolVar(&f.restart, "restart", false, "begin anew and replace the checkpoints of an earlier run")
	s.StringVar(&f.out, "out", "", "`folder` for results; older ones are kept beside it under a number")
	s.BoolVar(&f.force, "force", false, "remove older results instead of keeping them")
	s.DurationVar(&f.timeout, "timeout", 0, "longest `time` that a rank waits for another, such as 10m (default for ever)")
	s.BoolVar(&f.quiet, "quiet", false, "print the result only")
	s.BoolVar(&f.json, "json", false, "print the result as JSON")
}

// job returns the checked run that flags and files describe.
func (f *lsmFlags) job(s *pflag.FlagSet) (*lsm.Job, error) {
	c := lsm.Default()
	if f.config != "" {
		if err := c.ReadFile(f.config); err != nil {
			return nil, err
		}
	}
	set(s, "velocity", &c.Velocity.File, f.velocity)
	set(s, "velocity", &c.Velocity.Constant, 0)
	set(s, "data", &c.Data.File, f.data)
	set(s, "geometry", &c.Acquisition.Geometry, f.geometry)
	set(s, "dx", &c.Grid.DX, f.dx)
	set(s, "dy", &c.Grid.DY, f.dy)
	set(s, "dz", &c.Grid.DZ, f.dz)
	set(s, "samples", &c.Time.Samples, f.samples)
	set(s, "interval", &c.Time.Interval, f.interval)
	set(s, "frequency", &c.Wavelet.Frequency, f.frequency)
	set(s, "iterations", &c.Solver.Iterations, f.iterations)
	set(s, "tol", &c.Solver.Tolerance, f.tol)
	set(s, "damp", &c.Solver.Damp, f.damp)
	set(s, "method", &c.Solver.Method, f.method)
	set(s, "type", &c.Operator.Type, f.dtype)
	set(s, "checkpoint", &c.Checkpoint.Dir, f.checkpoint)
	set(s, "out", &c.Out, f.out)
	c.Checkpoint.Resume = c.Checkpoint.Resume || f.resume
	if err := f.check(s); err != nil {
		return nil, err
	}
	return lsm.Prepare(c)
}

// set overrides a parameter by a flag that was given.
func set[T any](s *pflag.FlagSet, flag string, to *T, v T) {
	if s.Changed(flag) {
		*to = v
	}
}

// mostRanks and mostThreads are limits beyond any use. The memory of ranks grows with the
// square of their number.
const mostRanks, mostThreads = 4096, 4096

// check validates the flags that say how ranks are started.
func (f *lsmFlags) check(s *pflag.FlagSet) error {
	var errs []error
	l := f.launch(nil)
	count := func(flag string, n *int, most int) {
		if s.Changed(flag) && (*n < 1 || *n > most) {
			errs = append(errs, fmt.Errorf("--%s is %d, must be 1 to %d", flag, *n, most))
			*n = 0 // already reported; Validate must not report it again
		}
	}
	count("ranks", &l.Ranks, mostRanks)
	count("threads", &l.Threads, mostThreads)
	if s.Changed("ranks") && launch.Launched() {
		errs = append(errs, errors.New("--ranks is for goroutine ranks: leave it out under a launcher, which has started the ranks"))
	}
	return errors.Join(append(errs, l.Validate())...)
}

// launch is how the ranks are started.
func (f *lsmFlags) launch(log *slog.Logger) launch.Config {
	return launch.Config{Ranks: f.ranks, Threads: f.threads, Device: f.device, Comm: f.comm, ShareGPU: f.shareGPU, Timeout: f.timeout, Log: log}
}

func (a app) lsm() *cobra.Command {
	var f lsmFlags
	cmd := &cobra.Command{
		Use:   "lsm",
		Short: "least-squares migration: from seismic data to an image of the Earth",
		Long: `lsm inverts seismic data for an image of reflectivity. Without flags it models
data of a built-in example, layers cut by faults, and inverts them. With a
velocity model, data and a geometry it inverts yours:
  golops lsm
  golops lsm --velocity v.npy --dx 5 --dz 5 --data shots.segy --geometry geom.csv
  mpirun -n 4 golops lsm --config survey.yaml --checkpoint state
  golops lsm --device cuda --ranks 4

Results are in the folder golops-lsm, or that of --out: arrays as .npy, pictures
and a page, report.html. Older results there are kept as golops-lsm.1, .2 and so
on, unless --force is given. A folder of checkpoints belongs to one run: where it
has some, give --resume to go on from them or --restart to begin anew.

To stop a run, press Ctrl-C. It ends after the iteration under way, with a
checkpoint, if there is a folder for them, and with results. Before the first
iteration it ends at once and writes nothing. A second Ctrl-C ends it at once.
SIGTERM and SIGHUP do the same, also if only one rank gets them. With
--checkpoint the run goes on with --resume, on any number of ranks.
Open MPI's mpirun passes Ctrl-C on a second late and kills the ranks a second
after that. Then the checkpoint and the image are written first, if the iteration
ends in time. To stop without haste, make a file named stop in the checkpoint
folder, or send SIGINT to one rank:
  touch state/stop
The run removes the file.

With --timeout 10m a rank that waits longer than that for another ends the run:
use it where a rank may hang. It must be longer than an iteration.

The exit code is
  0    the run came to its end
  1    it failed
  2    what was asked for is impossible; nothing was computed
  130  it was stopped by Ctrl-C or the file stop; 143 by SIGTERM; 129 by SIGHUP
All ranks end with the same code. mpirun mostly passes it on, but Open
MPI's mpirun ends with 1 when it was itself interrupted.`,
		Args:        cobra.NoArgs,
		Annotations: ranked,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.print {
				_, err := io.WriteString(cmd.OutOrStdout(), lsm.DefaultText)
				return err
			}
			return a.runLSM(cmd.Context(), &f, cmd.Flags())
		},
	}
	f.register(cmd.Flags())
	return cmd
}
