package comm

// Host is a Comm on which another communicator can be built, such as one that
// sends GPU memory over NCCL and uses MPI for the rest.
type Host interface {
	Comm
	// Aborted returns the *AbortError that has ended the program, or nil. It
	// does not wait.
	Aborted() error
	// SetProgress registers f, which is polled while this rank blocks in any
	// call of any group. f must not block. It returns false when it has nothing to
	// do; the rank may then sleep and poll f rarely. nil removes f.
	SetProgress(f func() bool)
}
