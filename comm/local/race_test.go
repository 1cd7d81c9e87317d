//go:build race

package local_test

// race says that the race detector is on. Tests then run fewer random sequences,
// because it slows everything down.
const race = true
