//go:build !race

package dist_test

// casesOfEach property and number of ranks.
const casesOfEach = 60
