package launch

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/golops/golops/comm"
)

// Reported reports whether another process prints err: rank 0 does, if it knows of
// it. A program under a launcher prints errors that are not reported.
func Reported(err error) bool {
	var unheard *comm.UnheardError
	_, rank := Launcher()
	return rank != 0 && !errors.As(err, &unheard)
}

// Text is the error of a run in words: each cause once, with the number of the rank
// where it began and of no other that passed it on.
func Text(err error) string {
	var lines []string
	for _, e := range Causes(err) {
		if line := cause(e); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Causes returns the errors that err joins, or err itself.
func Causes(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Causes(e)...)
	}
	return all
}

// rankText is how a rank's number stands in front of what another process said, or
// behind the place in the program where it was said.
var rankText = regexp.MustCompile(`^(\S+:\d+: )?rank (\d+): `)

// cause is the text of one error.
func cause(err error) string {
	rank := -1
	text := err.Error()
	var at *comm.RankError
	var abort *comm.AbortError
	switch {
	case !errors.As(err, &abort):
	case errors.As(err, &at) && at.Rank == abort.Rank: // it tells more than what it aborted the others with
		text = strings.Replace(text, abort.Error(), abort.Err.Error(), 1)
	default:
		rank, err = abort.Rank, abort.Err
		text = err.Error()
	}
	for ; errors.As(err, &at); err = at.Err {
		rank, text = at.Rank, strings.Replace(text, fmt.Sprintf("rank %d: ", at.Rank), "", 1)
	}
	for {
		m := rankText.FindStringSubmatch(text)
		if m == nil {
			break
		}
		rank, _ = strconv.Atoi(m[2])
		text = m[1] + text[len(m[0]):]
	}
	if rank < 0 {
		return text
	}
	return fmt.Sprintf("rank %d: %s", rank, text)
}
