//go:build race

package dist_test

import "github.com/golops/golops/internal/soak"

// casesOfEach property and number of ranks; the race detector slows them down.
var casesOfEach = soak.Or(8, 12)
