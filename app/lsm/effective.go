package lsm

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// YAML returns the whole configuration as a file that repeats the run: every key
// with its value and the comment of the default, paths absolute. That of a Job
// has what Prepare has found out, such as the size of the grid.
func (c Config) YAML() ([]byte, error) {
	if !c.Operator.Dynamic {
		c.Operator.Angle, c.Operator.Aperture = 0, 0 // those of the default, which count only there
	}
	var b strings.Builder
	b.WriteString("# Parameters of one run of golops lsm, all of them: golops lsm --config repeats it.\n")
	var groups []string // the keys around the line, one for each indentation
	first := true
	for line := range strings.Lines(DefaultText) {
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
		v := reflect.ValueOf(c)
		p := param{}
		for _, k := range groups {
			if p, ok = field(v, k); !ok {
				return nil, fmt.Errorf("lsm: the default names %s, which no configuration has", strings.Join(groups, "."))
			}
			v = p.v
		}
		if v.Kind() == reflect.Struct {
			b.WriteString(line)
			continue
		}
		text, err := p.yaml()
		if err != nil {
			return nil, fmt.Errorf("lsm: %s: %w", strings.Join(groups, "."), err)
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
