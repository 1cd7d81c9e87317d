package app

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// YAML returns the whole configuration as a file that repeats the run: every key
// with its value and the comment of the default, paths absolute. That of a Task has
// what Prepare has found out, such as the size of a grid.
func (a Application[C]) YAML(c C) ([]byte, error) { return a.spec().yaml(c) }

func (s *spec) yaml(c any) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Parameters of one run of golops %s, all of them: golops %s --config repeats it.\n", s.name, s.name)
	var groups []string // the keys around the line, one for each indentation
	first := true
	for line := range strings.Lines(s.text) {
		body := strings.TrimLeft(line, " ")
		key, rest, ok := strings.Cut(body, ":")
		if strings.HasPrefix(body, "#") || !ok {
			if !first || !strings.HasPrefix(body, "#") { // the comment at the top is about defaults
				b.WriteString(line)
			}
			continue
		}
		first = false
		indent := len(line) - len(body)
		groups = append(groups[:indent/2], key)
		full := strings.Join(groups, ".")
		p, ok := lookup(reflect.Indirect(reflect.ValueOf(c)), full)
		if !ok {
			return nil, fmt.Errorf("%s: the default names %s, which no configuration has", s.name, full)
		}
		if p.v.Kind() == reflect.Struct {
			b.WriteString(line)
			continue
		}
		text, err := p.yaml()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.name, full, err)
		}
		out := strings.Repeat(" ", indent) + key + ": " + text
		if _, comment, ok := strings.Cut(rest, "#"); ok {
			out = fmt.Sprintf("%-23s#%s", out+" ", strings.TrimRight(comment, "\n"))
		}
		b.WriteString(out + "\n")
	}
	return []byte(b.String()), nil
}

// yaml is the value as YAML.
func (p param) yaml() (string, error) {
	switch p.v.Kind() {
	case reflect.String:
		s := p.v.String()
		if p.path && s != "" {
			var err error
			if s, err = filepath.Abs(s); err != nil {
				return "", err
			}
		}
		return strconv.Quote(s), nil
	case reflect.Float64:
		return strconv.FormatFloat(p.v.Float(), 'g', -1, 64), nil
	}
	return fmt.Sprint(p.v.Interface()), nil
}
