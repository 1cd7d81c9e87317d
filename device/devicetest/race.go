//go:build race

package devicetest

// thin leaves out most cases under the race detector, which is slow and does not
// look at values.
const thin = 3
