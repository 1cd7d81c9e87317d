package app

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"github.com/golops/golops/internal/suggest"
)

const (
	maxConfig  = 64 << 10 // bytes of a configuration; the whole default has 4 KB
	maxNesting = 8        // of braces; the time of the parser grows as the square of it
	maxKeys    = 500      // with the number of keys; there are 60
	maxFaults  = 10       // that are reported at once
)

// ReadFile changes a configuration by what a file says; the rest stays. Paths in the
// file are relative to its folder.
func ReadFile[C any](c *C, path string) error {
	text, err := ReadText(path, maxConfig)
	if err != nil {
		return err
	}
	if err := read(c, text, Shown(path), filepath.Dir(path)); err != nil {
		return err
	}
	b := baseOf(c)
	b.files = append(slices.Clone(b.files), path)
	return nil
}

// Read changes a configuration by what the text says. Unknown and repeated keys are
// errors, and so are values of the wrong kind: an error has line and column.
func Read[C any](c *C, r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, maxConfig+1))
	if err != nil {
		return err
	}
	if len(text) > maxConfig {
		return fmt.Errorf("configuration: has more than the %d bytes that are read", maxConfig)
	}
	return read(c, text, "configuration", "")
}

// read takes text from a file of that name. c stays as it was if there is a fault.
func read[C any](c *C, text []byte, name, dir string) error {
	tokens := lexer.Tokenize(strings.TrimPrefix(string(text), "\ufeff"))
	if err := plain(tokens); err != nil {
		return fmt.Errorf("%s:%w", name, err)
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // decoder reports duplicates in its own words
	if err != nil {
		return fmt.Errorf("%s:%w", name, syntax(err))
	}
	next := *c
	d := decoder{config: reflect.ValueOf(c).Elem(), given: maps.Clone(baseOf(c).given), dir: dir}
	if d.given == nil {
		d.given = map[string]bool{}
	}
	for _, doc := range f.Docs {
		if doc.Body != nil {
			d.section("", reflect.ValueOf(&next).Elem(), doc.Body)
		}
	}
	if d.faults != nil {
		for i, err := range d.faults {
			d.faults[i] = fmt.Errorf("%s:%w", name, err)
		}
		return errors.Join(d.faults...)
	}
	baseOf(&next).given = d.given
	*c = next
	return nil
}

// plain refuses what a configuration has no use for, before the parser looks at
// it: lists, tags, anchors and aliases, deep nesting, many keys, a second document.
func plain(tokens token.Tokens) error {
	depth, keys, content, ended := 0, 0, false, false
	for _, t := range tokens {
		switch t.Type {
		case token.CommentType, token.SpaceType:
			continue
		case token.DocumentHeaderType, token.DocumentEndType:
			ended = content
			continue
		case token.SequenceStartType, token.SequenceEntryType:
			return at(t, "a list begins here: no key takes one")
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return at(t, "anchors and aliases are not read: write the value itself")
		case token.TagType, token.DirectiveType, token.MappingKeyType:
			return at(t, "tags, directives and ? are not read: write key: value")
		case token.MappingStartType:
			if depth++; depth > maxNesting {
				return at(t, "braces are nested more than %d deep", maxNesting)
			}
		case token.MappingEndType:
			depth--
		case token.MappingValueType:
			if keys++; keys > maxKeys {
				return at(t, "there are more than %d keys", maxKeys)
			}
		}
		if ended {
			return at(t, "a second document begins here: a file holds one")
		}
		content = true
	}
	return nil
}

// at is an error with the line and the column of a token.
func at(t *token.Token, format string, args ...any) error {
	line, column := 1, 1
	if t != nil && t.Position != nil {
		line, column = t.Position.Line, max(1, t.Position.Column)
	}
	return fmt.Errorf("%d:%d: %s", line, column, fmt.Sprintf(format, args...))
}

// syntax is an error of the parser on one line.
func syntax(err error) error {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		return at(e.GetToken(), "this is no YAML: %s", Shown(e.GetMessage()))
	}
	return fmt.Errorf("1:1: this is no YAML: %s", Shown(err.Error()))
}

// decoder fills a configuration from a tree.
type decoder struct {
	config reflect.Value // as it was
	given  map[string]bool
	dir    string
	faults []error
}

func (d *decoder) bad(n ast.Node, format string, args ...any) {
	if len(d.faults) < maxFaults {
		d.faults = append(d.faults, at(n.GetToken(), format, args...))
	}
}

// section fills the struct v, whose key is name; that of the whole is "".
func (d *decoder) section(name string, v reflect.Value, n ast.Node) {
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	case *ast.NullNode, *ast.CommentGroupNode: // nothing is said: all keys may be commented out
		return
	default:
		if name == "" {
			d.bad(n, "expected keys and values, such as %s, and found %s", d.example(), value(n))
		} else {
			d.bad(n, "%s is %s: it takes keys: %s", name, value(n), strings.Join(keys(v.Type()), ", "))
		}
		return
	}
	seen := map[string]bool{}
	for _, p := range pairs {
		key := p.Key.GetToken().Value
		f, ok := field(v, key)
		full := strings.TrimPrefix(name+"."+key, ".")
		switch {
		case !ok:
			d.unknown(p.Key, name, key, v.Type())
		case seen[key]:
			d.bad(p.Key, "%s is given twice", full)
		case f.v.Kind() == reflect.Struct:
			d.section(full, f.v, p.Value)
		default:
			d.scalar(full, f, p)
		}
		seen[key] = true
		d.given[full] = true
	}
}

