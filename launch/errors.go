package launch

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
)

// Reported reports whether another process prints err. Rank 0 prints the errors that it
// knows. A program under a launcher must print errors that are not reported.
func Reported(err error) bool {
	var unheard *driver.UnheardError
	_, rank := Launcher()
	return rank != 0 && !errors.As(err, &unheard)
}

// Text returns the text of a run's error: each cause once, with the rank where it began.
func Text(err error) string {
	var lines []string
	for _, e := range Causes(err) {
		if line := cause(e); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Causes returns the errors that err joins, or err itself. An error that wraps several in
// a text of its own is one cause.
func Causes(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || err.Error() != errors.Join(joined.Unwrap()...).Error() {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Causes(e)...)
	}
	return all
}

// rankText matches the rank before the text of an error from another process. File and line
// of the program may precede it.
var rankText = regexp.MustCompile(`^(\S+:\d+: )?rank (\d+): `)

// cause returns the text of one error.
func cause(err error) string {
	rank := -1
	text := err.Error()
	var at *comm.RankError
	var abort *comm.AbortError
	switch {
	case !errors.As(err, &abort):
	case errors.As(err, &at) && at.Rank == abort.Rank: // err says more than the text of the abort
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
