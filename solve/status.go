package solve

// Status says why a run ended.
type Status uint8

// The reasons. None is an error, and each is true of the x that the run leaves:
// norms are worked out from that x before one is given. Result.Why has the numbers.
const (
	Converged      Status = iota + 1 // a tolerance is met by the true norms
	MaxIter                          // the limit of iterations: make more if the residual is still falling
	Stopped                          // a callback returned ErrStop
	OutOfTime                        // the Budget is spent
	Diverged                         // the residual grew beyond the limit or is not a number
	Breakdown                        // a step cannot be made, or x is out of range
	AtRounding                       // the residual or the gradient is as small as rounding lets it: for less, use elements of 64 bits
	IllConditioned                   // the operator is singular to rounding: damp, regularise or use elements of 64 bits
	Stagnated                        // three restarts in a row have gained nothing: damp, regularise, precondition or use LSQR
	NotSymmetric                     // CG and MINRES need a Hermitian operator: use CGLS or LSQR
	Indefinite                       // CG needs a positive definite operator: use MINRES, CGLS or LSQR
	unfinished                       // while running
)

func (s Status) String() string {
	names := [...]string{"?", "converged", "iteration limit", "stopped", "time is up", "diverged", "breakdown",
		"at rounding", "ill-conditioned", "stagnated", "not symmetric", "indefinite", "unfinished"}
	if int(s) >= len(names) {
		s = 0
	}
	return names[s]
}
