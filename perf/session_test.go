package perf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/scalar"
)

// quick measures every operation with little work.
func quick(ranks int) Config {
	c := Defaults()
	c.Operations, c.Ranks, c.Min, c.Max, c.Factor = []string{All}, ranks, 4, 4096, 4
	c.Iters, c.LoopTime, c.Warmup = 2, 0, 1
	return c
}

// recorder is an Observer that checks the order of its calls.
type recorder struct {
	t      *testing.T
	open   bool
	tables []Table
}

func (r *recorder) Begin(tab *Table) {
	if r.open || len(tab.Rows) > 0 {
		r.t.Errorf("%s begins inside another table or with rows", tab.Operation)
	}
	r.open = true
}

func (r *recorder) Row(tab *Table, row Row) {
	if !r.open || tab.Rows[len(tab.Rows)-1] != row {
		r.t.Errorf("%s: a row is not the last of its table", tab.Operation)
	}
}

func (r *recorder) End(tab *Table) {
	r.open = false
	r.tables = append(r.tables, *tab)
}

func TestRun(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 5} {
		for _, root := range []int{0, ranks - 1} {
			t.Run(fmt.Sprintf("ranks=%d/root=%d", ranks, root), func(t *testing.T) {
				cfg := quick(ranks)
				cfg.Root, cfg.DType, cfg.Reduction = root, All, All
				rec := &recorder{t: t}
				res, err := Run(t.Context(), cfg, rec)
				if err != nil {
					t.Fatal(err)
				}
				if len(res.Tables) != len(operations) || len(rec.tables) != len(operations) {
					t.Fatalf("got %d tables, observed %d, want %d", len(res.Tables), len(rec.tables), len(operations))
				}
				for _, tab := range res.Tables {
					checkTable(t, tab, ranks, root)
				}
			})
		}
	}
}

func checkTable(t *testing.T, tab Table, ranks, root int) {
	t.Helper()
	o := find(t, tab.Operation)
	if tab.Comm != "goroutines" || tab.Ranks != ranks || tab.Wrong != 0 || !tab.Checked {
		t.Errorf("got %+v", tab)
	}
	want := map[bool]int{true: len(driver.Ops)*len(scalar.DTypes) - 4, false: len(scalar.DTypes)}[o.reduces]
	kinds := map[string]int{}
	for _, r := range tab.Rows {
		kinds[r.Type+" "+r.Reduction]++
		if (r.InPlace != nil) != o.inPlace || r.OutOfPlace == nil || r.OutOfPlace.Time <= 0 || r.OutOfPlace.Iters != 2 {
			t.Errorf("%s: got row %+v", tab.Operation, r)
		}
		if o.rooted && r.Root != root || !o.rooted && r.Root != -1 {
			t.Errorf("%s: root is %d", tab.Operation, r.Root)
		}
	}
	if len(kinds) != want {
		t.Errorf("%s: got %d combinations of type and reduction, want %d: %v", tab.Operation, len(kinds), want, kinds)
	}
	// 4, 16, ... 4096 bytes, of which some round to the same.
	if kinds["uint8 none"]+kinds["uint8 sum"] != 6 {
		t.Errorf("%s: got rows %v", tab.Operation, kinds)
	}
}

