package local_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/local"
	"github.com/golops/golops/internal/soak"
)

// TestSuite runs the suite of every communicator on goroutine ranks, with each
// algorithm. The default algorithm runs the most random sequences.
func TestSuite(t *testing.T) {
	for _, algo := range []driver.Algo{driver.Auto, driver.Ring, driver.Tree} {
		ranks := soak.Or([]int{3, 8}, []int{1, 2, 3, 4, 7, 8})
		switch {
		case race && algo == driver.Auto:
			ranks = soak.Or([]int{3}, []int{2, 7})
		case race:
			ranks = []int{3}
		case algo == driver.Auto:
			ranks = soak.Or([]int{1, 2, 3, 8}, ranks)
		}
		for _, n := range ranks {
			cfg := commtest.Config{Sequences: soak.Or(200, 500), FewTypes: algo != driver.Auto && n != 3 && !soak.On()}
			if algo == driver.Auto && !race {
				cfg.Sequences = soak.Or(1000, 10000)
			}
			t.Run(fmt.Sprintf("%v/ranks=%d", algo, n), func(t *testing.T) {
				cases := commtest.Cases(cfg)
				for _, c := range cases {
					if race && !soak.On() && algo != driver.Auto && !strings.Contains(c.Name, "Reduce") && !strings.Contains(c.Name, "Random") {
						continue // not changed by the algorithm
					}
					t.Run(c.Name, func(t *testing.T) {
						if err := (local.Config{Algo: algo}).Run(t.Context(), n, c.Run); err != nil {
							t.Error(err)
						}
					})
				}
				t.Logf("commtest (%v): goroutines: %d ranks, %d cases", algo, n, len(cases))
			})
		}
	}
}
