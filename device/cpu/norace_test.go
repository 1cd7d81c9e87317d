//go:build !race

package cpu_test

// suiteThreads are the numbers of threads that the suite runs with.
var suiteThreads = []int{1, 3}
