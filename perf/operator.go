package perf

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/cost"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/scalar"
)

// Halo and Product are the operators that OperatorConfig names.
const (
	Halo    = "halo"
	Product = "product"
)

// OperatorConfig says which operator is measured, and on which ranks. Start from
// OperatorDefaults: a zero field is zero.
type OperatorConfig struct {
	Operator string
	// Sizes are the bytes of a message of a halo exchange, or the extents of square
	// matrices.
	Sizes    []int64
	DType    string        // float32, float64, complex64 or complex128
	Modes    []string      // Messages, OneSided or both
	Kind     string        // of a product: a kind of package cost
	Ranks    int           // goroutine ranks; 0 means GOMAXPROCS. A launcher overrides it
	Threads  int           // of each rank; 0 means its share of the cores
	Rounds   int           // the best of them counts
	LoopTime time.Duration // the least time of a round
	NoCheck  bool          // do not verify results

	Timeout time.Duration // the longest that a call may wait for another rank; 0 means no limit
	Log     *slog.Logger  // passed to launch; nil means slog.Default()
	Fault   error         // an error that this process has found before; returned on all ranks
}

// OperatorDefaults returns a config for Halo or Product, in the best of 5 rounds of 20 ms.
func OperatorDefaults(operator string) OperatorConfig {
	c := OperatorConfig{Operator: operator, DType: "float32", Modes: []string{Messages}, Rounds: 5, LoopTime: 20 * time.Millisecond}
	if operator == Product {
		c.DType, c.Kind, c.Sizes = "float64", cost.SUMMA.String(), []int64{128, 256, 512, 1024}
		return c
	}
	for n := int64(64); n <= 4<<20; n *= 4 {
		c.Sizes = append(c.Sizes, n)
	}
	return c
}

// Validate reports every fault of c at once.
func (c OperatorConfig) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Operator != Halo && c.Operator != Product {
		fault("unknown operator %q: have %s, %s", c.Operator, Halo, Product)
	}
	if len(c.Sizes) == 0 {
		fault("no size: give at least one")
	}
	for _, n := range c.Sizes {
		if n < 1 || c.Operator == Product && n > 1<<20 {
			fault("size %d: must be at least 1, and for a product at most %d", n, 1<<20)
		}
	}
	dt, err := parseScalar(c.DType)
	errs = append(errs, err, checkModes(c.Modes))
	if len(c.Modes) == 0 {
		fault("no mode: have %s, %s", Messages, OneSided)
	}
	if c.Operator == Product {
		_, err := cost.ParseKind(c.Kind)
		errs = append(errs, err)
	}
	if c.Rounds < 1 || c.LoopTime <= 0 {
		fault("%d rounds of %v, must be at least one of a positive time", c.Rounds, c.LoopTime)
	}
	errs = append(errs, launch.Config{Ranks: c.Ranks, Threads: c.Threads, Timeout: c.Timeout}.Validate())
	if err := errors.Join(errs...); err != nil || launch.Launched() {
		return err
	}
	return c.checkMemory(dt)
}

// parseScalar returns the element type of operators that is called name.
func parseScalar(name string) (scalar.DType, error) {
	dt, err := scalar.ParseDType(name)
	if err == nil && (dt < scalar.Float32 || dt > scalar.Complex128) {
		err = fmt.Errorf("operators compute with float32, float64, complex64 and complex128, not with %v", dt)
	}
	return dt, err
}

// checkMemory refuses sizes that do not fit into the memory of this machine.
func (c OperatorConfig) checkMemory(dt scalar.DType) error {
	_, have := device.HostMemory()
	largest, elem := float64(slices.Max(c.Sizes)), float64(dt.Size())
	need := 3 * largest * largest * elem
	if c.Operator == Halo {
		need = largest * float64(c.ranks()*10)
	}
	need *= 1 + float64(len(c.Modes))
	if have > 0 && need > float64(have) {
		return fmt.Errorf("size %d on %d ranks takes %s, this machine has %s: lower the largest size or the ranks", slices.Max(c.Sizes), c.ranks(), formatBytes(need), FormatSize(have))
	}
	return nil
}

func (c OperatorConfig) ranks() int { return Config{Ranks: c.Ranks}.goroutineRanks() }

