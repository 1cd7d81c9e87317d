package comm

// Host is a Comm that another communicator can stand on, such as one that
// moves the memory of GPUs and leaves the rest to MPI.
type Host interface {
	Comm
	// Aborted returns the *AbortError that has ended the program, or nil. It
	// does not wait.
	Aborted() error
	// SetProgress has f called again and again while a call of this rank, in this
	// group or in any other, waits for another rank. f must not wait for what that
	// call is to bring about. It reports whether it has anything under way; if not,
	// the rank may sleep, and calls f only now and then. nil ends it.
	SetProgress(f func() bool)
}