func TestRunAlgos(t *testing.T) {
	cfg := quick(3)
	cfg.Operations = []string{"all_reduce", "broadcast"}
	cfg.Algos = []driver.Algo{driver.Direct, driver.Ring, driver.Tree}
	res, err := Run(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tab := range res.Tables {
		got = append(got, tab.Algo+" "+tab.Operation)
	}
	want := []string{"direct all_reduce", "direct broadcast", "ring all_reduce", "ring broadcast", "tree all_reduce", "tree broadcast"}
	if !slices.Equal(got, want) || res.Wrong() != 0 {
		t.Errorf("got %q with %d wrong, want %q", got, res.Wrong(), want)
	}
}

// A loop is doubled until it takes LoopTime, equally often on all ranks.
func TestRunLoopTime(t *testing.T) {
	for _, stat := range []Stat{Mean, Rank0, Fastest, Slowest} {
		cfg := Defaults()
		cfg.Ranks, cfg.Min, cfg.Max, cfg.Time = 2, 8, 8, stat
		res, err := Run(t.Context(), cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := res.Tables[0].Rows[0].OutOfPlace
		if m.Iters < cfg.Iters || m.Iters%cfg.Iters != 0 {
			t.Errorf("%v: %d iterations", stat, m.Iters)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	cfg := Defaults()
	cfg.Ranks, cfg.Root = 2, 2
	_, err := Run(t.Context(), cfg, nil)
	var c *ConfigError
	if !errors.As(err, &c) {
		t.Errorf("got %v, want a *ConfigError", err)
	}
}

func TestRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, quick(2), nil); err == nil {
		t.Error("a run went through although its context had ended")
	}
}

// idle is a transport that does nothing with the float32 that are measured. Control
// traffic has other types.
type idle struct{ driver.Conn }

func (c idle) Do(ctx context.Context, q *driver.Call) error {
	if q.DType == scalar.Float32 {
		return nil
	}
	return c.Conn.Do(ctx, q)
}

func (c idle) Start(context.Context, *driver.Call) (uint64, error) { return ^uint64(0), nil }

func (c idle) Window(ctx context.Context, q *driver.Call) (driver.Window, []int, error) {
	w, counts, err := c.Conn.(driver.OneSided).Window(ctx, q)
	return idleWindow{w}, counts, err
}

type idleWindow struct{ driver.Window }

func (idleWindow) Access(context.Context, *driver.Access) error { return nil }

func TestCheckFindsIdleness(t *testing.T) {
	cfg := quick(3)
	cfg.Min = 64
	cfg.Wrap = func(c *comm.Comm) *comm.Comm { return comm.New(idle{c.Conn()}) }
	res, err := Run(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tab := range res.Tables {
		for _, r := range tab.Rows {
			if r.OutOfPlace.Wrong == 0 || r.InPlace != nil && r.InPlace.Wrong == 0 {
				t.Errorf("%s did nothing with %d bytes and was found right", tab.Operation, r.Size)
			}
		}
	}
	cfg.NoCheck = true
	if res, err := Run(t.Context(), cfg, nil); err != nil || res.Wrong() != 0 || res.Tables[0].Checked {
		t.Errorf("unchecked: got %d wrong, checked %v, %v", res.Wrong(), res.Tables[0].Checked, err)
	}
}

// put, get and accumulate do the same by messages and through windows, for all types, and
// the comparison has both.
func TestRunModes(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		cfg := quick(ranks)
		cfg.Operations, cfg.Modes, cfg.DType = []string{"put", "get", "accumulate"}, []string{Messages, OneSided}, All
		res, err := Run(t.Context(), cfg, nil)
		if err != nil || res.Wrong() != 0 || len(res.Tables) != 6 {
			t.Fatalf("%d ranks: %d tables, %d wrong, %v", ranks, len(res.Tables), res.Wrong(), err)
		}
		for i, tab := range res.Tables {
			if want := cfg.Modes[i%2]; tab.Mode != want || len(tab.Rows) == 0 || tab.Operation != cfg.Operations[i/2] {
				t.Errorf("%d ranks: table %d is %s by %q with %d rows", ranks, i, tab.Operation, tab.Mode, len(tab.Rows))
			}
		}
		var out strings.Builder
		if err := WriteComparison(&out, res.Tables[:2]); err != nil || !strings.Contains(out.String(), "[1] messages\n#   [2] onesided\n") {
			t.Errorf("%d ranks: %v\n%s", ranks, err, &out)
		}
	}
	for want, cfg := range map[string]Config{
		"broadcast has no modes":  {Operations: []string{"put", "broadcast"}, Modes: []string{Messages}},
		`unknown mode "twosided"`: {Operations: []string{"put"}, Modes: []string{"twosided"}},
		"messages is given twice": {Operations: []string{"put"}, Modes: []string{Messages, Messages}},
	} {
		if err := cfg.Validate(2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// windowless is a communicator without windows, as that of Open MPI over TCP is.
type windowless struct{ driver.Conn }

// The operations that a communicator cannot do have a table that says why. All
// others are measured.
func TestUnsupportedOperations(t *testing.T) {
	cfg := quick(3)
	cfg.Wrap = func(c *comm.Comm) *comm.Comm { return comm.New(windowless{c.Conn()}) }
	for _, dtype := range []string{"float", All} {
		cfg.DType = dtype
		rec := &recorder{t: t}
		res, err := Run(t.Context(), cfg, rec)
		if err != nil || res.Wrong() != 0 || len(res.Tables) != len(operations) || len(rec.tables) != len(operations) {
			t.Fatalf("type %s: %d tables, observed %d, %d wrong, %v", dtype, len(res.Tables), len(rec.tables), res.Wrong(), err)
		}
		for _, tab := range res.Tables {
			if o := find(t, tab.Operation); o.window != (tab.NotMeasured != "") || o.window != (len(tab.Rows) == 0) {
				t.Errorf("type %s: %s has %d rows, not measured %q", dtype, tab.Operation, len(tab.Rows), tab.NotMeasured)
			}
		}
		missing := res.Missing()
		if len(missing) != 3 || !strings.HasPrefix(missing[0], "put: not measured: put of ") || !strings.HasPrefix(missing[1], "get: not measured: get of ") {
			t.Errorf("type %s: missing %q", dtype, missing)
		}
	}
}

// lame has no windows on rank 1.
type lame struct{ driver.Conn }

func (c lame) Window(context.Context, *driver.Call) (driver.Window, []int, error) {
	if c.Info().Rank == 1 {
		return nil, nil, errors.ErrUnsupported
	}
	return idleWindow{}, make([]int, c.Info().Size), nil
}

// What one rank cannot do, all leave out together.
func TestUnsupportedOnOneRank(t *testing.T) {
	cfg := quick(3)
	cfg.Operations = []string{"put", "sendrecv"}
	cfg.Wrap = func(c *comm.Comm) *comm.Comm { return comm.New(lame{c.Conn()}) }
	res, err := Run(t.Context(), cfg, nil)
	if err != nil || len(res.Tables) != 2 || len(res.Missing()) != 1 || !strings.Contains(res.Missing()[0], "another rank has no window") {
		t.Errorf("missing %q, %d tables, %v", res.Missing(), len(res.Tables), err)
	}
}

// A timed loop that allocates would measure the collector.
func TestLoopAllocatesNothing(t *testing.T) {
	err := launch.Config{Ranks: 1}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
		c := r.Comm
		for _, o := range operations {
			e := o.extent(1024, 4, 1)
			b := &bench[float32]{
				c: c, o: o, vals: newValues[float32](comm.Sum, 1),
				send: make([]float32, e.total), recv: make([]float32, e.total),
			}
			if err := b.open(ctx); err != nil {
				return err
			}
			for _, inPlace := range []bool{false, o.inPlace} {
				j := b.job(e, inPlace)
				if err := j.ready(ctx); err != nil {
					return err
				}
				var err error
				n := testing.AllocsPerRun(10, func() { _, err = loop(ctx, j.call, 5) })
				if err != nil {
					return err
				}
				if n > 0 {
					t.Errorf("%s, in place %v: %v allocations", o.name, inPlace, n)
				}
			}
			if err := b.close(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
