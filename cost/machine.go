// Package cost predicts how long distributed products and exchanges take on a machine,
// and how much memory they need.
package cost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/golops/golops/scalar"
)

// Link is how data goes from one rank to another: n bytes in m messages take
//
//	latency + m·overhead + n/bandwidth.
type Link struct {
	Latency   float64 `json:"latency_s"`     // of a synchronisation
	Overhead  float64 `json:"overhead_s"`    // of each message
	Bandwidth float64 `json:"bandwidth_Bps"` // bytes per second that one rank receives
	// Overlap says that messages travel while ranks compute. It is false in shared memory,
	// where the ranks themselves copy them.
	Overlap bool `json:"overlap"`
}

// seconds returns the time of n bytes in m messages, after one another, with waits
// synchronisations.
func (l Link) seconds(waits, m, n float64) float64 {
	return waits*l.Latency + m*l.Overhead + n/l.Bandwidth
}

// Machine is what predictions need to know. Rates are those of one rank.
type Machine struct {
	Host     string    `json:"host,omitempty"`
	Date     time.Time `json:"date,omitzero"`
	Measured string    `json:"measured,omitempty"` // what was measured, such as "goroutines, 2 ranks"

	Nodes  int   `json:"nodes,omitempty"`        // 0 means 1
	Cores  int   `json:"cores,omitempty"`        // of a node, which its ranks share; 0 means one for each rank
	Memory int64 `json:"memory_bytes,omitempty"` // of a node, which its ranks share; 0 means that it is not known

	Messages Link `json:"messages"`         // inside a node
	OneSided Link `json:"one_sided"`        // inside a node; zero where there are no windows
	Network  Link `json:"network,omitzero"` // between nodes, shared by the ranks of a node; zero means as inside a node

	Copy float64            `json:"copy_Bps"`            // bytes read and written per second
	Gemm map[string]float64 `json:"gemm_flops"`          // operations per second, by element type
	FFT  float64            `json:"fft_flops,omitempty"` // 5·n·log₂ n operations per transform; 0 where it was not measured
	// Pairs are the pairs of trace and image point per second that Kirchhoff modelling and
	// migration visit, by element type; nil where they were not measured.
	Pairs map[string]float64 `json:"pairs_per_s,omitempty"`
	Fit   map[string]float64 `json:"fit_error,omitempty"` // median relative error of the fits of links
}

// Defaults returns a usual node of a cluster with a usual network, a rank to a core.
func Defaults() Machine {
	return Machine{
		Measured: "nothing: usual values",
		Messages: Link{Latency: 2e-6, Overhead: 0.4e-6, Bandwidth: 5e9, Overlap: true},
		OneSided: Link{Latency: 3e-6, Overhead: 0.3e-6, Bandwidth: 5e9, Overlap: true},
		Copy:     10e9,
		Gemm:     map[string]float64{"float32": 80e9, "float64": 40e9, "complex64": 80e9, "complex128": 40e9},
		FFT:      4e9,
		Pairs:    map[string]float64{"float32": 0.4e9, "float64": 0.3e9},
	}
}

// Read reads a machine from JSON. An unknown field or an impossible value is an error.
func Read(r io.Reader) (Machine, error) {
	var m Machine
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return m, fmt.Errorf("cost: machine: field %q is a JSON %s, must be a %v", wrong.Field, wrong.Value, wrong.Type)
		}
		return m, fmt.Errorf("cost: machine: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if d.More() {
		return m, errors.New("cost: machine: there is text behind the object")
	}
	return m, m.Validate()
}

// Write writes m as Read reads it.
func (m Machine) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(m)
}

