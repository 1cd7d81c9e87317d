package perf

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/golops/golops/cost"
	"github.com/golops/golops/scalar"
)

func planners() []Checker {
	return []Checker{
		ProductPlan{Problem: cost.Problem{Batch: 1, Rows: 3000, Depth: 4000, Columns: 50, DType: scalar.Complex64}},
		ProductPlan{Problem: cost.Problem{Batch: 5, Rows: 33, Depth: 34, Columns: 7, DType: scalar.Float64}, Kind: cost.SUMMA},
		HaloPlan{cost.Halo{Extents: []int{500, 300, 2000}, Depth: 3, DType: scalar.Float32}},
		SurveyPlan{cost.Survey{Sources: 100, Receivers: 90, Samples: 500, Image: []int{40, 50, 60}, DType: scalar.Float32}},
	}
}

// A plan has options for all ranks, and one of them is the best.
func TestPlan(t *testing.T) {
	m := cost.Defaults()
	m.Cores, m.Memory = 8, 64<<30
	for _, p := range planners() {
		plan, err := NewPlan(m, p, []int{1, 6, 1024}, 0)
		if err != nil || len(plan.Rows) != 3 || plan.Rows[2].Nodes != 128 || plan.Rows[1].Memory != 64<<30/6 {
			t.Fatalf("%+v, %v", plan, err)
		}
		for _, r := range plan.Rows {
			best := r.Options[r.Best]
			for _, o := range r.Options {
				if o.Seconds() < best.Seconds()*(1-1e-6) || o.Layout == "" || o.Memory == 0 {
					t.Errorf("%s on %d ranks: %+v beside the best, %+v", plan.Operator, r.Ranks, o, best)
				}
			}
		}
		var text, picture, file bytes.Buffer
		if err := plan.WriteText(&text); err != nil || strings.Count(text.String(), "*") != 3 || !strings.Contains(text.String(), "no network is given") {
			t.Errorf("%v\n%s", err, &text)
		}
		if err := PlotPlan(&picture, "svg", plan); err != nil || picture.Len() < 1000 {
			t.Errorf("%d bytes, %v", picture.Len(), err)
		}
		if err := plan.WriteJSON(&file); err != nil || !strings.Contains(file.String(), `"memory_bytes"`) {
			t.Errorf("%v\n%s", err, &file)
		}
		none, err := NewPlan(m, p, []int{2}, 100)
		if err != nil || none.Rows[0].Best != -1 || !strings.Contains(none.Rows[0].Options[0].Misfit, "may have 100 B") {
			t.Errorf("with 100 bytes: %+v, %v", none, err)
		}
	}
}

// What was planned runs here, however large it is, as predicted: on layouts of the same
// name, forward and adjoint.
func TestCheck(t *testing.T) {
	m := cost.Defaults()
	for _, gemm := range []string{"float32", "float64", "complex64", "complex128"} {
		m.Gemm[gemm] = 1e7 // so that problems become small
	}
	m.Copy, m.Pairs = 1e6, map[string]float64{"float32": 1e5}
	for _, p := range planners() {
		for _, ranks := range []int{1, 4} {
			checks, err := Check(t.Context(), m, p, ranks, slog.New(slog.DiscardHandler))
			if err != nil || len(checks) == 0 {
				t.Fatalf("%T on %d ranks: %v", p, ranks, err)
			}
			for _, c := range checks {
				both := c.Predicted.Seconds() / (c.Forward + c.Adjoint)
				if c.Forward <= 0 || c.Adjoint <= 0 || c.Layout == "" || c.Error != both-1 {
					t.Errorf("%T on %d ranks: %+v", p, ranks, c)
				}
			}
			var b strings.Builder
			if writeChecks(&b, checks); !strings.Contains(b.String(), "error of the prediction: median") {
				t.Error(b.String())
			}
		}
	}
}
