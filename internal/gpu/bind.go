package gpu

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/golops/golops/internal/dl"
)

// open opens the first library that it finds. Libraries of the driver's version and
// older come before newer ones. It searches folder, which may be empty, then the
// folders in the platform's variable, the loader's path, and toolkits.
func (p *Platform) open(libs []library, major int, folder string) (*dl.Lib, error) {
	var names []string
	for _, newer := range []bool{false, true} {
		for _, l := range libs {
			if (major > 0 && l.major > major) == newer {
				names = append(names, l.name)
			}
		}
	}
	var paths []string
	for _, dirs := range []string{folder, os.Getenv(p.Env)} {
		for _, dir := range filepath.SplitList(dirs) {
			paths = append(paths, dl.Below(dir, names...)...)
		}
	}
	paths = append(paths, names...)
	for _, home := range p.Homes {
		if dir := os.Getenv(home); dir != "" {
			paths = append(paths, dl.Below(dir, names...)...)
		}
	}
	for _, dir := range p.Folders {
		paths = append(paths, dl.Matching(dir, names...)...)
	}
	lib, err := dl.Open(dl.Local, paths...)
	if err != nil {
		return nil, fmt.Errorf("%s (searched on the loader's path, in %s and under %s)",
			reason(err, names), p.Env, strings.Join(p.Homes, ", "))
	}
	return lib, nil
}

// reason explains why none of the names was opened. It leaves out the folders that
// have no such file.
func reason(err error, names []string) string {
	text := dl.Reason(err, names)
	if strings.HasSuffix(text, " not found") {
		return strings.Join(names, ", ") + " not found"
	}
	return text
}

// bind fills table, a pointer to a struct, with functions of lib. A field's tag
// lists function names under the platform's name. The field gets the first that lib
// has. It may stay 0 if the tag ends in ",optional".
func (p *Platform) bind(lib *dl.Lib, table any) error {
	var missing []string
	v := reflect.ValueOf(table).Elem()
	for i := range v.NumField() {
		tag, tagged := v.Type().Field(i).Tag.Lookup(p.Name)
		if !tagged {
			continue
		}
		names := strings.Split(tag, ",")
		optional := names[len(names)-1] == "optional"
		if optional {
			names = names[:len(names)-1]
		}
		var f dl.Func
		for _, name := range names {
			if f = lib.Func(name); f != 0 {
				break
			}
		}
		if f == 0 && !optional {
			missing = append(missing, names[0])
		}
		v.Field(i).SetUint(uint64(f))
	}
	if missing != nil {
		return fmt.Errorf("%s lacks %s: golops needs %s", lib.Path, strings.Join(missing, ", "), p.Needs)
	}
	return nil
}
