package perf

import (
	"slices"
	"strconv"
	"strings"
)

// curve is one line of a plot: a table, or the part of it with one type and
// reduction.
type curve struct {
	traits []string // what was measured; see traitsOf
	sizes  []float64
	bus    []float64
	alg    []float64
	micros []float64
}

// traitsOf returns what distinguishes curves, in the order of the legend.
func traitsOf(t Table, r Row) []string {
	reduction := r.Reduction
	if reduction == "none" {
		reduction = ""
	}
	algo := t.Algo
	if algo == "auto" {
		algo = ""
	}
	ranks := strconv.Itoa(t.Ranks) + " ranks"
	return []string{t.Operation, r.Type, reduction, t.Memory, t.Comm, t.Registration, algo, t.Mode, ranks}
}

// curves takes the measurements out of place, and those in place where there
// are no others, so that curves stay few enough to read. Sizes of 0 have no
// place on a logarithmic axis.
func curves(tables []Table) []curve {
	var cs []curve
	for _, t := range tables {
		first := len(cs)
		for _, r := range t.Rows {
			m := r.OutOfPlace
			if m == nil {
				m = r.InPlace
			}
			if m == nil || r.Size == 0 || m.Time <= 0 {
				continue
			}
			traits := traitsOf(t, r)
			i := slices.IndexFunc(cs[first:], func(c curve) bool { return slices.Equal(c.traits, traits) })
			if i < 0 {
				i = len(cs) - first
				cs = append(cs, curve{traits: traits})
			}
			c := &cs[first+i]
			c.sizes = append(c.sizes, float64(r.Size))
			c.bus = append(c.bus, m.BusBW)
			c.alg = append(c.alg, m.AlgBW)
			c.micros = append(c.micros, m.Time)
		}
	}
	return cs
}

// names returns the traits that all curves share, for the title, and the others of each
// curve, for the legend.
func names(cs []curve) (common string, each []string) {
	shared := slices.Clone(cs[0].traits)
	for _, c := range cs {
		for i, t := range c.traits {
			if t != shared[i] {
				shared[i] = ""
			}
		}
	}
	for _, c := range cs {
		var own []string
		for i, t := range c.traits {
			if t != "" && shared[i] == "" {
				own = append(own, t)
			}
		}
		if own == nil {
			own = []string{c.traits[4]} // all alike: say at least who communicates
		}
		each = append(each, strings.Join(own, ", "))
	}
	shared = slices.DeleteFunc(shared, func(s string) bool { return s == "" })
	return strings.Join(shared, ", "), each
}
