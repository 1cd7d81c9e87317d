package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/golops/golops/app"
	"github.com/golops/golops/cost"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/perf"
	"github.com/golops/golops/scalar"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// planFlags are the flags that all plans share.
type planFlags struct {
	ranks            []int
	machine, network string
	nodes, cores     int
	memory           string
	check            bool
	perfFlags        // json and plot
}

func (f *planFlags) register(s *pflag.FlagSet) {
	s.IntSliceVar(&f.ranks, "ranks", []int{1, 4, 16, 64, 256, 1024}, "numbers of `ranks`")
	s.StringVar(&f.machine, "machine", "", "`file` of golops perf roofline (default usual values)")
	s.StringVar(&f.network, "network", "", "network between nodes: `latency,bandwidth`, such as 2us,12.5GB/s or 2us,100Gb/s")
	s.IntVar(&f.nodes, "nodes", 0, "`nodes` of the cluster (default as many as ranks need)")
	s.IntVar(&f.cores, "cores", 0, "`cores` of a node, one for each rank (default those of the machine)")
	s.StringVar(&f.memory, "memory", "", "`bytes` that a rank may have, such as 4G (default its share of a node, if that is known)")
	s.BoolVar(&f.check, "check", false, "run it on goroutine ranks here, on up to 8 of the ranks asked for, and print the error of the prediction")
	s.StringVar(&f.json, "json", "", "write everything to `file`")
	s.StringVar(&f.plot, "plot", "", "draw time and memory over ranks to `file.svg` or .png")
}

// load returns the machine that the flags describe, and the memory of a rank.
func (f *planFlags) load(s *pflag.FlagSet) (m cost.Machine, memory int64, err error) {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	m = cost.Defaults()
	if f.machine != "" {
		if m, err = readMachine(f.machine); err != nil {
			errs = append(errs, fmt.Errorf("--machine %s: %w", f.machine, err))
		}
	}
	if len(f.ranks) == 0 {
		fault("--ranks is empty: give at least one number")
	}
	for _, n := range f.ranks {
		if n < 1 || n > 1<<24 {
			fault("--ranks has %d, must be from 1 to %d", n, 1<<24)
		}
	}
	for _, v := range []struct {
		flag string
		n    int
		to   *int
	}{{"nodes", f.nodes, &m.Nodes}, {"cores", f.cores, &m.Cores}} {
		if s.Changed(v.flag) {
			if v.n < 1 {
				fault("--%s is %d, must be at least 1", v.flag, v.n)
			}
			*v.to = v.n
		}
	}
	if s.Changed("cores") {
		m.Memory = 0 // that of other nodes is not known
	}
	if s.Changed("network") {
		l, err := parseNetwork(f.network)
		if err != nil {
			errs = append(errs, fmt.Errorf("--network %s: %w", f.network, err))
		}
		m.Network = l
		if m.Cores == 0 && m.Nodes == 0 { // a node for each rank
			m.Messages, m.OneSided = l, l
		}
	}
	if s.Changed("memory") {
		if memory, err = perf.ParseSize(f.memory); err != nil || memory == 0 {
			fault("--memory %s: must be a size above 0, such as 4G", f.memory)
		}
	}
	if launch.Launched() {
		fault("plans are made in one process: leave the launcher out")
	}
	return m, memory, errors.Join(append(errs, f.checkFiles()...)...)
}

func readMachine(name string) (cost.Machine, error) {
	file, err := os.Open(name)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err // the name is said already
		}
		return cost.Machine{}, err
	}
	defer file.Close()
	return cost.Read(file)
}

