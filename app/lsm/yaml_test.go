package lsm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/golops/golops/app"
)

// write makes a file in a folder of the test.
func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
	return path
}

const maxText = 64 << 10 // bytes of a configuration that are read

// plain returns a configuration that does not remember what it was read from.
func plain(c Config) Config {
	c.Base = app.Base{Checkpoint: c.Checkpoint, Out: c.Out}
	return c
}

// Whatever is wrong in a file has its line and column, the key that was meant,
// and no word of Go.
func TestFaultsInYAML(t *testing.T) {
	for text, want := range map[string]string{
		"grid: {nx: 3}\n\nsolver:\n  iteration: 10\n": `4:3: solver has no key "iteration": did you mean iterations? It has method, iterations, tolerance, damp`,
		"solvr: {iterations: 3}":                      `1:1: there is no key "solvr": did you mean solver? There are grid, velocity,`,
		"iterations: 3":                               `did you mean solver.iterations?`,
		"grid: {nx: 3, nq: 1}":                        `1:15: grid has no key "nq": did you mean nx?`,
		"grid: {\"\\e]0;owned\\a\": 1}":               `1:8: grid has no key "\x1b]0;owned\a": It has`,
		"grid: {? : 1}":                               "1:8: tags, directives and ? are not read",
		"time: {samples: 301.9}":                      "1:17: time.samples is 301.9: must be an integer",
		"solver: {iterations: 2.9}":                   "solver.iterations is 2.9: must be an integer",
		"solver: {iterations: 3.0}":                   "solver.iterations is 3.0: must be an integer",
		"solver: {iterations: 1e3}":                   "solver.iterations is 1e3: must be an integer, of digits only",
		"solver: {iterations: \"3\"}":                 `solver.iterations is "3": must be an integer`,
		"checkpoint: {every: 1e-308}":                 "checkpoint.every is 1e-308: must be an integer",
		"grid: {nx: 9223372036854775808}":             "grid.nx is 9223372036854775808: this is too large",
		"time: {interval: 4ms}":                       "time.interval is 4ms: must be a number, without a unit",
		"time: {interval: .nan}":                      "time.interval is .nan: must be a number",
		"time: {interval: inf}":                       "time.interval is inf: must be a number",
		"time: {interval: 1e999}":                     "time.interval is 1e999: must be a number",
		"operator: {dynamic: no}":                     "operator.dynamic is no: must be true or false",
		"velocity:\n  file:\n":                        `2:3: velocity.file has no value: write one, "" for no text`,
		"velocity: {file: {a: 1}}":                    "velocity.file is a group of keys: it takes one value",
		"velocity: fast":                              "1:11: velocity is fast: it takes keys: file, constant, smooth",
		"grid: {nx: 3, nx: 4}":                        "1:15: grid.nx is given twice",
		"grid: {nx: 3}\ngrid: {nz: 4}":                "2:1: grid is given twice",
		"grid: {nx: 3}\n---\nsolver: {iterations: 1}": "3:1: a second document begins here",
		"grid: {nx: 3}\n...\nsolver: {iterations: 1}": "3:1: a second document begins here",
		"grid: [1, 2]":                                "1:7: a list begins here",
		"- a":                                         "1:1: a list begins here",
		"grid: &a {nx: 3}":                            "1:7: anchors and aliases are not read",
		"grid: {nx: !!int 3}":                         "1:12: tags, directives and ? are not read",
		"grid: {nx: 3":                                "no YAML",
		"nothing":                                     "1:1: expected keys and values, such as grid: {nx: 181}, and found nothing",
		strings.Repeat("{a: ", 100):                   "braces are nested more than 8 deep",
		"# " + strings.Repeat("x", maxText):           "has more than the 65536 bytes",
	} {
		c := Default()
		err := app.Read(&c, strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %q", text, err, want)
			continue
		}
		if s := err.Error(); strings.ContainsAny(s, "\x1b\a\n") || strings.Contains(s, "lsm.") || strings.Contains(s, "unmarshal") {
			t.Errorf("%.60q: %q has something raw in it", text, s)
		}
		if !reflect.DeepEqual(c, Default()) {
			t.Errorf("%.60q: the configuration has changed", text)
		}
	}
}

