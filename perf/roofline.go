package perf

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/cost"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// Network is the name of the link between nodes, beside Messages and OneSided.
const Network = "network"

// RooflineConfig says how the message roofline is measured. Start from RooflineDefaults: a
// zero field is zero.
type RooflineConfig struct {
	Sizes    []int64       // bytes of a message
	Counts   []int         // messages between two synchronisations
	Ranks    int           // goroutine ranks; 0 means GOMAXPROCS, and at least 2. A launcher overrides it
	Threads  int           // of each rank; 0 means its share of the cores
	Rounds   int           // the best of them counts
	LoopTime time.Duration // the least time of a round
	Budget   time.Duration // after this time, points are measured once; after twice that, not at all
	Memory   int64         // bytes that a rank may send between two synchronisations; it needs twice that

	Timeout time.Duration // the longest that a call may wait for another rank; 0 means no limit
	Log     *slog.Logger  // passed to launch; nil means slog.Default()
	Fault   error         // an error that this process has found before; returned on all ranks

	host func(rank int) string // for tests
}

// RooflineDefaults returns a config of messages from 8 bytes to 4 MB, 1 to 10,000 at a
// time, that takes less than a minute.
func RooflineDefaults() RooflineConfig {
	c := RooflineConfig{Counts: []int{1, 10, 100, 1000, 10000}, Rounds: 3, LoopTime: 10 * time.Millisecond, Budget: 20 * time.Second, Memory: 64 << 20}
	for n := int64(8); n < 4<<20; n *= 8 {
		c.Sizes = append(c.Sizes, n)
	}
	c.Sizes = append(c.Sizes, 4<<20)
	return c
}

// Validate reports every fault of c at once.
func (c RooflineConfig) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(c.Sizes) == 0 || len(c.Counts) == 0 {
		fault("no size or no number of messages: give at least one of each")
	}
	for _, n := range c.Sizes {
		if n < 1 || n > c.Memory {
			fault("size %d: must be from 1 to the memory of a rank, %d", n, c.Memory)
		}
	}
	for _, n := range c.Counts {
		if n < 1 || n > 1e6 {
			fault("%d messages between two synchronisations: must be from 1 to 1000000", n)
		}
	}
	if c.Ranks == 1 {
		fault("1 rank: messages need 2 or more")
	}
	if c.Rounds < 1 || c.LoopTime <= 0 || c.Budget <= 0 {
		fault("%d rounds of %v in %v, must be at least one of a positive time", c.Rounds, c.LoopTime, c.Budget)
	}
	errs = append(errs, launch.Config{Ranks: c.Ranks, Threads: c.Threads, Timeout: c.Timeout}.Validate())
	if _, have := device.HostMemory(); have > 0 && !launch.Launched() && 2*c.Memory*int64(c.ranks()) > have {
		fault("%d ranks with %s each: this machine has %s: lower the ranks", c.ranks(), FormatSize(2*c.Memory), FormatSize(have))
	}
	return errors.Join(errs...)
}

func (c RooflineConfig) ranks() int { return max(2, Config{Ranks: c.Ranks}.goroutineRanks()) }

// RooflinePoint is one measurement: all ranks send messages around a ring and synchronise.
type RooflinePoint struct {
	Link     string  `json:"link"` // Messages, OneSided or Network
	Size     int64   `json:"size"`
	Messages int     `json:"messages"` // between two synchronisations
	Seconds  float64 `json:"seconds"`
	Rate     float64 `json:"GBps"` // that each rank receives
}

// Roofline is what was measured.
type Roofline struct {
	Comm    string            `json:"communicator"`
	Ranks   int               `json:"ranks"`
	Points  []RooflinePoint   `json:"points"`
	Fits    []LinkFit         `json:"fits"`
	Missing map[string]string `json:"missing,omitempty"` // links that were not measured, and why
	Skipped int               `json:"skipped,omitempty"` // points for which there was no time
	Machine cost.Machine      `json:"machine"`           // for golops plan
}

