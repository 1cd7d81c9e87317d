package trace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// EnvVar names the environment variable that switches tracing on.
const EnvVar = "GOLOPS_TRACE"

// Mode is a kind of report.
type Mode int

// The kinds of report.
const (
	Off       Mode = iota // nothing is recorded
	Tree                  // WriteTree with min, mean and max over ranks
	TreeRanks             // WriteTree with one tree for each rank
	Chrome                // WriteChrome to Config.File
	SVG                   // WriteSVG to Config.File
)

// String returns the mode's name.
func (m Mode) String() string {
	switch m {
	case Off:
		return "off"
	case Tree:
		return "tree"
	case TreeRanks:
		return "tree:ranks"
	case Chrome:
		return "chrome"
	case SVG:
		return "svg"
	}
	return fmt.Sprintf("Mode(%d)", int(m))
}

// Config says what to report at the end of a run. The zero Config is off.
type Config struct {
	Mode Mode
	File string // where Chrome and SVG go; empty in other modes
}

// Write writes the report of the tracks.
func (c Config) Write(w io.Writer, tracks []Track) error {
	switch c.Mode {
	case Chrome:
		return WriteChrome(w, tracks)
	case SVG:
		return WriteSVG(w, tracks)
	}
	return WriteTree(w, tracks, c.Mode == TreeRanks)
}

// FromEnv reads GOLOPS_TRACE, see [Parse].
func FromEnv() (Config, error) {
	c, err := Parse(os.Getenv(EnvVar))
	if err != nil {
		return Config{}, fmt.Errorf("trace: %s=%w", EnvVar, err)
	}
	return c, nil
}

// Parse reads a setting of GOLOPS_TRACE. Empty is off; "tree" is a tree with
// min, mean and max over ranks; "tree:ranks" is a tree for each rank; a name
// that ends in .json is the file of a Chrome trace, one that ends in .svg that of a
// picture. Anything else is an error.
func Parse(s string) (Config, error) {
	file := filepath.Ext(s) != filepath.Base(s) // more than an extension
	switch {
	case s == "":
		return Config{}, nil
	case s == "tree":
		return Config{Mode: Tree}, nil
	case s == "tree:ranks":
		return Config{Mode: TreeRanks}, nil
	case file && filepath.Ext(s) == ".json":
		return Config{Mode: Chrome, File: s}, nil
	case file && filepath.Ext(s) == ".svg":
		return Config{Mode: SVG, File: s}, nil
	}
	return Config{}, fmt.Errorf("%q: must be tree, tree:ranks, a file name that ends in .json or .svg, or empty for off", s)
}
