package golops_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	shownBy = regexp.MustCompile(`((?:[\w/]+, )*[\w/]+): |\b(Test[A-Z]\w*)`) // "ops, dist: TestBadInput"
	inCode  = regexp.MustCompile("`[^`]+`")
	aName   = regexp.MustCompile(`\b(array|comm|data|device|dist|golops|launch|linop|ops|optest|prox|proxtest|report|solve|trace|wave)\.([A-Z]\w*)`)
)

// What the documents name exists: the tests that show a limit or a defect gone,
// and the counterparts of names of PyLops-MPI.
func TestDocs(t *testing.T) {
	for _, d := range []struct {
		file         string
		tests, names int // at least
	}{{"docs/pylops.md", 0, 50}, {"docs/pylops-limits.md", 50, 0}, {"docs/reliability.md", 100, 0}} {
		t.Run(filepath.Base(d.file), func(t *testing.T) {
			tests, names := namedIn(t, d.file)
			if tests < d.tests || names < d.names {
				t.Errorf("found %d tests and %d names only", tests, names)
			}
		})
	}
}

var indexed = regexp.MustCompile(`\[(\w+)\]\(\.\./([\w/]+_test\.go)\)`)

// Every function of the front door that makes an operator or a function or solves stands in
// docs/operators.md, with a link to a file whose Examples call it.
func TestDocumentsIndexEveryOperator(t *testing.T) {
	page, err := os.ReadFile("docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	example := map[string]string{}
	for _, m := range indexed.FindAllStringSubmatch(string(page), -1) {
		example[m[1]] = m[2]
	}
	found, kinds := 0, []string{"Op", "Solution", "Spectrum", "Function", "SmoothFunction"}
	for _, d := range declared(t, ".") {
		if d.receiver != "" || !slices.Contains(kinds, d.result) && d.name != "PowerIteration" || d.name == "FromMap" {
			continue
		}
		found++
		file, ok := example[d.name]
		if !ok {
			t.Errorf("docs/operators.md does not have [%s](../ops/..._test.go): give it a row with a link to its Example", d.name)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("docs/operators.md, %s: %v", d.name, err)
		}
		calls := regexp.MustCompile(`func Example(\w*_)?` + d.name + `\(|\w\.` + d.name + `[\[(]`)
		if !strings.Contains(string(text), "func Example") || !calls.Match(text) {
			t.Errorf("docs/operators.md: %s has no Example with %s", file, d.name)
		}
		delete(example, d.name)
	}
	for name := range example {
		t.Errorf("docs/operators.md has %s, which package golops does not have", name)
	}
	if found < 50 {
		t.Errorf("found %d functions only: the search is broken", found)
	}
}

// README stays short: what does not fit has a page under docs.
func TestREADMEIsShort(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "\n"); n > 150 {
		t.Errorf("README.md has %d lines, want at most 150", n)
	}
}

// namedIn checks what a document names, and counts the tests and the names.
func namedIn(t *testing.T, file string) (tests, names int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var packages string
		for _, m := range shownBy.FindAllStringSubmatch(line, -1) {
			if m[1] != "" {
				packages = m[1]
				continue
			}
			tests++
			for p := range strings.SplitSeq(packages, ", ") {
				if !declares(t, p, `(?m)^func `+m[2]+`\(`, true) {
					t.Errorf("package %q has no test %s", p, m[2])
				}
			}
		}
		for _, c := range inCode.FindAllString(line, -1) {
			for _, m := range aName.FindAllStringSubmatch(c, -1) {
				names++
				if !declares(t, m[1], `(?m)^(func |func \([^)]*\) |type |var |const |\t)`+m[2]+`\b`, false) {
					t.Errorf("there is no %s", m[0])
				}
			}
		}
	}
	return tests, names
}

// declares reports whether a Go file of a package, of its tests or not, has a line
// like this.
func declares(t *testing.T, folder, line string, ofTests bool) bool {
	t.Helper()
	re := regexp.MustCompile(line)
	if f, ok := map[string]string{"golops": ".", "optest": "linop/optest", "proxtest": "prox/proxtest", "wave": "ops/wave"}[folder]; ok {
		folder = f
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") != ofTests {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if re.Match(b) {
			return true
		}
	}
	return false
}