// MeasureRoofline measures messages, one-sided messages and arithmetic on the ranks of a
// launcher, or on goroutine ranks. The result is that of rank 0, and rank is that of this
// process.
func MeasureRoofline(ctx context.Context, cfg RooflineConfig) (roof Roofline, rank int, err error) {
	fault := errors.Join(cfg.Fault, cfg.Validate())
	err = onRanks(ctx, launch.Config{Ranks: cfg.ranks(), Threads: cfg.Threads, Timeout: cfg.Timeout, Log: cfg.Log}, fault,
		func(ctx context.Context, r dist.Proc) error {
			if launch.Launched() {
				rank = r.Rank()
			}
			m := &roofer{cfg: cfg, r: r, roof: Roofline{Comm: r.Comm.String(), Ranks: r.Size()}}
			err := m.measure(ctx)
			if r.Rank() == 0 {
				roof = m.roof
			}
			return err
		})
	return roof, rank, err
}

// roofer is one rank that measures a roofline.
type roofer struct {
	cfg        RooflineConfig
	r          dist.Proc
	roof       Roofline
	send, recv []uint8
	win        *comm.Window // over send, or nil
	spent      float64      // seconds of measurements, the same on all ranks
}

func (m *roofer) measure(ctx context.Context) error {
	if m.r.Size() < 2 {
		return &launch.UsageError{Err: errors.New("perf: roofline: the launcher started 1 rank, messages need 2 or more")}
	}
	if err := m.describe(ctx); err != nil {
		return err
	}
	m.send, m.recv = make([]uint8, m.cfg.Memory), make([]uint8, m.cfg.Memory)
	for i := range m.send {
		m.send[i] = uint8(i) // memory that nobody has written to is not there yet
		m.recv[i] = 1
	}
	if err := m.open(ctx); err != nil {
		return err
	}
	for _, size := range m.cfg.Sizes {
		for _, count := range m.cfg.Counts {
			if size*int64(count) <= m.cfg.Memory {
				if err := m.point(ctx, int(size), count); err != nil {
					return fmt.Errorf("perf: roofline of %d messages of %d bytes: %w", count, size, err)
				}
			}
		}
	}
	if m.win != nil {
		if err := errors.Join(m.win.UnlockAll(ctx), m.win.Close(ctx)); err != nil {
			return err
		}
	}
	if err := m.rates(ctx); err != nil {
		return err
	}
	return m.fit()
}

// describe fills in the nodes, and how many cores and how much memory they have.
func (m *roofer) describe(ctx context.Context) error {
	host, _ := os.Hostname() // a machine without a name is no reason to fail
	if m.cfg.host != nil {
		host = m.cfg.host(m.r.Rank())
	}
	all, err := comm.AllGatherObjects(ctx, m.r.Comm, host)
	if err != nil {
		return err
	}
	slices.Sort(all)
	c := &m.roof.Machine
	c.Host, c.Date, c.Nodes = host, time.Now().UTC().Truncate(time.Second), len(slices.Compact(all))
	c.Measured = fmt.Sprintf("%s, %d ranks", m.roof.Comm, m.r.Size())
	c.Cores = min(runtime.NumCPU(), runtime.GOMAXPROCS(0))
	if launch.Launched() { // processes may be bound to some of the cores
		c.Cores = max(launch.Cores(), c.Cores)
	}
	_, c.Memory = device.HostMemory()
	return nil
}

// open makes the window that ranks read from. Without windows there are messages only.
func (m *roofer) open(ctx context.Context) error {
	w, err := m.r.Window(ctx, comm.Of(m.send))
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	missing := []int32{0}
	if err != nil {
		missing[0] = 1
	}
	if e := m.r.AllReduce(ctx, comm.Of(missing), comm.Of(missing), comm.Max); e != nil {
		return e
	}
	if missing[0] != 0 {
		m.roof.Missing = map[string]string{OneSided: "another rank has no window"}
		if err != nil {
			m.roof.Missing[OneSided] = err.Error()
		}
		return nil
	}
	m.win = w
	return w.LockAll(ctx)
}

