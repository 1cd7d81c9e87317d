package perf

import "time"

// Table is one operation over one communicator and algorithm. Sizes are in
// bytes, times in microseconds, bandwidths in 1e9 bytes per second.
type Table struct {
	Operation    string `json:"operation"`
	Comm         string `json:"communicator"` // such as "goroutines" or "Open MPI 4.1.4"
	Algo         string `json:"algorithm"`
	Mode         string `json:"mode,omitempty"` // Messages or OneSided; "" where the operation has no modes
	Ranks        int    `json:"ranks"`
	Memory       string `json:"memory,omitempty"`       // HostMemory or GPUMemory; "" without a device
	Device       string `json:"device,omitempty"`       // of rank 0, if buffers are in GPU memory
	Registration string `json:"registration,omitempty"` // text of a Registration; "" for none
	Type         string `json:"type"`                   // All where rows differ
	Reduction    string `json:"redop"`                  // All where rows differ, "none" where the operation takes none

	Min      int64         `json:"min_bytes"`
	Max      int64         `json:"max_bytes"`
	Factor   int64         `json:"factor,omitempty"`
	Step     int64         `json:"step_bytes,omitempty"`   // 0 where sizes grow by Factor
	Iters    int           `json:"iterations"`             // of the first timed loop
	LoopTime time.Duration `json:"loop_time_ns,omitempty"` // see Config.LoopTime
	Warmup   int           `json:"warmup"`
	Time     string        `json:"time"` // which of the ranks' times
	Checked  bool          `json:"checked"`

	NotMeasured string `json:"not_measured,omitempty"` // why there are no rows; "" where there are some

	Rows     []Row   `json:"rows"`
	AvgBusBW float64 `json:"avg_busbw"` // mean over all measurements
	Wrong    int64   `json:"wrong"`     // elements, over all rows
}

// The memory of the buffers of a Table.
const (
	HostMemory = "host memory"
	GPUMemory  = "GPU memory"
)

// Row is one size.
type Row struct {
	Size       int64        `json:"size"`  // bytes that were moved
	Count      int64        `json:"count"` // elements from one rank to one rank
	Type       string       `json:"type"`
	Reduction  string       `json:"redop"`        // "none" where the operation takes none
	Root       int          `json:"root"`         // -1 where the operation takes none
	OutOfPlace *Measurement `json:"out_of_place"` // nil where it was not measured
	InPlace    *Measurement `json:"in_place"`
}

// Measurement is the result of one timed loop.
type Measurement struct {
	Time  float64 `json:"time"`
	AlgBW float64 `json:"algbw"`
	BusBW float64 `json:"busbw"`
	Iters int     `json:"iterations"`
	Wrong int64   `json:"wrong"` // elements over all ranks; 0 and meaningless unless the table is Checked
}

// measurement derives bandwidths from the time of one iteration in
// microseconds.
func (o operation) measurement(size int64, n int, micros float64, iters int) *Measurement {
	m := &Measurement{Time: micros, Iters: iters}
	if micros > 0 {
		m.AlgBW = float64(size) / micros / 1e3 // bytes per µs are 1e6 per s
		m.BusBW = m.AlgBW * o.bus(n)
	}
	return m
}

// finish computes the means and sums over all rows.
func (t *Table) finish() {
	t.AvgBusBW, t.Wrong = 0, 0
	n := 0
	for _, r := range t.Rows {
		for _, m := range []*Measurement{r.OutOfPlace, r.InPlace} {
			if m != nil {
				t.AvgBusBW += m.BusBW
				t.Wrong += m.Wrong
				n++
			}
		}
	}
	if n > 0 {
		t.AvgBusBW /= float64(n)
	}
}

// Observer receives results as they are measured, on rank 0 only and one call at a
// time. It must not change its arguments.
type Observer interface {
	Begin(t *Table)      // before the first row
	Row(t *Table, r Row) // r is the last of t.Rows
	End(t *Table)        // with AvgBusBW and Wrong set
}

// silence is an Observer that does nothing.
type silence struct{}

func (silence) Begin(*Table)    {}
func (silence) Row(*Table, Row) {}
func (silence) End(*Table)      {}

func (silence) BeginOperator(*OperatorTable)            {}
func (silence) OperatorRow(*OperatorTable, OperatorRow) {}
func (silence) EndOperator(*OperatorTable)              {}
