package mpi

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/soak"
)

// childVar tells a copy of the test program, started by mpirun, what to do.
const childVar = "GOLOPS_TEST_CHILD"

// every is all MPIs that a machine may have.
var every = []string{"openmpi", "mpich", "openmpi5", "mpich5abi"}

// children are the programs that ranks run.
var children = map[string]struct {
	cfg  Config
	prog func(ctx context.Context, c *comm.Comm) error
}{
	"suite":    {Config{}, suite(commtest.Config{NoFaults: true, Sequences: soak.Or(200, 10000)})},
	"checked":  {Config{Checked: true}, suite(commtest.Config{Sequences: soak.Or(100, 200), FewTypes: !soak.On()})},
	"native":   {Config{Algo: driver.Native, severalHosts: true}, suite(commtest.Config{NoFaults: true, Sequences: soak.Or(100, 200), FewTypes: !soak.On()})},
	"ring":     {Config{Algo: driver.Ring}, suite(commtest.Config{NoFaults: true, Sequences: soak.Or(100, 200), FewTypes: !soak.On()})},
	"allocs":   {Config{}, allocs},
	"reaches":  {Config{}, reaches},
	"requests": {Config{}, manyRequests},
	"windows":  {Config{Note: note}, forgetWindows},
	"flush":    {Config{}, flushed},
	"lock":     {Config{}, keepLock},
	"circle":   {Config{Timeout: time.Second, Note: note}, lockCircle},
	"stop":     {Config{Timeout: time.Second}, stopOne},
	"send self": {Config{}, func(ctx context.Context, c *comm.Comm) error {
		return c.Send(ctx, comm.Of(make([]float64, 1)), c.Rank())
	}},
	"recv self": {Config{}, func(ctx context.Context, c *comm.Comm) error {
		return c.Recv(ctx, comm.Of(make([]float64, 1)), c.Rank())
	}},
	"unequal": {Config{}, unequal},
	"alone":   {Config{}, alone},
	"barrier": {Config{}, aloneInBarrier},
	"slow":    {Config{}, slow},
	"unasked": {Config{Checked: true}, unasked},
	"chunks":  {Config{maxCount: 600}, suite(commtest.Config{NoFaults: true, Sequences: soak.Or(100, 200), FewTypes: !soak.On()})},
}

func suite(cfg commtest.Config) func(context.Context, *comm.Comm) error {
	return func(ctx context.Context, c *comm.Comm) error {
		n := 0
		cfg.NoTruncation = strings.HasPrefix(c.String(), "Open MPI")
		// MPICH's blocking calls spin. With more ranks than cores they take long, so
		// fewer sequences are run there.
		if strings.HasPrefix(c.String(), "MPICH") && c.Size() > runtime.NumCPU() {
			cfg.Sequences = min(cfg.Sequences, 1000)
		}
		err := commtest.Run(ctx, c, cfg, func(name string, err error) {
			n++
			if os.Getenv("GOLOPS_TEST_VERBOSE") != "" {
				fmt.Println(name)
			}
			if err != nil {
				fmt.Printf("FAIL %s: %v\n", name, err)
			}
		})
		if c.Rank() == 0 {
			fmt.Printf("SUITE %v: %d ranks, %d cases\n", c, c.Size(), n)
		}
		return err
	}
}

