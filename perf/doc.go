// Package perf measures how fast ranks talk: the time and bandwidth of each
// operation of a communicator over a sweep of message sizes, with every result
// verified.
//
// It follows nccl-tests in what a size is, in its definition of bus bandwidth
// and in its table, so that numbers can be laid side by side:
//
//	size   bytes of the larger buffer of one rank, in whole elements and blocks
//	count  elements that one rank sends to one rank; where it sends all of its
//	       buffer that is size / bytes of an element, otherwise the block
//	time   of one iteration: the elapsed time of a loop divided by its length
//	algbw  size / time, in 1e9 bytes per second
//	busbw  algbw times a factor that makes it comparable to the hardware's
//	       speed whatever the number of ranks n: 2(n-1)/n for all_reduce, (n-1)/n
//	       for all_gather, reduce_scatter, gather, scatter, alltoall and
//	       alltoallv, 1 for broadcast, reduce, sendrecv, put and get
//
// Each operation is measured twice, out of place and in place, where it has
// both. A broadcast has one buffer and counts as out of place; sendrecv, put
// and get need two. What was not measured is nil in a Row and N/A in print. An
// operation that a communicator cannot do has a Table that says why.
//
// alltoallv has ragged counts: rank i sends ((i+j) mod n) / (n(n-1)/2) of its
// buffer to rank j, so one block in n is empty and the counts of a pair are
// equal in both directions, which lets it work in place. Its count is the mean.
//
// put and get reach into the window of the next rank, one Fence per iteration.
package perf
