package app

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/golops/golops/launch"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flags are those that all applications have. They override the configuration file.
type flags struct {
	set                        *pflag.FlagSet
	keys                       []Flag // of the application and of the kit
	config                     string
	ranks, threads             int
	resume, quiet, json, print bool
	restart, force             bool
	device, comm               string
	shareGPU                   bool
	timeout                    time.Duration
	serve                      string // an address; "" means none
}

// common are the flags that set keys of all applications, or of those with a solver.
var common = []Flag{
	{Name: "iterations", Key: "solver.iterations", Usage: "`iterations` of the solver"},
	{Name: "tol", Key: "solver.tolerance", Usage: "`tolerance` of the residual relative to the data, below 1; with 0, iterations alone end the inversion"},
	{Name: "damp", Key: "solver.damp", Usage: "`damping`"},
	{Name: "method", Key: "solver.method", Usage: "`solver`: " + strings.Join(methods, ", ")},
	{Name: "checkpoint", Key: "checkpoint.dir", Usage: "keep the state of the solver in `folder`"},
	{Name: "out", Key: "out", Usage: "`folder` for results; older ones are kept beside it under a number"},
}

// register adds the flags of an application whose configuration is c.
func (f *flags) register(s *pflag.FlagSet, own []Flag, c reflect.Value) {
	f.set, s.SortFlags = s, false
	s.StringVar(&f.config, "config", "", "read parameters from `file.yaml`")
	s.BoolVar(&f.print, "print-config", false, "print the default parameters, with comments, and end")
	for _, k := range append(append([]Flag{}, own...), common...) {
		p, ok := lookup(c, k.Key)
		if !ok || s.Lookup(k.Name) != nil {
			continue // the application has no such key, or describes it itself
		}
		f.keys = append(f.keys, k)
		switch p.v.Kind() {
		case reflect.Int:
			s.Int(k.Name, 0, k.Usage)
		case reflect.Float64:
			s.Float64(k.Name, 0, k.Usage)
		case reflect.Bool:
			s.Bool(k.Name, false, k.Usage)
		default:
			s.String(k.Name, "", k.Usage)
		}
	}
	s.IntVar(&f.ranks, "ranks", 0, "goroutine `ranks` (default GOMAXPROCS, or one per GPU)")
	s.IntVar(&f.threads, "threads", 0, "`threads` of each rank (default its share of the cores)")
	s.StringVar(&f.device, "device", "", "where arrays live, a `device`: "+launch.DeviceNames()+" (default cpu)")
	s.StringVar(&f.comm, "comm", "", "how ranks on GPUs talk: `nccl or staged` (default nccl where that works)")
	s.BoolVar(&f.shareGPU, "share-gpu", false, "let ranks share GPUs, which is slow")
	s.BoolVar(&f.resume, "resume", false, "go on from the newest checkpoint")
	s.BoolVar(&f.restart, "restart", false, "begin anew and replace the checkpoints of an earlier run")
	s.BoolVar(&f.force, "force", false, "remove older results instead of keeping them")
	s.DurationVar(&f.timeout, "timeout", 0, "longest `time` that a rank waits for another, such as 10m (default for ever)")
	s.StringVar(&f.serve, "serve", "", "show the inversion on a page, at a port or `address` (default of this machine; others need the token that is printed)")
	s.Lookup("serve").NoOptDefVal = ":0" // any port of this machine
	s.BoolVar(&f.quiet, "quiet", false, "print the result only")
	s.BoolVar(&f.json, "json", false, "print the result as JSON")
}

// apply overrides the parameters of c by the flags that were given.
func (f *flags) apply(c reflect.Value) {
	for _, k := range f.keys {
		if !f.set.Changed(k.Name) {
			continue
		}
		if p, ok := lookup(c, k.Clears); ok {
			p.v.SetZero()
		}
		p, _ := lookup(c, k.Key)
		switch p.v.Kind() {
		case reflect.Int:
			n, _ := f.set.GetInt(k.Name)
			p.v.SetInt(int64(n))
		case reflect.Float64:
			x, _ := f.set.GetFloat64(k.Name)
			p.v.SetFloat(x)
		case reflect.Bool:
			b, _ := f.set.GetBool(k.Name)
			p.v.SetBool(b)
		default:
			p.v.SetString(f.set.Lookup(k.Name).Value.String())
		}
	}
}

