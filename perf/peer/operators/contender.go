package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	addrVar = "GOLOPS_PEER_ADDR" // tells a child where its parent listens
	program = "perf/peer/operators/python/peer.py"
)

// request is what a child is asked: to set up a case, or to measure it again.
type request struct {
	Case    *Case   `json:"case,omitempty"`
	AtLeast float64 `json:"atLeast,omitempty"` // seconds of one measurement
}

// reply is the answer of rank 0 of a child. The slices have one entry for
// operations without adjoint, otherwise two.
type reply struct {
	Marks   []mark    `json:"marks,omitempty"`   // after a set-up
	Bytes   []int     `json:"bytes,omitempty"`   // after a set-up of golops
	Seconds []float64 `json:"seconds,omitempty"` // of one call, after a measurement
}

// mark tells results apart: their number, their norm, and their product with
// numbers that depend on the place.
type mark struct {
	N    int     `json:"n"`
	Norm float64 `json:"norm"`
	Dot  float64 `json:"dot"`
}

// close reports whether two sides that add up in different order can both be
// right. The numbers of the product are not larger than 1/2.
func (m mark) close(o mark, dt string) bool {
	tol := 1e-10
	if dt == "float32" {
		tol = 1e-4
	}
	size := max(m.Norm, 1e-30)
	return m.N == o.N && math.Abs(m.Norm-o.Norm) <= tol*size && math.Abs(m.Dot-o.Dot) <= tol*size*math.Sqrt(float64(max(m.N, 1)))
}

// contender is a running side: a process with one rank or several, each with a
// connection on which it waits for requests. Waiting for the others inside of
// MPI instead would keep a core busy while the other side is measured.
type contender struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ranks  []net.Conn
	first  *json.Decoder
	exited chan struct{}
}

// start runs a program that connects that many times.
func start(ctx context.Context, connections int, env []string, name string, args ...string) (*contender, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	c := &contender{cmd: exec.CommandContext(ctx, name, args...), ranks: make([]net.Conn, connections), exited: make(chan struct{})}
	c.cmd.Env = append(append(os.Environ(), env...), addrVar+"="+l.Addr().String())
	c.cmd.Stdout, c.cmd.Stderr = &c.stderr, &c.stderr
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = c.cmd.Wait() // the state says what there is to say
		close(c.exited)
		_ = l.Close()
	}()
	for range connections {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			err = errors.New("it ended before it connected")
		}
		if err != nil {
			return nil, c.failed(err)
		}
		var rank int
		d := json.NewDecoder(conn)
		if err := d.Decode(&rank); err != nil {
			return nil, c.failed(err)
		}
		if rank < 0 || rank >= connections {
			return nil, c.failed(fmt.Errorf("it has a rank %d of %d", rank, connections))
		}
		if c.ranks[rank] = conn; rank == 0 {
			c.first = d
		}
	}
	return c, nil
}

// failed ends the process and explains an error with what it has printed.
func (c *contender) failed(err error) error {
	c.stop()
	return fmt.Errorf("%s: %w: %s\n%s", strings.Join(c.cmd.Args, " "), err, c.cmd.ProcessState, tail(c.stderr.String()))
}

// tail returns the last lines of a text.
func tail(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}

// stop ends the process, which leaves when its connections close.
func (c *contender) stop() {
	for _, conn := range c.ranks {
		if conn != nil {
			_ = conn.Close()
		}
	}
	if c.ranks[0] == nil {
		_ = c.cmd.Process.Kill() // it may not have connected at all
	}
	<-c.exited
}

// ask sends a request to all ranks and waits for the answer of rank 0.
func (c *contender) ask(q request) (a reply, err error) {
	text, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	for _, conn := range c.ranks {
		if _, err := conn.Write(append(text, '\n')); err != nil {
			return a, c.failed(err)
		}
	}
	if err := c.first.Decode(&a); err != nil {
		return a, c.failed(err)
	}
	return a, nil
}

// calm is how long nothing runs before a turn: the threads of the other side's
// BLAS look for work for some 30 ms after its last call, on cores that this side
// is to have for itself.
const calm = 60 * time.Millisecond

