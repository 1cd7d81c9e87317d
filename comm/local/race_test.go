//go:build race

package local_test

// race says that the race detector slows everything down, and that fewer
// random sequences must do.
const race = true
