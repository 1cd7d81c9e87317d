package lsm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Effective is the file in the output folder that holds the configuration of the
// run, see Config.YAML.
const Effective = "lsm.yaml"

// inputs lists the files that c names and that a run reads.
func (c Config) inputs() []string {
	var list []string
	for _, path := range []string{c.Velocity.File, c.Acquisition.Geometry, c.Wavelet.File, c.Data.File, c.Operator.Sources, c.Operator.Receiver} {
		if path != "" {
			list = append(list, path)
		}
	}
	return list
}

// separate refuses an input that lies in the output folder. A run moves that folder
// away or replaces it, and files in it may have the names of results. The
// configuration of an earlier run is allowed: it is read first, and this run writes
// the same one again.
func (c Config) separate() error {
	out := resolved(c.Out)
	if c.Checkpoint.Dir != "" && within(out, resolved(c.Checkpoint.Dir)) {
		return fmt.Errorf("the checkpoint folder %s lies in the output folder %s, which this run replaces: name folders side by side", shown(c.Checkpoint.Dir), shown(c.Out))
	}
	for _, path := range append(c.inputs(), c.files...) {
		at := resolved(path)
		if filepath.Base(path) == Effective && filepath.Dir(at) == out {
			continue
		}
		if within(out, at) {
			return fmt.Errorf("%s is an input and lies in the output folder %s, which this run replaces: give another folder with --out, or move the file", shown(path), shown(c.Out))
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
