//go:build !race

package local_test

const race = false