// point measures all links with messages of one size.
func (m *roofer) point(ctx context.Context, size, count int) error {
	r := rounds{n: m.cfg.Rounds, loop: m.cfg.LoopTime}
	switch over := m.spent / m.cfg.Budget.Seconds(); {
	case over > 2:
		m.roof.Skipped++
		return nil
	case over > 1:
		r = rounds{n: 1, loop: time.Nanosecond}
	}
	me, n := m.r.Rank(), m.r.Size()
	near, err := m.messages(1, size, count)
	if err != nil {
		return err
	}
	names, calls := []string{Messages}, []func(context.Context) error{near}
	if m.win != nil {
		names, calls = append(names, OneSided), append(calls, func(ctx context.Context) error {
			to := (me + 1) % n
			for i := range count {
				if err := m.win.Get(ctx, comm.Of(m.recv[i*size:(i+1)*size]), to, i*size); err != nil {
					return err
				}
			}
			return m.win.Flush(ctx, to)
		})
	}
	if nodes := m.roof.Machine.Nodes; nodes > 1 {
		far, err := m.messages((n+nodes-1)/nodes, size, count)
		if err != nil {
			return err
		}
		names, calls = append(names, Network), append(calls, far)
	}
	start := time.Now()
	times, err := r.best(ctx, m.r.Comm, calls...)
	if err != nil {
		return err
	}
	took := []float64{time.Since(start).Seconds()}
	if err := m.r.Broadcast(ctx, comm.Of(took), 0); err != nil {
		return err
	}
	m.spent += took[0]
	for i, s := range times {
		bytes := float64(count) * float64(size)
		m.roof.Points = append(m.roof.Points, RooflinePoint{names[i], int64(size), count, s, bytes / s / 1e9})
	}
	return nil
}

// messages returns a function that exchanges messages with the ranks that are so far away.
func (m *roofer) messages(away, size, count int) (func(context.Context) error, error) {
	me, n := m.r.Rank(), m.r.Size()
	in, out := make([]comm.Leg, count), make([]comm.Leg, count)
	for i := range count {
		in[i] = comm.Leg{Peer: (me + n - away) % n, Buf: comm.Of(m.recv[i*size : (i+1)*size])}
		out[i] = comm.Leg{Peer: (me + away) % n, Buf: comm.Of(m.send[i*size : (i+1)*size])}
	}
	x, err := comm.NewExchange(m.r.Comm, in, out)
	return x.Run, err
}

// fit fits the links of the machine.
func (m *roofer) fit() error {
	c := &m.roof.Machine
	c.Fit = map[string]float64{}
	slower := max(1, float64(m.r.Size())/float64(c.Nodes*c.Cores))
	for _, l := range []struct {
		name string
		to   *cost.Link
	}{{Messages, &c.Messages}, {OneSided, &c.OneSided}, {Network, &c.Network}} {
		points := slices.DeleteFunc(slices.Clone(m.roof.Points), func(p RooflinePoint) bool { return p.Link != l.name })
		if len(points) == 0 {
			continue
		}
		f, err := fitLink(l.name, points)
		if err != nil {
			return err
		}
		if l.name == Network { // all ranks of a node have shared it
			f.Link.Bandwidth *= float64((m.r.Size() + c.Nodes - 1) / c.Nodes)
			f.Link.Overlap = true
		}
		m.roof.Fits = append(m.roof.Fits, f)
		*l.to, c.Fit[l.name] = f.Link, f.Median
		if !f.Link.Overlap { // as with a core for each rank
			l.to.Latency, l.to.Overhead, l.to.Bandwidth = l.to.Latency/slower, l.to.Overhead/slower, l.to.Bandwidth*slower
		}
	}
	c.Copy *= slower
	for name := range c.Gemm {
		c.Gemm[name] *= slower
	}
	for name := range c.Pairs {
		c.Pairs[name] *= slower
	}
	c.FFT *= slower
	return c.Validate()
}
