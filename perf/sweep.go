package perf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// Sweep measures the operations of cfg on the ranks of c, one table per operation. It
// is collective and all ranks return the same tables. o, which may be nil, is called
// on rank 0. Buffers are in the memory of d, or in host memory if d is nil. Sweep
// ignores Comms, Ranks, Algos, Device and Wrap of cfg. algo is copied into the tables.
// An operation that c lacks has a table without rows that says why.
func Sweep(ctx context.Context, c *comm.Comm, d device.Device, algo driver.Algo, cfg Config, o Observer) (tables []Table, err error) {
	p, err := cfg.plan(c.Size())
	if err != nil {
		return nil, &ConfigError{err}
	}
	if o == nil || c.Rank() != 0 {
		o = silence{}
	}
	s := &sweeper{plan: p, c: c, o: o}
	if d != nil {
		if s.onDevice, err = newDeviceBuffers(d, c, p.Register); err != nil {
			return nil, err
		}
		defer func() {
			if e := s.onDevice.free(ctx); err == nil {
				err = e
			}
		}()
	}
	for _, op := range p.ops {
		if op.window && d != nil && slices.Contains(p.Operations, All) {
			continue // no windows over GPU memory; an error only if named by the user
		}
		if op.name == "sendrecv" && p.Register != Unregistered {
			continue // messages have no registration; an error only if named by the user
		}
		for _, mode := range p.modes(op) {
			t := p.table(op, c, d)
			t.Algo, t.Mode = algo.String(), mode
			o.Begin(t)
			err := s.table(ctx, t, op)
			if errors.Is(err, errors.ErrUnsupported) && len(t.Rows) == 0 {
				t.NotMeasured = strings.TrimPrefix(err.Error(), "perf: ")
			} else if err != nil {
				return tables, err
			}
			t.finish()
			o.End(t)
			tables = append(tables, *t)
		}
	}
	return tables, nil
}

// table returns an empty table of an operation.
func (p plan) table(op operation, c *comm.Comm, d device.Device) *Table {
	t := &Table{
		Operation: op.name, Comm: c.String(), Ranks: c.Size(),
		Min: p.Min, Max: p.Max, Factor: p.Factor, Step: p.Step,
		Iters: p.Iters, Warmup: p.Warmup, Time: p.Time.String(), Checked: !p.NoCheck,
	}
	if t.Step > 0 {
		t.Factor = 0
	}
	switch {
	case d != nil:
		t.Memory, t.Device = GPUMemory, d.String()
		if p.Register != Unregistered {
			t.Registration = p.Register.String()
		}
	case p.Device != "":
		t.Memory = HostMemory
	}
	t.Type, t.Reduction = only(p.dtypes), "none"
	if op.reduces {
		t.Reduction = only(p.reductions)
	}
	return t
}

// only returns the name of the one element of s, or All.
func only[T fmt.Stringer](s []T) string {
	if len(s) == 1 {
		return s[0].String()
	}
	return All
}

// sweeper is one rank's state over all tables of a Sweep.
type sweeper struct {
	plan
	c          *comm.Comm
	o          Observer
	send, recv []complex128   // memory of buffers of any type, reused for all tables
	onDevice   *deviceBuffers // the same buffers in GPU memory, or nil
	seed       uint32
}

func (s *sweeper) table(ctx context.Context, t *Table, o operation) error {
	reductions := s.reductions
	if !o.reduces {
		reductions = []comm.Op{comm.Sum}
	}
	var missing error
	for _, dt := range s.dtypes {
		for _, op := range reductions {
			if o.reduces && driver.CheckOp(op, dt) != nil {
				continue
			}
			err := s.rows(ctx, t, o, dt, op)
			switch {
			case errors.Is(err, errors.ErrUnsupported):
				missing = err
			case err != nil:
				return err
			}
		}
	}
	if len(t.Rows) > 0 {
		return nil // some types and reductions were measured; leave out the others
	}
	return missing
}

