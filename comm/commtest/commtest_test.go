package commtest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/local"
	"github.com/golops/golops/internal/soak"
)

func TestLocal(t *testing.T) {
	for _, ranks := range soak.Or([]int{3}, []int{1, 2, 3, 4}) {
		t.Run(fmt.Sprintf("ranks=%d", ranks), func(t *testing.T) {
			cfg := commtest.Defaults()
			cfg.Sequences = soak.Or(200, cfg.Sequences)
			err := local.Run(t.Context(), ranks, func(ctx context.Context, c *comm.Comm) error {
				return commtest.Run(ctx, c, cfg, func(name string, err error) {
					if err != nil {
						t.Errorf("%s: %v", name, err)
					}
				})
			})
			if err != nil {
				t.Errorf("%d ranks: %v", ranks, err)
			}
		})
	}
}
