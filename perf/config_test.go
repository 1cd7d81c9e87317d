package perf

import (
	"strings"
	"testing"

	"github.com/golops/golops/comm/driver"
)

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name  string
		set   func(c *Config) // changes Defaults
		ranks int
		want  []string // parts of the error; none for no error
	}{
		{"defaults", func(*Config) {}, 2, nil},
		{"no warm-up", func(c *Config) { c.Warmup = 0 }, 2, nil},
		{"step alone", func(c *Config) { c.Factor, c.Step = 0, 1<<20 }, 2, nil},
		{"all", func(c *Config) { c.Operations, c.Reduction, c.DType = []string{All}, All, All }, 2, nil},
		{"swept senseless", func(c *Config) { c.Reduction, c.DType = "min", All }, 2, nil},
		{"senseless but unused", func(c *Config) { c.Operations, c.Reduction, c.DType = []string{"put"}, "min", "complex64" }, 2, nil},
		{"equal sizes", func(c *Config) { c.Min, c.Max, c.Factor = 8, 8, 1 }, 2, nil},
		{"root unknown yet", func(c *Config) { c.Root = 7 }, 0, nil},

		{"sizes", func(c *Config) { c.Min, c.Max = 2048, 1024 }, 2, []string{"(-b) 2 KB is larger than largest size (-e) 1 KB"}},
		{"factor", func(c *Config) { c.Factor = 1 }, 2, []string{"factor (-f) is 1"}},
		{"root", func(c *Config) { c.Root = 2 }, 2, []string{"root (-r) is 2, must be from 0 to 1"}},
		{"negative root", func(c *Config) { c.Root = -1 }, 0, []string{"root (-r) is -1"}},
		{"operation", func(c *Config) { c.Operations = []string{"x"} }, 2, []string{`unknown operation "x"`, "all_reduce", "or all"}},
		{"reduction", func(c *Config) { c.Reduction = "x" }, 2, []string{`unknown reduction "x"`, "or all"}},
		{"type", func(c *Config) { c.DType = "quarter" }, 2, []string{`unknown element type "quarter"`}},
		{"half", func(c *Config) { c.DType = "half" }, 2, nil},
		{"short type", func(c *Config) { c.DType = "fp8" }, 2, []string{`unknown element type "fp8"`, "8-bit floating-point types are planned"}},
		{"senseless", func(c *Config) { c.Reduction, c.DType = "max", "complex64" }, 2, []string{"max of complex64 makes no sense"}},
		{"communicator", func(c *Config) { c.Comms = []string{"x"} }, 2, []string{`unknown communicator "x": have local, mpi`}},
		{"no launcher", func(c *Config) { c.Comms = []string{MPI} }, 2, []string{"mpirun -n 4 golops perf all_reduce"}},
		{"native", func(c *Config) { c.Algos = []driver.Algo{driver.Native} }, 2, []string{"local has no algorithm native: have auto, direct, ring, tree"}},
		{"direct", func(c *Config) { c.Comms, c.Algos = []string{MPI}, []driver.Algo{driver.Direct} }, 2, []string{"mpi has no algorithm direct"}},
		{"memory", func(c *Config) { c.Max, c.Ranks = 1<<60, 4 }, 4, []string{"this machine has"}},
		{"time", func(c *Config) { c.Time = 9 }, 2, []string{"time (-a)"}},
		{"zero", func(c *Config) { *c = Config{} }, 2, []string{"(-b) is 0, must be at least 1", "(-e) is 0", "(-n) is 0", "no operation: name one of all_reduce"}},
		{"no factor", func(c *Config) { c.Factor = 0 }, 2, []string{"factor (-f) is 0, must be at least 2"}},
		{"negative warm-up", func(c *Config) { c.Warmup = -1 }, 2, []string{"warm-up (-w) is -1"}},
		{"everything", func(c *Config) { c.Min, c.Iters, c.Ranks, c.Root, c.Reduction, c.DType = -1, -1, -1, -1, "x", "y" }, 2,
			[]string{"(-b) is -1, must be at least 1", "(-n) is -1", "ranks is -1", "root (-r) is -1", `"x"`, `"y"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name == "memory" && ThisMachine().Memory == 0 {
				t.Skip("the memory of this machine is not known")
			}
			cfg := Defaults()
			tc.set(&cfg)
			err := cfg.Validate(tc.ranks)
			if (err == nil) != (tc.want == nil) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %v, want it to contain %q", err, part)
				}
			}
		})
	}
}
