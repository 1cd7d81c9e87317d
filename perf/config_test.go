package perf

import (
	"strings"
	"testing"

	"github.com/golops/golops/comm"
)

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name  string
		cfg   Config
		ranks int
		want  []string // parts of the error; none for no error
	}{
		{"zero", Config{}, 2, nil},
		{"all", Config{Operations: []string{All}, Reduction: All, DType: All}, 2, nil},
		{"swept senseless", Config{Reduction: "min", DType: All}, 2, nil},
		{"senseless but unused", Config{Operations: []string{"put"}, Reduction: "min", DType: "complex64"}, 2, nil},
		{"equal sizes", Config{Min: 8, Max: 8, Factor: 1}, 2, nil},
		{"root unknown yet", Config{Root: 7}, 0, nil},

		{"sizes", Config{Min: 2048, Max: 1024}, 2, []string{"(-b) 2 KB is larger than largest size (-e) 1 KB"}},
		{"factor", Config{Factor: 1}, 2, []string{"factor (-f) is 1"}},
		{"root", Config{Root: 2}, 2, []string{"root (-r) is 2, must be from 0 to 1"}},
		{"negative root", Config{Root: -1}, 0, []string{"root (-r) is -1"}},
		{"operation", Config{Operations: []string{"x"}}, 2, []string{`unknown operation "x"`, "all_reduce", "or all"}},
		{"reduction", Config{Reduction: "x"}, 2, []string{`unknown reduction "x"`, "or all"}},
		{"type", Config{DType: "half"}, 2, []string{`unknown element type "half"`}},
		{"senseless", Config{Reduction: "max", DType: "complex64"}, 2, []string{"max of complex64 makes no sense"}},
		{"communicator", Config{Comms: []string{"x"}}, 2, []string{`unknown communicator "x": have local, mpi`}},
		{"no launcher", Config{Comms: []string{MPI}}, 2, []string{"mpirun -n 4 golops perf all_reduce"}},
		{"native", Config{Algos: []comm.Algo{comm.Native}}, 2, []string{"local has no algorithm native: have auto, direct, ring, tree"}},
		{"direct", Config{Comms: []string{MPI}, Algos: []comm.Algo{comm.Direct}}, 2, []string{"mpi has no algorithm direct"}},
		{"memory", Config{Max: 1 << 60, Ranks: 4}, 4, []string{"this machine has"}},
		{"time", Config{Time: 9}, 2, []string{"time (-a)"}},
		{"everything", Config{Min: -1, Iters: -1, Ranks: -1, Root: -1, Reduction: "x", DType: "y"}, 2,
			[]string{"(-b) is -1", "(-n) is -1", "ranks is -1", "root (-r) is -1", `"x"`, `"y"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name == "memory" && ThisMachine().Memory == 0 {
				t.Skip("the memory of this machine is not known")
			}
			err := tc.cfg.Validate(tc.ranks)
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
