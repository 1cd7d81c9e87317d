package golops_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	shownBy = regexp.MustCompile(`((?:[\w/]+, )*[\w/]+): |\b(Test\w+)`) // "ops, dist: TestBadInput"
	inCode  = regexp.MustCompile("`[^`]+`")
	aName   = regexp.MustCompile(`\b(array|comm|data|device|dist|launch|linop|ops|optest|report|solve|trace)\.([A-Z]\w*)`)
)

// What docs/pylops.md names exists: the tests that show a limit gone, and the
// counterparts of names of PyLops-MPI.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile("docs/pylops.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, names := 0, 0
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
				folder := strings.Replace(m[1], "optest", "linop/optest", 1)
				if !declares(t, folder, `(?m)^(func |func \([^)]*\) |type |var |const |\t)`+m[2]+`\b`, false) {
					t.Errorf("%s is not in %s", m[0], folder)
				}
			}
		}
	}
	if tests < 50 || names < 50 {
		t.Errorf("found %d tests and %d names only", tests, names)
	}
}

// declares reports whether a Go file of a folder, of its tests or not, has a line
// like this.
func declares(t *testing.T, folder, line string, ofTests bool) bool {
	t.Helper()
	re := regexp.MustCompile(line)
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
