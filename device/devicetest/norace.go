//go:build !race

package devicetest

// thin leaves out no cases; see race.go.
const thin = 1