// allocs counts the allocations of calls that operators and solvers make in
// every step.
func allocs(ctx context.Context, c *comm.Comm) error {
	const runs = 400
	src, dst := comm.Of(make([]float32, 20000)), comm.Of(make([]float32, 20000))
	peer := (c.Rank() + 1) % c.Size()
	x, err := comm.NewExchange(c, []comm.Leg{{Peer: peer, Buf: dst.Slice(5, 20000)}, {Peer: c.Rank(), Buf: dst.Slice(0, 5)}},
		[]comm.Leg{{Peer: peer, Buf: src.Slice(5, 20000)}, {Peer: c.Rank(), Buf: src.Slice(0, 5)}})
	if err != nil {
		return err
	}
	for _, k := range []struct {
		name string
		call func() error
	}{
		{"AllReduce", func() error { return c.AllReduce(ctx, dst.Slice(0, 2), src.Slice(0, 2), comm.Sum) }},
		{"AllReduce in a ring", func() error { return c.AllReduce(ctx, dst, src, comm.Sum) }},
		{"Broadcast", func() error { return c.Broadcast(ctx, dst, 0) }},
		{"AllGather", func() error { return c.AllGather(ctx, dst.Slice(0, 10*c.Size()), src.Slice(0, 10)) }},
		{"SendRecv", func() error { return c.SendRecv(ctx, dst, peer, src, peer) }},
		{"Exchange", func() error { return x.Run(ctx) }},
	} {
		var before, after runtime.MemStats
		for i := range runs + 10 {
			if i == 10 {
				runtime.ReadMemStats(&before)
			}
			if err := k.call(); err != nil {
				return err
			}
		}
		runtime.ReadMemStats(&after)
		if n := after.Mallocs - before.Mallocs; n > runs/4 {
			return fmt.Errorf("%s: %d allocations in %d calls", k.name, n, runs)
		}
	}
	return nil
}

// TestAllocs asserts that calls under MPI allocate nothing once they have run.
func TestAllocs(t *testing.T) {
	mpirun.Each(t, every, func(t *testing.T, m mpirun.MPI) {
		if out, err := ranks(t, m, 2, "allocs"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// TestMain lets a copy of this program be a rank.
func TestMain(m *testing.M) {
	name := os.Getenv(childVar)
	if name == "" {
		os.Exit(m.Run())
	}
	child := children[name]
	w, err := Init(context.Background(), child.cfg)
	if err == nil {
		err = w.End(context.Background(), child.prog(context.Background(), w.Comm))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ranks runs a child on n ranks and returns what it printed.
func ranks(t *testing.T, m mpirun.MPI, n int, child string, env ...string) (string, error) {
	t.Helper()
	c := m.Command(t.Context(), n, os.Args[0])
	c.Env = append(c.Env, childVar+"="+child)
	c.Env = append(c.Env, env...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.String(), err
}

// job is the suite of one child on a number of ranks.
type job struct {
	child string
	ranks []int
}

// quick is what make test runs. Open MPI has every child. The others have what differs between
// libraries: the plain suite, and the collectives of the library itself.
var quick = map[string][]job{
	"openmpi":   {{"suite", []int{1, 4}}, {"checked", []int{1, 3}}, {"native", []int{3}}, {"ring", []int{3}}, {"chunks", []int{1, 3}}},
	"mpich":     {{"suite", []int{1, 2}}, {"checked", []int{2}}, {"native", []int{2}}, {"chunks", []int{2}}},
	"openmpi5":  {{"suite", []int{3}}, {"native", []int{2}}},
	"mpich5abi": {{"suite", []int{2}}, {"native", []int{2}}},
}

// all is what make soak runs with every library.
var all = []job{{"suite", []int{1, 2, 3, 4}}, {"checked", []int{1, 2, 3}}, {"native", []int{2, 3}}, {"ring", []int{2, 3}}, {"chunks", []int{1, 2, 3}}}

// TestSuite runs the suite of every communicator on MPI ranks.
func TestSuite(t *testing.T) {
	mpirun.Each(t, every, func(t *testing.T, m mpirun.MPI) {
		for _, j := range soak.Or(quick[m.Name], all) {
			for _, n := range j.ranks {
				// MPICH's blocking calls spin and take long with more ranks than
				// cores. Only the full suite runs there.
				if strings.HasPrefix(m.Name, "mpich") && j.child != "suite" && n > runtime.NumCPU() {
					t.Logf("%s on %d ranks left out: %d cores", j.child, n, runtime.NumCPU())
					continue
				}
				t.Run(fmt.Sprintf("%s/ranks=%d", j.child, n), func(t *testing.T) {
					out, err := ranks(t, m, n, j.child)
					if err != nil || !strings.Contains(out, "SUITE") || strings.Contains(out, "FAIL") {
						t.Fatalf("%v\n%s", err, out)
					}
					line := out[strings.Index(out, "SUITE"):]
					line, _, _ = strings.Cut(line, "\n")
					t.Logf("commtest (%s): %s", j.child, strings.TrimPrefix(line, "SUITE "))
				})
			}
		}
	})
}