// runPlan makes the plan and writes it.
func (a tool) runPlan(cmd *cobra.Command, f *planFlags, p perf.Checker, faults ...error) error {
	m, memory, err := f.load(cmd.Flags())
	if err := errors.Join(append(faults, err)...); err != nil {
		return err
	}
	plan, err := perf.NewPlan(m, p, f.ranks, memory)
	if err != nil {
		return err
	}
	if f.check {
		if plan.Checks, err = a.checkPlan(cmd, f, p); err != nil {
			return runError(err)
		}
	}
	err = errors.Join(plan.WriteText(a.Stdout), writeFile(f.json, plan.WriteJSON))
	if err == nil && !slices.ContainsFunc(plan.Rows, func(r perf.PlanRow) bool { return r.Best >= 0 }) {
		err = errors.New("plan: nothing fits into the memory: take more ranks, or give a rank more memory")
	}
	if err == nil {
		err = writeFile(f.plot, func(w io.Writer) error { return perf.PlotPlan(w, format(f.plot), plan) })
	}
	if err != nil {
		return app.Failure{Err: err}
	}
	return nil
}

// checkPlan runs p here on those of the ranks that can be started. The machine is the one
// that the file describes or, without a file, is measured.
func (a tool) checkPlan(cmd *cobra.Command, f *planFlags, p perf.Checker) (all []perf.PlanCheck, err error) {
	few := slices.DeleteFunc(slices.Clone(f.ranks), func(n int) bool { return n > perf.MostChecked })
	if len(few) == 0 {
		few = []int{1, 2, 4}
	}
	var m cost.Machine
	if f.machine != "" {
		if m, err = readMachine(f.machine); err != nil {
			return nil, err
		}
		m.Nodes = 1
	} else {
		cfg := perf.RooflineDefaults()
		cfg.Budget, cfg.Log, cfg.Threads = cfg.Budget/10, a.Log(false), 1
		roof, _, err := perf.MeasureRoofline(cmd.Context(), cfg)
		if err != nil {
			return nil, err
		}
		m = roof.Machine
	}
	for _, n := range few {
		checks, err := perf.Check(cmd.Context(), m, p, n, a.Log(false))
		if err != nil {
			return nil, err
		}
		all = append(all, checks...)
	}
	return all, nil
}

