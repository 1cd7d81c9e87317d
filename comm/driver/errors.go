package driver

import (
	"errors"
	"fmt"
)

// ErrClosed is the error of a call on a communicator or a window that this rank
// has closed.
var ErrClosed = errors.New("comm: used after Close")

// AbortError says which rank aborted the program and why.
type AbortError struct {
	Rank int // of the whole program, not of a Split
	Err  error
}

func (e *AbortError) Error() string {
	return fmt.Sprintf("comm: aborted by rank %d: %v", e.Rank, e.Err)
}

// Unwrap returns the cause.
func (e *AbortError) Unwrap() error { return e.Err }

// MismatchError says that two ranks of a group are in different calls.
type MismatchError struct {
	RankA, RankB int
	CallA, CallB string
	Hint         string // what to look for; may be empty
}

func (e *MismatchError) Error() string {
	s := fmt.Sprintf("comm: mismatch: rank %d is in %s, rank %d is in %s", e.RankA, e.CallA, e.RankB, e.CallB)
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// MessageMismatch returns nil if the send and the
// receive of a message agree, else a *MismatchError. from and to are their ranks.
func MessageMismatch(from int, send Signature, to int, recv Signature) error {
	if send.DType == recv.DType && send.N == recv.N && send.Label == recv.Label {
		return nil
	}
	return &MismatchError{RankA: from, CallA: send.String(), RankB: to, CallB: recv.String(),
		Hint: "type, count and meaning of a message must be equal"}
}

// SelfWaitError is the error of a rank that waits for a
// message to itself without having started the other side.
func SelfWaitError(rank int, call Signature) error {
	return &MismatchError{RankA: rank, CallA: call.String(), RankB: rank, CallB: call.String(),
		Hint: "a rank cannot wait for itself: start the other side first, with ISend or IRecv"}
}

// RankError carries an error from the rank where it happened to another.
type RankError struct {
	Rank int
	Err  error
}

func (e *RankError) Error() string { return fmt.Sprintf("rank %d: %v", e.Rank, e.Err) }

// Unwrap returns the cause.
func (e *RankError) Unwrap() error { return e.Err }

// UnheardError is an error that rank 0 may never learn of, because its program
// has not ended. A program that prints errors on rank 0 only must print this one on
// the rank where it happened.
type UnheardError struct{ Err error }

func (e *UnheardError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnheardError) Unwrap() error { return e.Err }
