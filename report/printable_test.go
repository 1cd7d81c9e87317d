package report

import "testing"

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"model of Øresund, 3×4 … “ok” \\ 'x'.npy", "model of Øresund, 3×4 … “ok” \\ 'x'.npy"},
		{"x\x1b]0;owned\a.npy", `x\x1b]0;owned\a.npy`},
		{"a\rb\nc\td\x7f", `a\rb\nc\td\x7f`},
		{"\u009b31m", `\u009b31m`},             // an escape sequence in one character
		{"gpj.\u202eexe", `gpj.\u202eexe`},     // text from right to left
		{"\xff\x9b31m\xc3", `\xff\x9b31m\xc3`}, // no UTF-8, which old terminals obey all the same
		{"\ufffd is a character", "\ufffd is a character"},
	} {
		if got := Printable(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	if got, want := PrintableLines("one\n\x1b[2Jtwo"), "one\n"+`\x1b[2Jtwo`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