// example shows the first key of the configuration.
func (d *decoder) example() string {
	f, _ := field(d.config, keys(d.config.Type())[0])
	if f.v.Kind() != reflect.Struct {
		return fmt.Sprintf("%s: %v", keys(d.config.Type())[0], f.v)
	}
	first := keys(f.v.Type())[0]
	inner, _ := field(f.v, first)
	return fmt.Sprintf("%s: {%s: %v}", keys(d.config.Type())[0], first, inner.v)
}

// param is a field of a configuration and whether it names a file or a folder.
type param struct {
	v    reflect.Value
	path bool
}

// field returns the field of a struct that has the key.
func field(v reflect.Value, key string) (param, bool) {
	for f, v := range fields(v) {
		if f.Tag.Get("yaml") == key {
			return param{v, f.Tag.Get("is") == "path"}, true
		}
	}
	return param{}, false
}

// fields are those of a struct that have keys, and of the structs that it embeds.
func fields(v reflect.Value) iter.Seq2[reflect.StructField, reflect.Value] {
	return func(yield func(reflect.StructField, reflect.Value) bool) {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Anonymous {
				for f, v := range fields(v.Field(i)) {
					if !yield(f, v) {
						return
					}
				}
			} else if f.IsExported() && !yield(f, v.Field(i)) {
				return
			}
		}
	}
}

// lookup returns the parameter of a key such as "grid.nx".
func lookup(v reflect.Value, key string) (p param, ok bool) {
	for part := range strings.SplitSeq(key, ".") {
		if v.Kind() != reflect.Struct {
			return param{}, false
		}
		if p, ok = field(v, part); !ok {
			return param{}, false
		}
		v = p.v
	}
	return p, ok
}

// Keys lists all keys of a configuration, such as "grid.nx".
func Keys(c any) []string { return leaves(reflect.Indirect(reflect.ValueOf(c)), "") }

func leaves(v reflect.Value, prefix string) (list []string) {
	for f, v := range fields(v) {
		key := prefix + f.Tag.Get("yaml")
		if v.Kind() == reflect.Struct {
			list = append(list, leaves(v, key+".")...)
			continue
		}
		list = append(list, key)
	}
	return list
}

// keys lists those of a struct.
func keys(t reflect.Type) []string {
	var k []string
	for f := range fields(reflect.Zero(t)) {
		k = append(k, f.Tag.Get("yaml"))
	}
	return k
}

// unknown says which key was meant, here or elsewhere.
func (d *decoder) unknown(n ast.Node, name, key string, t reflect.Type) {
	have := keys(t)
	hint := ""
	if w := suggest.Word(key, have); w != "" {
		hint = fmt.Sprintf("did you mean %s? ", w)
	} else if home := homes(key, d.config, ""); len(home) > 0 {
		hint = fmt.Sprintf("did you mean %s? ", strings.Join(home, " or "))
	}
	if name == "" {
		d.bad(n, "there is no key %s: %sThere are %s", Quoted(key), hint, strings.Join(have, ", "))
		return
	}
	d.bad(n, "%s has no key %s: %sIt has %s", name, Quoted(key), hint, strings.Join(have, ", "))
}

// homes returns where in a configuration a key is known.
func homes(key string, v reflect.Value, prefix string) []string {
	var found []string
	for f, v := range fields(v) {
		k := f.Tag.Get("yaml")
		if k == key {
			found = append(found, prefix+k)
		}
		if v.Kind() == reflect.Struct {
			found = append(found, homes(key, v, prefix+k+".")...)
		}
	}
	return found
}

// scalar sets a number, a text, or true or false.
func (d *decoder) scalar(name string, f param, pair *ast.MappingValueNode) {
	n := pair.Value
	if n.Type() == ast.NullType {
		d.bad(pair.Key, `%s has no value: write one, "" for no text, or leave the key out`, name)
		return
	}
	s, ok := n.(ast.ScalarNode)
	if !ok || n.Type() == ast.LiteralType {
		d.bad(n, "%s is %s: it takes one value on one line", name, value(n))
		return
	}
	t := s.GetToken()
	text := t.Value
	bare := t.Type != token.SingleQuoteType && t.Type != token.DoubleQuoteType
	switch f.v.Kind() {
	case reflect.String:
		if f.path && text != "" && d.dir != "" && !filepath.IsAbs(text) {
			text = filepath.Join(d.dir, text)
		}
		f.v.SetString(text)
	case reflect.Int:
		i, err := strconv.ParseInt(text, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			d.bad(n, "%s is %s: this is too large", name, value(n))
		case err != nil || !bare:
			d.bad(n, "%s is %s: must be an integer, of digits only", name, value(n))
		}
		f.v.SetInt(i)
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !bare || math.IsNaN(x) || math.IsInf(x, 0) {
			d.bad(n, "%s is %s: must be a number, without a unit", name, value(n))
		}
		f.v.SetFloat(x)
	case reflect.Bool:
		if !bare || text != "true" && text != "false" {
			d.bad(n, "%s is %s: must be true or false", name, value(n))
		}
		f.v.SetBool(text == "true")
	}
}

// value shows what stands where a value is.
func value(n ast.Node) string {
	t := n.GetToken()
	switch {
	case n.Type() == ast.MappingType || n.Type() == ast.MappingValueType:
		return "a group of keys"
	case t == nil || n.Type() == ast.LiteralType:
		return "a text of several lines"
	case t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType:
		return Quoted(t.Value)
	}
	return Shown(t.Value)
}