func (s *sweeper) rows(ctx context.Context, t *Table, o operation, dt scalar.DType, op comm.Op) error {
	switch dt {
	case scalar.Uint8:
		return rows[uint8](ctx, s, t, o, op)
	case scalar.Int32:
		return rows[int32](ctx, s, t, o, op)
	case scalar.Int64:
		return rows[int64](ctx, s, t, o, op)
	case scalar.Float32:
		return rows[float32](ctx, s, t, o, op)
	case scalar.Float64:
		return rows[float64](ctx, s, t, o, op)
	case scalar.Complex64:
		return rows[complex64](ctx, s, t, o, op)
	case scalar.Half:
		return rows[scalar.Float16](ctx, s, t, o, op)
	case scalar.Brain:
		return rows[scalar.BFloat16](ctx, s, t, o, op)
	}
	return rows[complex128](ctx, s, t, o, op)
}

// rows measures one operation, type and reduction at all sizes.
func rows[T scalar.Element](ctx context.Context, s *sweeper, t *Table, o operation, op comm.Op) (err error) {
	dt, n := scalar.Of[T](), s.c.Size()
	elem := dt.Size()
	ns, nr := o.bufferSizes(o.extent(s.Max, elem, n), s.c.Rank() == s.Root)
	b := &bench[T]{
		c: s.c, o: o, mode: t.Mode, op: op, root: s.Root, vals: newValues[T](op, n),
		send: buffer[T](&s.send, ns), recv: buffer[T](&s.recv, nr), onDevice: s.onDevice,
	}
	if s.onDevice != nil {
		if err := s.onDevice.resize(ctx, s.send, s.recv); err != nil {
			return fmt.Errorf("perf: buffers of %s: %w", o.name, err)
		}
	}
	if err := s.agreeOpen(ctx, o, b.open(ctx)); err != nil {
		return fmt.Errorf("perf: %s of %v: %w", o.name, dt, err)
	}
	last := int64(-1)
	for size := range sizes(s.Min, s.Max, s.Factor, s.Step) {
		e := o.extent(size, elem, n)
		row := Row{Size: int64(e.total * elem), Count: int64(e.count), Type: dt.String(), Reduction: "none", Root: -1}
		if row.Size == last {
			continue // rounded to the size of the row before
		}
		last = row.Size
		if o.reduces {
			row.Reduction = op.String()
		}
		if o.rooted {
			row.Root = s.Root
		}
		if err := measureRow(ctx, s, b, e, &row); err != nil {
			return fmt.Errorf("perf: %s of %s of %v: %w", o.name, FormatSize(row.Size), dt, err)
		}
		t.Rows = append(t.Rows, row)
		s.o.Row(t, row)
	}
	return b.close(ctx)
}

// agreeOpen returns an error on all ranks if one of them has no window. All ranks
// then leave the operation out.
func (s *sweeper) agreeOpen(ctx context.Context, o operation, err error) error {
	if !o.window || err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	missing := []int32{0}
	if err != nil {
		missing[0] = 1
	}
	buf := comm.Of(missing)
	if e := s.c.AllReduce(ctx, buf, buf, comm.Max); e != nil {
		return e
	}
	if err == nil && missing[0] != 0 {
		err = fmt.Errorf("another rank has no window: %w", errors.ErrUnsupported)
	}
	return err
}

// measureRow measures one size, out of place and in place.
func measureRow[T scalar.Element](ctx context.Context, s *sweeper, b *bench[T], e extent, row *Row) (err error) {
	reg := trace.Begin(ctx, b.o.name+" "+row.Type+" "+FormatSize(row.Size))
	defer reg.End()
	if row.OutOfPlace, err = s.measure(ctx, b.o, b.job(e, false), row.Size, reg, ""); err != nil || !b.o.inPlace {
		return err
	}
	row.InPlace, err = s.measure(ctx, b.o, b.job(e, true), row.Size, reg, "in place ")
	return err
}

// buffer returns memory for n elements from *mem. It reallocates *mem if that is too
// small. Memory is whole pages: two ranks with buffers on one cache line would slow
// each other down.
func buffer[T scalar.Element](mem *[]complex128, n int) []T {
	bytes := n * scalar.Of[T]().Size()
	const page = 4096
	if need := (max(bytes, page) + 15) / 16; need > len(*mem) {
		*mem = nil // lets the collector free the old memory first
		*mem = make([]complex128, need)
	}
	b := comm.Of(*mem)
	b.DType, b.N = scalar.Of[T](), n
	return comm.As[T](b)
}