// OperatorTable is an operator over sizes and modes. Times are in microseconds.
type OperatorTable struct {
	Operator string            `json:"operator"`
	Comm     string            `json:"communicator"`
	Ranks    int               `json:"ranks"`
	Type     string            `json:"type"`
	Kind     string            `json:"kind,omitempty"`
	Modes    []string          `json:"modes"`             // that were measured
	Missing  map[string]string `json:"missing,omitempty"` // modes that were not, and why
	Unit     string            `json:"unit"`              // of rates
	Rounds   int               `json:"rounds"`
	Checked  bool              `json:"checked"`
	Rows     []OperatorRow     `json:"rows"`
}

// OperatorRow is one size.
type OperatorRow struct {
	Size   int64           `json:"size"`
	Layout string          `json:"layout"`
	Modes  []OperatorTimes `json:"modes"` // in the order of those of the table
}

// OperatorTimes are the times of one application.
type OperatorTimes struct {
	Forward     float64 `json:"forward"`
	Adjoint     float64 `json:"adjoint"`
	ForwardRate float64 `json:"forward_rate"`
	AdjointRate float64 `json:"adjoint_rate"`
}

// OperatorObserver receives results on rank 0 as they are measured.
type OperatorObserver interface {
	BeginOperator(t *OperatorTable)
	OperatorRow(t *OperatorTable, r OperatorRow)
	EndOperator(t *OperatorTable)
}

// MeasureOperator measures an operator on the ranks of a launcher, or on goroutine ranks.
// The table is that of rank 0, and rank is that of this process. A mode that the
// communicator lacks is in Missing.
func MeasureOperator(ctx context.Context, cfg OperatorConfig, o OperatorObserver) (table OperatorTable, rank int, err error) {
	fault := errors.Join(cfg.Fault, cfg.Validate())
	err = onRanks(ctx, launch.Config{Ranks: cfg.Ranks, Threads: cfg.Threads, Timeout: cfg.Timeout, Log: cfg.Log}, fault,
		func(ctx context.Context, r dist.Proc) error {
			if launch.Launched() {
				rank = r.Rank()
			}
			t, err := cfg.measure(ctx, r, o)
			if r.Rank() == 0 {
				table = t
			}
			return err
		})
	return table, rank, err
}

// onRanks runs p on the ranks of a launcher, or on goroutine ranks, unless a process has
// found a fault. All ranks then return it as a *ConfigError.
func onRanks(ctx context.Context, l launch.Config, fault error, p launch.Program) error {
	if fault != nil && !launch.Launched() {
		return &ConfigError{fault}
	}
	var agreed error
	err := l.Run(ctx, func(ctx context.Context, r dist.Proc) error {
		if !launch.Launched() {
			return p(ctx, r)
		}
		var abort *comm.AbortError
		if err := comm.Agree(ctx, r.Comm, fault); errors.As(err, &abort) {
			return err
		} else if err != nil {
			agreed = err // not returned, which would abort the ranks
			return nil
		}
		return p(ctx, r)
	})
	if agreed != nil {
		err = &ConfigError{agreed}
	}
	return err
}

func (c OperatorConfig) measure(ctx context.Context, r dist.Proc, o OperatorObserver) (OperatorTable, error) {
	dt, err := parseScalar(c.DType)
	if err != nil {
		return OperatorTable{}, err
	}
	switch dt {
	case scalar.Float32:
		return measureOperator[float32](ctx, c, r, o)
	case scalar.Float64:
		return measureOperator[float64](ctx, c, r, o)
	case scalar.Complex64:
		return measureOperator[complex64](ctx, c, r, o)
	}
	return measureOperator[complex128](ctx, c, r, o)
}

// subject is an operator to be measured.
type subject[T scalar.Scalar] struct {
	op     linop.Operator[T]
	check  func(ctx context.Context) error // of its forward application
	layout string
	amount float64 // operations of all ranks, or bytes that a rank receives
}

