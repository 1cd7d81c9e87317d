// Package perf measures the time and bandwidth of each operation of a communicator
// over a sweep of message sizes, and verifies every result.
//
// Sizes, bus bandwidth and tables are defined as in nccl-tests, so that numbers can be
// compared:
//
//	size   bytes of the larger buffer of one rank, in whole elements and blocks
//	count  elements that one rank sends to one rank; where it sends all of its
//	       buffer that is size / bytes of an element, otherwise the block
//	time   of one iteration: the elapsed time of a loop divided by its length
//	algbw  size / time, in 1e9 bytes per second
//	busbw  algbw times a factor that makes it comparable to the hardware's
//	       speed for any number of ranks n: 2(n-1)/n for all_reduce, (n-1)/n
//	       for all_gather, reduce_scatter, gather, scatter, alltoall and
//	       alltoallv, 1 for broadcast, reduce, sendrecv, put and get
//
// An operation that works out of place and in place is measured twice. A broadcast has
// one buffer and counts as out of place. sendrecv, put and get need two. A missing
// measurement is nil in a Row and N/A in print. An operation that a communicator lacks
// has a Table that says why.
//
// alltoallv has ragged counts: rank i sends ((i+j) mod n) / (n(n-1)/2) of its buffer to
// rank j. One block in n is empty. Two ranks exchange equal counts, so the call works in
// place. Its count is the mean.
//
// put and get access the window of the next rank, with one Fence per iteration.
package perf
