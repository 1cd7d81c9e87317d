package golops

import (
	"fmt"
	"strings"
)

// expression is an operator in words, as String shows it, and how tightly its
// parts hold together, which says where brackets must stand.
type expression struct {
	text string
	tie  tie
}

type tie int

const (
	bySum     tie = iota // A + B
	byProduct            // A·B
	bySuffix             // Aᴴ
	byName               // FirstDerivative
)

func named(name string) expression { return expression{name, byName} }

// call is a function of other operators, such as diag(A, B).
func call(name string, args ...expression) expression {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
	}
	return named(name + "(" + strings.Join(texts, ", ") + ")")
}

// in returns the text, in brackets where it holds together less than t.
func (e expression) in(t tie) string {
	if e.tie < t {
		return "(" + e.text + ")"
	}
	return e.text
}

func (e expression) plus(b expression) expression {
	return expression{e.text + " + " + b.text, bySum}
}

func (e expression) minus(b expression) expression {
	return expression{e.text + " - " + b.in(byProduct), bySum}
}

func (e expression) times(b expression) expression {
	return expression{e.in(byProduct) + "·" + b.in(byProduct), byProduct}
}

// scaled is c·A. A number with a sign in front is tied like a sum.
func (e expression) scaled(c any) expression {
	s := expression{fmt.Sprint(c) + "·" + e.in(byProduct), byProduct}
	if strings.HasPrefix(s.text, "-") {
		s.tie = bySum
	}
	return s
}

// suffix is A with a mark behind it. The mark of an adjoint or a transpose of
// itself is taken away.
func (e expression) suffix(mark string) expression {
	if bare, twice := strings.CutSuffix(e.text, mark); twice && e.tie == bySuffix && (mark == "ᴴ" || mark == "ᵀ") {
		return expression{bare, bySuffix}
	}
	return expression{e.in(bySuffix+1) + mark, bySuffix}
}

// power is A with an exponent.
func (e expression) power(n int) expression {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	var mark strings.Builder
	for _, d := range fmt.Sprint(n) {
		mark.WriteRune(digits[d-'0'])
	}
	return e.suffix(mark.String())
}

// typeName is the name of a value's type without package and type arguments.
func typeName(v any) string {
	name, _, _ := strings.Cut(strings.TrimLeft(fmt.Sprintf("%T", v), "*"), "[")
	return name[strings.LastIndex(name, ".")+1:]
}