func measureOperator[T scalar.Scalar](ctx context.Context, c OperatorConfig, r dist.Proc, o OperatorObserver) (OperatorTable, error) {
	t := OperatorTable{Operator: c.Operator, Comm: r.Comm.String(), Ranks: r.Size(), Type: scalar.Of[T]().String(), Modes: c.Modes, Unit: "GB/s", Rounds: c.Rounds, Checked: !c.NoCheck}
	if c.Operator == Product {
		t.Unit, t.Kind = "GFLOP/s", c.Kind
	}
	if r.Rank() != 0 || o == nil {
		o = silence{}
	}
	for i, size := range c.Sizes {
		subjects := make([]subject[T], 0, len(c.Modes))
		for _, mode := range slices.Clone(t.Modes) {
			s, err := newSubject[T](ctx, c, r, size, mode)
			if errors.Is(err, errors.ErrUnsupported) {
				if t.Missing == nil {
					t.Missing = map[string]string{}
				}
				t.Missing[mode] = err.Error()
				t.Modes = slices.DeleteFunc(slices.Clone(t.Modes), func(m string) bool { return m == mode })
				continue
			}
			if err != nil {
				return t, fmt.Errorf("perf: %s of size %d by %s: %w", c.Operator, size, mode, err)
			}
			subjects = append(subjects, s)
		}
		if i == 0 {
			o.BeginOperator(&t)
		}
		if len(subjects) == 0 {
			break
		}
		row, err := measureSubjects(ctx, c, r, subjects)
		if err != nil {
			return t, fmt.Errorf("perf: %s of size %d: %w", c.Operator, size, err)
		}
		row.Size = size
		t.Rows = append(t.Rows, row)
		o.OperatorRow(&t, row)
	}
	o.EndOperator(&t)
	return t, nil
}

// newSubject makes the operator for a size and a mode.
func newSubject[T scalar.Scalar](ctx context.Context, c OperatorConfig, r dist.Proc, size int64, mode string) (subject[T], error) {
	if c.Operator == Halo {
		return haloSubject[T](ctx, r, size, mode == OneSided)
	}
	kind, err := cost.ParseKind(c.Kind)
	if err != nil {
		return subject[T]{}, err
	}
	n := int(size)
	m := cost.Defaults()
	p, _, err := cost.Best(m, cost.Problem{Batch: 1, Rows: n, Depth: n, Columns: n, DType: scalar.Of[T]()}, kind, r.Size(), 0)
	if err != nil {
		return subject[T]{}, err
	}
	p.OneSided = mode == OneSided
	return productSubject[T](ctx, r, p)
}

// measureSubjects checks operators and times them in turns.
func measureSubjects[T scalar.Scalar](ctx context.Context, c OperatorConfig, r dist.Proc, subjects []subject[T]) (row OperatorRow, err error) {
	var calls []func(context.Context) error
	for _, s := range subjects {
		row.Layout = s.layout
		if !c.NoCheck {
			if err := errors.Join(s.check(ctx), optest.Dot(ctx, s.op)); err != nil {
				return row, fmt.Errorf("wrong result on %s: %w", s.layout, err)
			}
		}
		forward, adjoint, err := applications(ctx, s.op)
		if err != nil {
			return row, err
		}
		calls = append(calls, forward, adjoint)
	}
	times, err := rounds{n: c.Rounds, loop: c.LoopTime}.best(ctx, r.Comm, calls...)
	if err != nil {
		return row, err
	}
	for i, s := range subjects {
		f, a := times[2*i], times[2*i+1]
		row.Modes = append(row.Modes, OperatorTimes{1e6 * f, 1e6 * a, s.amount / f / 1e9, s.amount / a / 1e9})
	}
	return row, nil
}

// applications returns functions that apply an operator and its adjoint to random vectors.
func applications[T scalar.Scalar](ctx context.Context, op linop.Operator[T]) (forward, adjoint func(context.Context) error, err error) {
	x, err := dist.Random[T](ctx, op.Domain(), 1)
	if err != nil {
		return nil, nil, err
	}
	y, err := dist.Random[T](ctx, op.Range(), 2)
	if err != nil {
		return nil, nil, err
	}
	toX, err := dist.New[T](op.Domain())
	if err != nil {
		return nil, nil, err
	}
	toY, err := dist.New[T](op.Range())
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context) error { return op.Forward(ctx, toY, x) },
		func(ctx context.Context) error { return op.Adjoint(ctx, toX, y) }, nil
}
