package ops_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(integrationTest[float32], integrationTest[float64], integrationTest[complex64], integrationTest[complex128])

func integrationTest[T scalar.Scalar]() operatorTest[T] {
	perSample := func(ctx ctxt, x space, axis int) (op[T], error) {
		return ops.CausalIntegration[T](ctx, x, axis, ops.IntegrationDefaults())
	}
	var all []form[T]
	for _, rule := range []ops.IntegrationRule{ops.IntegrationFull, ops.IntegrationHalf, ops.IntegrationTrapezoidal} {
		all = append(all, onAxes(fmt.Sprintf("integration rule %d", rule), func(ctx ctxt, x space, axis int) (op[T], error) {
			return ops.CausalIntegration[T](ctx, x, axis, ops.IntegrationOptions{Sampling: 0.5, Rule: rule, RemoveFirst: rule == ops.IntegrationHalf})
		})...)
	}
	return operatorTest[T]{
		forms: all,
		along: perSample,
		bad: []badCase[T]{
			{"no sampling of an integral", func(ctx ctxt, x space, _ int) (op[T], error) {
				return ops.CausalIntegration[T](ctx, x, 0, ops.IntegrationOptions{})
			}, []string{"causal integration", "sampling is 0: give the distance"}},
			{"integration", func(ctx ctxt, x space, _ int) (op[T], error) {
				return ops.CausalIntegration[T](ctx, x, 0, ops.IntegrationOptions{Rule: 7, Sampling: math.Inf(1)})
			}, []string{"rule is 7", "sampling is +Inf"}},
		},
		extreme: []extremeCase[T]{
			{"integration axis", perSample, nil},
			{"integration of very many", func(ctx ctxt, x space, v int) (op[T], error) {
				return on(x, dist.Layout{}, []int{max(v, 0)}, func(y space) (op[T], error) { return perSample(ctx, y, 0) })
			}, func(v, _ float64) float64 { return max(v, 0) }},
		},
		golden: goldenTest[T]{names: []string{"CausalIntegration"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			rule := map[string]ops.IntegrationRule{"full": ops.IntegrationFull, "half": ops.IntegrationHalf, "trapezoidal": ops.IntegrationTrapezoidal}[c.String("kind")]
			return ops.CausalIntegration[T](ctx, x, c.Int("axis"), ops.IntegrationOptions{Sampling: c.Float("sampling"), Rule: rule, RemoveFirst: c.Bool("removefirst")})
		}},
	}
}

func BenchmarkCausalIntegration(b *testing.B) {
	onTypes(b, plain, benchIntegration[float32], benchIntegration[float64])
}

func benchIntegration[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.CausalIntegration[T](ctx, x, 0, ops.IntegrationOptions{Sampling: 1, Rule: ops.IntegrationTrapezoidal})
}

func ExampleCausalIntegration() {
	show([]int{4}, []float64{1, 1, 1, 1}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.CausalIntegration[float64](ctx, x, 0, ops.IntegrationOptions{Sampling: 0.5})
	})
	// Output: [0.5 1 1.5 2]
}
