package perf

import (
	"errors"
	"fmt"

	"github.com/golops/golops/cost"
)

// Plan is the prediction of an operator for several numbers of ranks.
type Plan struct {
	Operator string       `json:"operator"` // Product, Halo or LSM
	Problem  string       `json:"problem"`
	Machine  cost.Machine `json:"machine"`
	Rows     []PlanRow    `json:"rows"`
	Checks   []PlanCheck  `json:"checks,omitempty"`
}

// LSM is the operator of least-squares migration that Plan names, beside Halo and Product.
const LSM = "lsm"

// PlanRow is one number of ranks.
type PlanRow struct {
	Ranks   int          `json:"ranks"`
	Nodes   int          `json:"nodes"`
	Memory  int64        `json:"memory_given_bytes,omitempty"` // that a rank may have; 0 means any
	Options []PlanOption `json:"options"`
	Best    int          `json:"best"` // the index of the fastest option that fits, or -1
}

// PlanOption is one way to lay the operator out.
type PlanOption struct {
	Name   string `json:"name"`
	Layout string `json:"layout"`
	cost.Prediction
	Misfit string `json:"misfit,omitempty"` // why it does not fit
}

// Planner predicts the options of one operator.
type Planner interface {
	// Describe names the operator and the problem.
	Describe() (operator, problem string)
	// Options returns the options on a number of ranks, each with its best layout.
	Options(m cost.Machine, ranks int, memory int64) ([]PlanOption, error)
}

// NewPlan predicts an operator on numbers of ranks. A rank may have memory bytes, or, if
// that is 0, its share of the memory of a node. Nodes like those of m are added as needed.
func NewPlan(m cost.Machine, p Planner, ranks []int, memory int64) (Plan, error) {
	plan := Plan{Machine: m}
	plan.Operator, plan.Problem = p.Describe()
	for _, n := range ranks {
		if n < 1 {
			return plan, fmt.Errorf("%d ranks: must be at least 1", n)
		}
		c := m.Cluster(n)
		row := PlanRow{Ranks: n, Nodes: c.NodesOf(n), Memory: memory, Best: -1}
		if memory == 0 {
			row.Memory = c.MemoryPerRank(n)
		}
		var err error
		if row.Options, err = p.Options(c, n, row.Memory); err != nil {
			return plan, err
		}
		for i, o := range row.Options {
			if o.Misfit == "" && (row.Best < 0 || o.Seconds() < row.Options[row.Best].Seconds()*(1-1e-9)) {
				row.Best = i
			}
		}
		plan.Rows = append(plan.Rows, row)
	}
	return plan, nil
}

// option returns a PlanOption, or the error unless it is one of memory.
func option(name, layout string, p cost.Prediction, err error) (PlanOption, error) {
	o := PlanOption{Name: name, Layout: layout, Prediction: p}
	var short *cost.MemoryError
	if errors.As(err, &short) {
		return PlanOption{Name: name, Misfit: fmt.Sprintf("needs %s of memory on a rank, may have %s", formatBytes(float64(short.Need)), formatBytes(float64(short.Given)))}, nil
	}
	return o, err
}

// ProductPlan plans a product. Kind is the only one, or cost.Auto for all.
type ProductPlan struct {
	cost.Problem
	Kind cost.Kind
}

// Describe implements Planner.
func (p ProductPlan) Describe() (operator, problem string) {
	problem = fmt.Sprintf("%d x %d times %d x %d, %v", p.Rows, p.Depth, p.Depth, p.Columns, p.DType)
	if p.Batch != 1 {
		problem = fmt.Sprintf("%d times %s", p.Batch, problem)
	}
	return Product, problem
}

// Options implements Planner.
func (p ProductPlan) Options(m cost.Machine, ranks int, memory int64) (all []PlanOption, err error) {
	kinds := []cost.Kind{p.Kind}
	if p.Kind == cost.Auto {
		kinds = []cost.Kind{cost.Auto, cost.Block, cost.SUMMA, cost.OneSidedSUMMA, cost.Copied25D}
	}
	for _, kind := range kinds {
		if kind == cost.OneSidedSUMMA && m.OneSided == (cost.Link{}) && p.Kind == cost.Auto {
			continue
		}
		best, r, err := cost.Best(m, p.Problem, kind, ranks, memory)
		o, err := option(kind.String(), best.String(), r, err)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// HaloPlan plans a halo exchange, by messages and one-sided.
type HaloPlan struct{ cost.Halo }

// Describe implements Planner.
func (h HaloPlan) Describe() (operator, problem string) {
	return Halo, fmt.Sprintf("%d ghost cells around blocks of %v, %v", h.Depth, h.Extents, h.DType)
}

// Options implements Planner.
func (h HaloPlan) Options(m cost.Machine, ranks int, memory int64) (all []PlanOption, err error) {
	for _, mode := range []string{Messages, OneSided} {
		limited := m
		if mode == Messages {
			limited.OneSided = cost.Link{}
		} else if m.OneSided == (cost.Link{}) {
			continue
		}
		best, r, err := cost.BestHalo(limited, h.Halo, ranks, memory)
		if err == nil && mode == OneSided && !best.OneSided {
			best.OneSided = true
			r, err = m.Halo(best)
		}
		o, err := option(mode, best.String(), r, err)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// SurveyPlan plans Kirchhoff modelling and migration, which least-squares migration
// applies in each iteration.
type SurveyPlan struct{ cost.Survey }

// Describe implements Planner.
func (s SurveyPlan) Describe() (operator, problem string) {
	return LSM, fmt.Sprintf("%d sources, %d receivers, %d samples, image of %v, %v", s.Sources, s.Receivers, s.Samples, s.Image, s.DType)
}

// Options implements Planner.
func (s SurveyPlan) Options(m cost.Machine, ranks int, memory int64) (all []PlanOption, err error) {
	for _, split := range []string{"sources", "model"} {
		v := s.Survey
		v.ByModel = split == "model"
		r, err := m.Survey(v, ranks)
		if err == nil && memory > 0 && r.Memory > memory {
			err = &cost.MemoryError{Ranks: ranks, Need: r.Memory, Given: memory}
		}
		o, err := option(split, v.String(), r, err)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}
