package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/mpirun"
)

// Flags, names and types of nccl-tests that perf does not have say what to use.
func TestNCCLTestsUsers(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"perf all_reduce -g 8", "-g of nccl-tests: there is one GPU to a rank: use --ranks N or mpirun -n N"},
		{"perf all_reduce -b 8 -e 128M -f 2 -g 8", "use --ranks N or mpirun -n N"},
		{"perf all_reduce -t 4", "-t of nccl-tests: use --ranks N"},
		{"perf all_reduce --ngpus 8", "--ngpus of nccl-tests: there is one GPU to a rank"},
		{"perf all_reduce -z 1", "-z of nccl-tests: it does not apply here"},
		{"perf all_reduce -G 1", "-G of nccl-tests: it does not apply here"},
		{"perf all_reduce -C 1", "-C of nccl-tests: it does not apply here"},
		{"perf all_reduce -J a.json", "use --json"},
		{"perf all_reduce --output_file a.json", "use --json"},
		{"perf all_reduce -N 2", "-N of nccl-tests: run the command again"},
		{"perf all_reduce -m 2", "it does not apply here"},
		{"perf all_reduce -p 1", "it does not apply here"},
		{"perf all_reduce -T 10", "use --timeout"},
		{"perf all_reduce -x a", "use --json"},
		{"perf all_reduce -y 1", "it does not apply here"},
		{"perf all_reduce -D 1", "it does not apply here"},
		{"perf all_reduce -S", "use GOLOPS_TRACE"},
		{"perf kernels -g 8", "-g of nccl-tests"},
		{"perf all_reduce -k", "unknown shorthand flag: 'k' in -k"},
		{"perf all_reduce -c 2", "-c is 2, must be 0 or 1: results are verified once for each size"},
		{"perf allreduce", `unknown operation "allreduce" (did you mean all_reduce?): have all_reduce, all_gather`},
		{"perf all_reduce_perf", `"all_reduce_perf" (did you mean all_reduce?)`},
		{"perf AllGather Bcast_perf sum", `"AllGather" (did you mean all_gather?), "Bcast_perf" (did you mean broadcast?), "sum": have`},
		{"perf all_redcue", `"all_redcue" (did you mean all_reduce?)`},
		{"perf all_reduce -d quarter", `unknown element type "quarter": have `},
		{"perf all_reduce -d fp8", "are planned"},
		{"perf all_reduce -d int8", `unknown element type "int8": have uint8`},
		{"perf all_reduce -d uint64", `unknown element type "uint64": have uint8`},
		{"perf all_reduce -o mulsum", `unknown reduction "mulsum": have sum`},
	} {
		code, stdout, stderr := golops(t.Context(), c.args)
		if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: got exit code %d, %q and %q, want %q", c.args, code, stdout, stderr, c.want)
		}
		if strings.Contains(c.args, "int") && strings.Contains(stderr, "planned") {
			t.Errorf("%s: got %q", c.args, stderr)
		}
	}
}

// windowless is a communicator without windows.
type windowless struct{ driver.Conn }

// perf all goes on after what the communicator cannot do. What was asked for by
// name fails.
func TestPerfGoesOn(t *testing.T) {
	for _, c := range []struct {
		ops          string
		code         int
		tables, rows int
		missing      []string
	}{
		{"all", 0, 13, 10, []string{"put", "get", "accumulate"}},
		{"put sendrecv", 1, 2, 1, []string{"put"}},
	} {
		file := filepath.Join(t.TempDir(), "a.json")
		var out, err bytes.Buffer
		a := newTool(&out, &err)
		a.wrap = func(c *comm.Comm) *comm.Comm { return comm.New(windowless{c.Conn()}) }
		code := a.run(t.Context(), strings.Fields("perf "+c.ops+" --ranks 2 -b 64 -e 64 -n 2 --json "+file))
		tables, rows := strings.Count(out.String(), "# golops perf "), strings.Count(out.String(), "\n          64 ")
		if code != c.code || tables != c.tables || rows != c.rows {
			t.Errorf("%s: got exit code %d, %d tables, %d rows and %s", c.ops, code, tables, rows, &err)
		}
		for _, name := range c.missing {
			if !strings.Contains(err.String(), name+": not measured: "+name+" of float32: ") || !strings.Contains(out.String(), "# Not measured         : "+name+" of float32: ") {
				t.Errorf("%s: nothing is said of %s in\n%s\n%s", c.ops, name, &out, &err)
			}
		}
		b, e := os.ReadFile(file)
		if e != nil || bytes.Count(b, []byte(`"not_measured"`)) != len(c.missing) {
			t.Errorf("%s: the file says %s, %v", c.ops, b, e)
		}
	}
}

// Open MPI over TCP makes no windows. All other operations are measured there.
func TestPerfOverTCP(t *testing.T) {
	mpirun.Each(t, []string{"openmpi"}, func(t *testing.T, m mpirun.MPI) {
		c := m.Command(t.Context(), 2, os.Args[0], "perf", "all", "-b", "64", "-e", "64", "-n", "2")
		c.Env = append(c.Env, childVar+"=1", "OMPI_MCA_btl=tcp,self")
		out, err := c.CombinedOutput()
		tables, ends := bytes.Count(out, []byte("# golops perf ")), bytes.Count(out, []byte("# Out of bounds values : 0 OK"))
		if missing := bytes.Count(out, []byte("# Not measured ")); err != nil || tables != 13 || ends < 10 || ends+missing != 13 {
			t.Errorf("%d tables, %d measured, %d not, %v\n%s", tables, ends, missing, err, out)
		}
	})
}
