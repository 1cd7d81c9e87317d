//go:build race

package dist_test

// casesOfEach property and number of ranks; the race detector slows them down.
const casesOfEach = 12