// Validate reports every value that no machine can have.
func (m Machine) Validate() error {
	var errs []error
	check := func(ok bool, name string, value any, must string) {
		if !ok {
			errs = append(errs, fmt.Errorf("cost: machine: %s is %v, must be %s", name, value, must))
		}
	}
	positive := func(name string, v float64) {
		check(v > 0 && !math.IsInf(v, 0), name, v, "positive and finite")
	}
	link := func(name string, l Link) {
		check(l.Latency >= 0 && !math.IsInf(l.Latency, 0), name+".latency_s", l.Latency, "finite and not negative")
		check(l.Overhead >= 0 && !math.IsInf(l.Overhead, 0), name+".overhead_s", l.Overhead, "finite and not negative")
		positive(name+".bandwidth_Bps", l.Bandwidth)
	}
	check(m.Nodes >= 0, "nodes", m.Nodes, "at least 1, or absent")
	check(m.Cores >= 0, "cores", m.Cores, "at least 1, or absent")
	check(m.Memory >= 0, "memory_bytes", m.Memory, "at least 1, or absent")
	link("messages", m.Messages)
	if m.OneSided != (Link{}) {
		link("one_sided", m.OneSided)
	}
	if m.Network != (Link{}) {
		link("network", m.Network)
	}
	positive("copy_Bps", m.Copy)
	check(m.FFT >= 0 && !math.IsInf(m.FFT, 0), "fft_flops", m.FFT, "positive, or absent")
	check(len(m.Gemm) > 0, "gemm_flops", m.Gemm, "the rate of at least one element type")
	for field, rates := range map[string]map[string]float64{"gemm_flops": m.Gemm, "pairs_per_s": m.Pairs} {
		for _, name := range slices.Sorted(maps.Keys(rates)) {
			t, err := scalar.ParseDType(name)
			check(err == nil && t.String() == name && isScalar(t), field, fmt.Sprintf("of %q", name), "of float32, float64, complex64 or complex128")
			positive(field+"."+name, rates[name])
		}
	}
	return errors.Join(errs...)
}

func isScalar(t scalar.DType) bool { return t >= scalar.Float32 && t <= scalar.Complex128 }

// NodesOf returns the number of nodes that ranks are on: no more than have a core for a
// rank.
func (m Machine) NodesOf(ranks int) int {
	n := min(max(m.Nodes, 1), ranks)
	if m.Cores > 0 {
		n = min(n, ceil(ranks, m.Cores))
	}
	return n
}

// Cluster returns a machine with as many nodes as ranks need. Without a network between
// nodes it has a usual one.
func (m Machine) Cluster(ranks int) Machine {
	if m.Cores > 0 && max(m.Nodes, 1)*m.Cores < ranks {
		m.Nodes = ceil(ranks, m.Cores)
	}
	if m.Nodes > 1 && m.Network == (Link{}) {
		m.Network = UsualNetwork
	}
	return m
}

// UsualNetwork is a network of 100 Gbit/s.
var UsualNetwork = Link{Latency: 2e-6, Overhead: 0.5e-6, Bandwidth: 12.5e9, Overlap: true}

// MemoryPerRank returns the share of each rank in the memory of its node, or 0 where that
// is not known.
func (m Machine) MemoryPerRank(ranks int) int64 { return m.Memory / int64(m.perNode(ranks)) }

// perNode returns the number of ranks on a node.
func (m Machine) perNode(ranks int) int { return ceil(ranks, m.NodesOf(ranks)) }

// slower returns how much slower a rank computes because there are more ranks than cores.
func (m Machine) slower(ranks int) float64 {
	if m.Cores == 0 {
		return 1
	}
	return max(1, float64(m.perNode(ranks))/float64(m.Cores))
}

// along returns the link between size ranks that are stride apart.
func (m Machine) along(ranks, size, stride int, oneSided bool) Link {
	l := m.Messages
	if oneSided {
		l = m.OneSided
	}
	each := m.perNode(ranks)
	if m.NodesOf(ranks) > 1 && m.Network != (Link{}) && stride*(size-1) >= each {
		l = m.Network
		l.Bandwidth /= float64(min(stride, each)) // so many groups share the way out of a node
	}
	if !l.Overlap { // cores copy
		s := m.slower(ranks)
		l.Latency, l.Overhead, l.Bandwidth = l.Latency*s, l.Overhead*s, l.Bandwidth/s
	}
	return l
}

func ceil(a, b int) int { return (a + b - 1) / b }

// steps returns the depth of a tree of n ranks, ⌈log₂ n⌉.
func steps(n int) float64 { return math.Ceil(math.Log2(float64(n))) }