func TestReadYAML(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":      "",
		"comments":     "# a\n\n# b\n",
		"empty group":  "grid:\n#  nx: 3\nsolver:\n",
		"header":       "---\ngrid: {nx: 181}\n...\n",
		"mark":         "\ufeffgrid: {nx: 181}\r\n",
		"nested":       "acquisition:\r\n  sources: {number: 18}\r\n",
		"numbers":      "grid: {dx: 1e1}\nsolver: {tolerance: .0001, damp: -0}\n",
		"default":      DefaultText,
		"quoted paths": "velocity: {file: \"\"}\nout: 'golops-lsm'\n",
	} {
		c := Default()
		if err := app.Read(&c, strings.NewReader(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := Default(); !reflect.DeepEqual(plain(c), want) {
			t.Errorf("%s: got %+v", name, c)
		}
	}
	c := Default()
	if err := app.Read(&c, strings.NewReader("data: {segy: {source_x: 73, receiver_x: 81:4}}\nsolver: {tolerance: -1}")); err != nil || c.Data.Words.SourceX != "73" || c.Data.Words.ReceiverX != "81:4" || c.Solver.Tolerance != -1 {
		t.Errorf("got %+v, %v", c, err)
	}
}

// Paths of a file are relative to it, and a missing one is shown where it was
// looked for.
func TestPathsAreRelativeToTheFile(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "sub", "c.yaml"), "velocity: {file: v.npy}\ndata: {file: /abs/d.npy}\nout: res\ncheckpoint: {dir: ../state}\n")
	c := Default()
	if err := app.ReadFile(&c, path); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(dir, "sub")
	if c.Velocity.File != filepath.Join(sub, "v.npy") || c.Data.File != "/abs/d.npy" || c.Out != filepath.Join(sub, "res") || c.Checkpoint.Dir != filepath.Join(dir, "state") || c.Wavelet.File != "" {
		t.Errorf("got %+v", c)
	}
	c.Data.File = ""
	if _, err := Prepare(c); err == nil || !strings.Contains(err.Error(), filepath.Join(sub, "v.npy")) {
		t.Errorf("got %v, want the path that was looked at", err)
	}
}

// A configuration that is written and read again is the same one.
func TestEffectiveConfiguration(t *testing.T) {
	dir := t.TempDir()
	c := Default()
	c.Velocity.File, c.Out = filepath.Join(dir, "v \"ü\" # \x1b.npy"), filepath.Join(dir, "out: {a}")
	c.Data.Words.SourceX, c.Solver.Tolerance, c.Checkpoint.Every, c.Data.Words.Ignore = "73:4", 1e-300, 7, true
	c.Checkpoint.Dir, c.Grid.DX = filepath.Join(dir, "state"), 0.1
	text, err := App().YAML(c)
	if err != nil {
		t.Fatal(err)
	}
	back := Default()
	if err := app.ReadFile(&back, write(t, filepath.Join(dir, "elsewhere", "lsm.yaml"), string(text))); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	keys := app.Keys(c)
	for _, key := range keys {
		if !back.Given(key) {
			t.Errorf("%s is not in it", key)
		}
	}
	if len(keys) < 48 {
		t.Errorf("only %d keys are in it", len(keys))
	}
	if back = plain(back); !reflect.DeepEqual(back, c) {
		t.Errorf("got %+v\nwant %+v\n%s", back, c, text)
	}
	if !strings.Contains(string(text), "# points along x") {
		t.Errorf("it has no comments:\n%s", text)
	}
	c.Operator.Dynamic = false // what it does not use must not be in its way
	text, err = App().YAML(c.effective())
	if err == nil {
		err = app.Read(&back, strings.NewReader(string(text)))
	}
	if err != nil {
		t.Fatal(err)
	}
	back.Velocity.File = ""
	if err := back.Validate(); err != nil {
		t.Errorf("static: %v", err)
	}
	c.Out = "relative"
	wd, _ := os.Getwd()
	if text, _ := App().YAML(c); !strings.Contains(string(text), fmt.Sprintf("out: %q", filepath.Join(wd, "relative"))) {
		t.Errorf("a relative path stays relative:\n%s", text)
	}
}

// Texts that parsers choke on take little memory.
func TestHardYAMLIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"nested lists":  strings.Repeat("[", maxText),
		"nested braces": strings.Repeat("{a: ", maxText/4),
		"entries":       strings.Repeat("- ", maxText/2),
		"keys":          strings.Repeat("k: 1\n", maxText/5),
		"documents":     strings.Repeat("---\na: 1\n", maxText/9),
		"anchors":       strings.Repeat("&a ", maxText/3),
		"aliases":       "a: &a x\nb: &b {c: *a, d: *a}\nc: &c {e: *b, f: *b}\n",
		"questions":     strings.Repeat("? ", maxText/2),
		"tags":          strings.Repeat("!a ", maxText/3),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := Default()
		if err := app.Read(&c, strings.NewReader(text)); err == nil || len(err.Error()) > 2000 {
			t.Errorf("%s: got %.200v", name, err)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 300<<20 {
			t.Errorf("%s: %d bytes of text took %d MB", name, len(text), n>>20)
		}
	}
}

// FuzzConfig reads any text: no panic, and what is read can be written and read
// again.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{DefaultText, "grid: {nx: 3}", "a: [1, &b 2]", "x: |\n  text\n", "---\n? a\n", "\"\\x00\": 'a'", strings.Repeat("- ", 50)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := Default()
		err := app.Read(&c, strings.NewReader(text))
		if err != nil {
			if s := err.Error(); strings.ContainsAny(s, "\x1b\a\x00") || len(s) > 1<<14 {
				t.Errorf("raw or long: %.200q", s)
			}
			return
		}
		out, err := App().YAML(c)
		if err != nil {
			return // the current folder is gone
		}
		again := Default()
		if err := app.Read(&again, strings.NewReader(string(out))); err != nil {
			t.Errorf("%q gives %s\nwhich cannot be read: %v", text, out, err)
		}
	})
}
