package perf

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// quickly measures an operator with little work.
func quickly(operator string, ranks int, sizes ...int64) OperatorConfig {
	c := OperatorDefaults(operator)
	c.Ranks, c.Sizes, c.Rounds, c.LoopTime, c.Threads = ranks, sizes, 2, time.Microsecond, 1
	c.Modes = []string{Messages, OneSided}
	return c
}

// Operators are measured by both modes, and verified, for all types.
func TestMeasureOperator(t *testing.T) {
	for i, ranks := range []int{1, 2, 3, 4, 6} {
		for _, operator := range []string{Halo, Product} {
			for _, kind := range []string{"summa", "block", "2.5d", "auto"} {
				if operator == Halo && kind != "auto" {
					continue
				}
				c := quickly(operator, ranks, 1, 33, 64)
				c.Kind, c.DType = kind, []string{"float32", "float64", "complex64", "complex128"}[i%4]
				var out strings.Builder
				text := NewText(&out, sampleMachine)
				tab, rank, err := MeasureOperator(t.Context(), c, text)
				if err != nil || rank != 0 || len(tab.Rows) != 3 || len(tab.Missing) != 0 || text.Err() != nil {
					t.Fatalf("%s %s on %d ranks: rank %d, %+v, %v", operator, kind, ranks, rank, tab, err)
				}
				for _, r := range tab.Rows {
					if len(r.Modes) != 2 || r.Modes[1].Forward <= 0 || r.Modes[0].Adjoint <= 0 || r.Layout == "" {
						t.Errorf("%s %s on %d ranks: %+v", operator, kind, ranks, r)
					}
				}
				if n := strings.Count(out.String(), " x  "); n != 3 || !strings.Contains(out.String(), "messages  ") {
					t.Errorf("%s on %d ranks: %d rows in\n%s", operator, ranks, n, &out)
				}
				var b bytes.Buffer
				if err := PlotOperators(&b, "svg", sampleMachine, []OperatorTable{tab, tab}); err != nil || b.Len() < 1000 {
					t.Errorf("%s on %d ranks: %d bytes, %v", operator, ranks, b.Len(), err)
				}
			}
		}
	}
}

func TestOperatorRefuses(t *testing.T) {
	good := quickly(Product, 2, 8)
	for want, change := range map[string]func(*OperatorConfig){
		`unknown operator "sum"`:             func(c *OperatorConfig) { c.Operator = "sum" },
		"no size":                            func(c *OperatorConfig) { c.Sizes = nil },
		"size 0":                             func(c *OperatorConfig) { c.Sizes = []int64{0} },
		"not with int32":                     func(c *OperatorConfig) { c.DType = "int32" },
		`unknown kind "sumo": have auto`:     func(c *OperatorConfig) { c.Kind = "sumo" },
		`unknown mode "x": have messages`:    func(c *OperatorConfig) { c.Modes = []string{"x"} },
		"no mode":                            func(c *OperatorConfig) { c.Modes = nil },
		"0 rounds":                           func(c *OperatorConfig) { c.Rounds = 0 },
		"-3":                                 func(c *OperatorConfig) { c.Ranks = -3 },
		"lower the largest size or the rank": func(c *OperatorConfig) { c.Sizes = []int64{1 << 20} },
		"a fault":                            func(c *OperatorConfig) { c.Fault = errors.New("a fault") },
	} {
		c := good
		change(&c)
		_, _, err := MeasureOperator(t.Context(), c, nil)
		var config *ConfigError
		if !errors.As(err, &config) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
