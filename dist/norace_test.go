//go:build !race

package dist_test

import "github.com/golops/golops/internal/soak"

// casesOfEach property and number of ranks.
var casesOfEach = soak.Or(20, 60)