// sides are the contenders that are needed so far, by name.
type sides struct {
	ctx     context.Context
	o       options
	running map[string]*contender
}

func (s *sides) stop() {
	for _, c := range s.running {
		c.stop()
	}
}

// golops returns our side with that many ranks, a copy of this program.
func (s *sides) golops(ranks int) (*contender, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	env := []string{"GOMAXPROCS=" + strconv.Itoa(s.o.cores)}
	args := []string{"-child", strconv.Itoa(ranks), "-cores", strconv.Itoa(s.o.cores)}
	return s.get(fmt.Sprint("golops on ", ranks), func() (*contender, error) { return start(s.ctx, 1, env, self, args...) })
}

// peer returns the side of Python with that many ranks. BLAS gets the cores that
// the ranks do not need; nothing is bound, as Go binds nothing.
func (s *sides) peer(ranks int) (*contender, error) {
	for _, need := range []struct{ path, help string }{
		{s.o.mpirun, "scripts/install-mpi installs an Open MPI"},
		{s.o.python, "scripts/peer-python makes it, with PyLops-MPI"},
	} {
		if _, err := exec.LookPath(need.path); err != nil {
			return nil, fmt.Errorf("%w: %s", err, need.help)
		}
	}
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("%w: run this in the root of the repository", err)
	}
	threads := "=" + strconv.Itoa(max(1, s.o.cores/ranks))
	env := []string{"OMP_NUM_THREADS" + threads, "OPENBLAS_NUM_THREADS" + threads, "MKL_NUM_THREADS" + threads, "PYTHONDONTWRITEBYTECODE=1", "MPLBACKEND=Agg"}
	args := []string{"--allow-run-as-root", "--bind-to", "none", "-n", strconv.Itoa(ranks), s.o.python, "-m", "mpi4py", program}
	return s.get(fmt.Sprint("Python on ", ranks), func() (*contender, error) {
		return start(s.ctx, ranks, env, s.o.mpirun, args...)
	})
}

func (s *sides) get(name string, start func() (*contender, error)) (*contender, error) {
	if c, ok := s.running[name]; ok {
		return c, nil
	}
	c, err := start()
	if err == nil {
		s.running[name] = c
	}
	return c, err
}

// measure sets a case up on both sides, checks that they compute the same, and
// measures them in turns.
func (s *sides) measure(c Case) (row, error) {
	ours, err := s.golops(c.Ranks)
	if err != nil {
		return row{}, err
	}
	theirs, err := s.peer(c.Ranks)
	if err != nil {
		return row{}, err
	}
	q := request{Case: &c, AtLeast: s.o.atLeast.Seconds()}
	a, err := ours.ask(q)
	if err != nil {
		return row{}, err
	}
	b, err := theirs.ask(q)
	if err != nil {
		return row{}, err
	}
	if err := agree(c, a.Marks, b.Marks); err != nil {
		return row{}, err
	}
	r := row{c: c, bytes: a.Bytes, pick: median}
	if s.o.best {
		r.pick = slices.Min[[]float64]
	}
	for range s.o.rounds {
		for i, side := range []*contender{ours, theirs} {
			time.Sleep(calm)
			a, err := side.ask(request{})
			if err != nil {
				return row{}, err
			}
			r.add(i, a.Seconds)
		}
	}
	return r, nil
}

// agree reports results that differ.
func agree(c Case, ours, theirs []mark) error {
	if len(ours) != len(theirs) {
		return fmt.Errorf("%d results of golops, %d of the peer", len(ours), len(theirs))
	}
	var errs []error
	for i, what := range []string{"forward", "adjoint"}[:len(ours)] {
		if i == 1 && c.dropsGhosts() {
			continue
		}
		if !ours[i].close(theirs[i], c.Type) {
			errs = append(errs, fmt.Errorf("%s: golops has %+v, the peer has %+v: they do not compute the same", what, ours[i], theirs[i]))
		}
	}
	return errors.Join(errs...)
}
