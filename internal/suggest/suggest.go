// Package suggest finds the word that somebody meant who mistyped it.
package suggest

import "strings"

// longest is how much of a typed word is looked at: nothing a person can mean
// is longer, and the work grows as the square.
const longest = 40

// Word returns the one of have that is nearest to what was typed, or "" if none
// is near: more than a third of the letters would have to change. Case does not
// matter. A beginning of three letters and more means the first word that has it.
func Word(typed string, have []string) string {
	t := strings.ToLower(typed)
	if t == "" || len(t) > longest {
		return ""
	}
	best, near := "", max(1, len(t)/3)+1
	for _, w := range have {
		if d := distance(t, strings.ToLower(w)); d < near {
			best, near = w, d
		}
	}
	if best == "" && len(t) >= 3 {
		for _, w := range have {
			if strings.HasPrefix(strings.ToLower(w), t) {
				return w
			}
		}
	}
	return best
}

// distance counts the letters to put in, leave out, replace or swap with the
// next one, until a is b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := func() []int { return make([]int, len(y)+1) }
	before, last, now := row(), row(), row()
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		now[0] = i
		for j := 1; j <= len(y); j++ {
			other := 1
			if x[i-1] == y[j-1] {
				other = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+other)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(y)]
}
