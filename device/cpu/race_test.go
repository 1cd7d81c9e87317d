//go:build race

package cpu_test

// suiteThreads are the numbers of threads that the suite runs with. The race
// detector is slow, and has nothing to see on one thread.
var suiteThreads = []int{3}
