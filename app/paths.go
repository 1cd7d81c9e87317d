package app

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// inputs lists the files and folders that a configuration names, besides those of its
// Base.
func inputs(c any) (list []string) {
	v := reflect.Indirect(reflect.ValueOf(c))
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		for i := range v.NumField() {
			f, v := v.Type().Field(i), v.Field(i)
			switch {
			case f.Type == reflect.TypeFor[Base]() || !f.IsExported():
			case v.Kind() == reflect.Struct:
				walk(v)
			case f.Tag.Get("is") == "path" && v.String() != "":
				list = append(list, v.String())
			}
		}
	}
	walk(v)
	return list
}

// separate refuses an input that lies in the output folder. A run moves that folder
// away or replaces it, and files in it may have the names of results. The
// configuration of an earlier run is allowed: it is read first, and this run writes
// the same one again.
func (s *spec) separate(c any) error {
	b := baseOf(c)
	out := resolved(b.Out)
	if b.Checkpoint.Dir != "" && within(out, resolved(b.Checkpoint.Dir)) {
		return fmt.Errorf("the checkpoint folder %s lies in the output folder %s, which this run replaces: name folders side by side", Shown(b.Checkpoint.Dir), Shown(b.Out))
	}
	for _, path := range append(inputs(c), b.files...) {
		at := resolved(path)
		if filepath.Base(path) == s.name+".yaml" && filepath.Dir(at) == out {
			continue
		}
		if within(out, at) {
			return fmt.Errorf("%s is an input and lies in the output folder %s, which this run replaces: give another folder with --out, or move the file", Shown(path), Shown(b.Out))
		}
	}
	return nil
}

// within reports whether path is dir or lies in it. Both are absolute.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolved returns the absolute path without links. If the path does not exist, it
// resolves the part that does.
func resolved(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	rest := ""
	for dir := abs; ; dir = filepath.Dir(dir) {
		if at, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(at, rest)
		} else if _, lerr := os.Lstat(dir); lerr == nil || dir == filepath.Dir(dir) {
			return abs // a link that leads nowhere
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}
