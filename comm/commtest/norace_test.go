//go:build !race

package commtest_test

const raceEnabled = false
