package mpi

// Collectives start the library's non-blocking call and poll it, so that a cancelled
// context or another rank's failure ends the wait. Counts that exceed one call are
// divided: reductions and broadcasts into pieces, the others into messages.

// pieces calls f for consecutive pieces of n elements that each fit one call.
func (r *rank) pieces(n int, f func(lo, hi int) error) error {
	for lo := 0; lo < n; lo += r.l.maxCount {
		if err := f(lo, min(lo+r.l.maxCount, n)); err != nil {
			return err
		}
	}
	return nil
}