// task returns the checked run that flags and files describe.
func (a Application[C]) task(f *flags) (*Task, error) {
	c := Default[C](a.Default)
	if f.config != "" {
		if err := ReadFile(&c, f.config); err != nil {
			return nil, err
		}
	}
	f.apply(reflect.ValueOf(&c).Elem())
	b := baseOf(&c)
	b.Checkpoint.Resume = b.Checkpoint.Resume || f.resume
	if err := f.check(); err != nil {
		return nil, err
	}
	return a.Check(c)
}

// Check prepares a run of c, whose inputs must not lie where it writes.
func (a Application[C]) Check(c C) (*Task, error) {
	var f Faults
	f.Base(c)
	if err := f.Err(); err == nil { // otherwise Prepare reports it with other faults
		if err := a.spec().separate(c); err != nil {
			return nil, &ConfigError{err}
		}
	}
	return a.Prepare(c)
}

// mostRanks and mostThreads are limits beyond any use. The memory of ranks grows with the
// square of their number.
const mostRanks, mostThreads = 4096, 4096

// check validates the flags that say how ranks are started.
func (f *flags) check() error {
	var errs []error
	l := f.launch(nil)
	count := func(flag string, n *int, most int) {
		if f.set.Changed(flag) && (*n < 1 || *n > most) {
			errs = append(errs, fmt.Errorf("--%s is %d, must be 1 to %d", flag, *n, most))
			*n = 0 // already reported; Validate must not report it again
		}
	}
	count("ranks", &l.Ranks, mostRanks)
	count("threads", &l.Threads, mostThreads)
	if f.set.Changed("ranks") && launch.Launched() {
		errs = append(errs, errors.New("--ranks is for goroutine ranks: leave it out under a launcher, which has started the ranks"))
	}
	if f.serve != "" {
		_, _, err := liveAddress(f.serve)
		errs = append(errs, err)
	}
	return errors.Join(append(errs, l.Validate())...)
}

// launch is how the ranks are started.
func (f *flags) launch(log *slog.Logger) launch.Config {
	return launch.Config{Ranks: f.ranks, Threads: f.threads, Device: f.device, Comm: f.comm, ShareGPU: f.shareGPU, Timeout: f.timeout, Log: log}
}

// Command returns the command of an application.
func (a Application[C]) Command(p *Process) *cobra.Command {
	cmd, _ := a.command(p)
	return cmd
}

func (a Application[C]) command(p *Process) (*cobra.Command, *flags) {
	cmd, f := &cobra.Command{Use: a.Name, Short: a.Short, Long: a.long(), Annotations: Ranked}, &flags{}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && f.serve == ":0" && strings.Trim(args[0], "0123456789.:[]abcdef") == "" { // --serve ADDRESS without =
			f.serve, args = args[0], nil
		}
		return cobra.NoArgs(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.print {
			_, err := io.WriteString(cmd.OutOrStdout(), a.Default)
			return err
		}
		return p.runApplication(cmd.Context(), a.newRun(p, f))
	}
	f.register(cmd.Flags(), a.Flags, reflect.ValueOf(Default[C](a.Default)))
	return cmd, f
}

// long is the help of a command: what it does, and what all applications have in common.
func (a Application[C]) long() string {
	c := Default[C](a.Default)
	return strings.TrimSpace(a.Help) + "\n\n" + strings.NewReplacer("OUT", baseOf(&c).Out).Replace(`Results are in the folder OUT, or that of --out: arrays as .npy, pictures
and a page, report.html. Older results there are kept as OUT.1, .2 and so
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

With --serve a page in the browser shows the image so far, residuals, and a button that
stops the run as Ctrl-C does. It costs nothing while nobody looks, and at most 1% of the
time otherwise. Give --serve 8080 for a port, or --serve 0.0.0.0:8080 to look from another
machine, with the token that is printed.

With --timeout 10m a rank that waits longer than that for another ends the run:
use it where a rank may hang. It must be longer than an iteration.

The exit code is
  0    the run came to its end
  1    it failed
  2    what was asked for is impossible; nothing was computed
  130  it was stopped by Ctrl-C or the file stop; 143 by SIGTERM; 129 by SIGHUP
All ranks end with the same code. mpirun mostly passes it on, but Open
MPI's mpirun ends with 1 when it was itself interrupted.`)
}
