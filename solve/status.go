package solve

// Status says why a run ended.
type Status uint8

// The reasons. None is an error, and each is true of the x that the run leaves:
// norms are worked out from that x before one is given.
const (
	Converged      Status = iota + 1 // a tolerance is met
	MaxIter                          // the limit of iterations
	Stopped                          // a callback asked for it
	OutOfTime                        // the budget is spent
	Diverged                         // the residual grew beyond the limit or is not a number: see Result.Why
	Breakdown                        // the method cannot go on: see Result.Why
	AtRounding                       // the residual or the gradient is as small as the element type can make it
	IllConditioned                   // the operator is singular to rounding: see Result.Why
	Stagnated                        // nothing is gained any more, short of a tolerance and of rounding: see Result.Why
	NotSymmetric                     // the operator is not Hermitian, and the method needs one that is
	Indefinite                       // the operator is not positive definite, and the method needs one that is
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