func (a tool) plan() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plan", Short: "predict time and memory on clusters, and choose the layout", Args: cobra.NoArgs,
		Long: `plan predicts how long an application of an operator takes on numbers of ranks, how much
memory a rank needs, and which layout is best. The machine is one that golops perf
roofline has measured, or a cluster that is described by its nodes and its network, and
need not exist yet:
  golops plan product --size 20000 --ranks 16,64,1024 --machine machine.json
  golops plan product --rows 100000 --depth 100000 --columns 1000 --cores 32 --network 2us,100Gb/s
  golops plan halo --extents 1024,1024,512 --depth 4 --machine machine.json --network 2us,12.5GB/s
  golops plan lsm --image 500,500,300 --sources 1000 --receivers 1000 --samples 2000 --plot lsm.svg
A star marks the best. Efficiency is the part of the time that is computation. With
--check the operator is run here, smaller if it is large, and measured times stand beside
predicted ones. docs/scaling.md explains the model.

The exit code is 1 if nothing fits into the memory, 2 if the request is impossible.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.New("plan what? have product, halo, lsm")
		},
	}
	cmd.AddCommand(a.planProduct(), a.planHalo(), a.planLSM())
	return cmd
}

// planned returns the command of one plan.
func (a tool) planned(name, short string, flags func(s *pflag.FlagSet), planner func(s *pflag.FlagSet) (perf.Checker, error)) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{Use: name, Short: short, Long: short + ". golops help plan has examples.", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := planner(cmd.Flags())
			return a.runPlan(cmd, &f, p, err)
		},
	}
	cmd.Flags().SortFlags = false
	flags(cmd.Flags())
	f.register(cmd.Flags())
	return cmd
}

// planType returns the element type that a flag names.
func planType(name string, errs *[]error) scalar.DType {
	dt, err := scalar.ParseDType(name)
	if err != nil {
		*errs = append(*errs, err)
	}
	return dt
}

func (a tool) planProduct() *cobra.Command {
	p := cost.Problem{}
	var size int
	var dtype, stored, kind string
	return a.planned("product", "predict Y = A X with distributed matrices",
		func(s *pflag.FlagSet) {
			s.IntVar(&size, "size", 4096, "`extent` of square matrices")
			s.IntVar(&p.Rows, "rows", 0, "`rows` of A (default --size)")
			s.IntVar(&p.Depth, "depth", 0, "`columns` of A, which are the rows of X (default --size)")
			s.IntVar(&p.Columns, "columns", 0, "`columns` of X (default --size)")
			s.IntVar(&p.Batch, "batch", 1, "`products` of that size, such as frequencies")
			s.StringVarP(&dtype, "datatype", "d", "double", "element `type`: float, double, complex64, complex128")
			s.StringVar(&stored, "stored", "", "element `type` in which A is kept (default that of X)")
			s.StringVar(&kind, "kind", "auto", "`kind`: "+cost.KindNames())
		},
		func(s *pflag.FlagSet) (perf.Checker, error) {
			var errs []error
			for flag, n := range map[string]*int{"rows": &p.Rows, "depth": &p.Depth, "columns": &p.Columns} {
				if !s.Changed(flag) {
					*n = size
				}
			}
			if p.Rows < 1 || p.Depth < 1 || p.Columns < 1 || p.Batch < 1 {
				errs = append(errs, fmt.Errorf("%d products of %d x %d with %d x %d: extents must be at least 1", p.Batch, p.Rows, p.Depth, p.Depth, p.Columns))
			}
			if p.DType = planType(dtype, &errs); stored != "" {
				p.Stored = planType(stored, &errs)
			}
			k, err := cost.ParseKind(kind)
			return perf.ProductPlan{Problem: p, Kind: k}, errors.Join(append(errs, err)...)
		})
}

func (a tool) planHalo() *cobra.Command {
	h := cost.Halo{}
	var dtype string
	return a.planned("halo", "predict the exchange of ghost cells",
		func(s *pflag.FlagSet) {
			s.IntSliceVar(&h.Extents, "extents", []int{512, 512, 512}, "`extents` of the array")
			s.IntVar(&h.Depth, "depth", 1, "ghost `cells` on each side")
			s.StringVarP(&dtype, "datatype", "d", "float", "element `type`: float, double, complex64, complex128")
		},
		func(*pflag.FlagSet) (perf.Checker, error) {
			var errs []error
			h.DType = planType(dtype, &errs)
			if len(h.Extents) == 0 || len(h.Extents) > 4 || slices.Min(h.Extents) < 1 {
				errs = append(errs, fmt.Errorf("--extents are %v: must be 1 to 4 numbers of at least 1", h.Extents))
			}
			if h.Depth < 0 {
				errs = append(errs, fmt.Errorf("--depth is %d, must not be negative", h.Depth))
			}
			return perf.HaloPlan{Halo: h}, errors.Join(errs...)
		})
}

func (a tool) planLSM() *cobra.Command {
	v := cost.Survey{}
	var dtype string
	return a.planned("lsm", "predict the modelling and migration that each iteration of golops lsm applies",
		func(s *pflag.FlagSet) {
			s.IntSliceVar(&v.Image, "image", []int{500, 500, 300}, "`extents` of the image: nx,nz or ny,nx,nz")
			s.IntVar(&v.Sources, "sources", 1000, "`sources`")
			s.IntVar(&v.Receivers, "receivers", 1000, "`receivers` of each source")
			s.IntVar(&v.Samples, "samples", 2000, "`samples` of a trace")
			s.StringVarP(&dtype, "datatype", "d", "float", "element `type`: float, double")
		},
		func(*pflag.FlagSet) (perf.Checker, error) {
			var errs []error
			v.DType = planType(dtype, &errs)
			if len(v.Image) != 2 && len(v.Image) != 3 {
				errs = append(errs, fmt.Errorf("--image is %v: must be 2 or 3 numbers", v.Image))
			}
			if len(errs) == 0 {
				errs = append(errs, v.Validate())
			}
			return perf.SurveyPlan{Survey: v}, errors.Join(errs...)
		})
}
