// Package golden reads the numbers of PyLops and PyLops-MPI in testdata/golden
// that tests hold our operators to.
package golden

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/golops/golops/scalar"
)

// Case is one operator with its parameters, what it was applied to and what
// came out: y = Op x and v = Opᴴ u where the arrays have these keys.
type Case struct {
	Name        string
	Op          string // the name in PyLops or PyLops-MPI, "array.add" and the like for an operation on arrays
	Source      string // "pylops" or "pylops-mpi"
	Ranks       int    // 0 for serial PyLops
	DType       scalar.DType
	Dims, Dimsd []int          // the shapes of model and data
	Params      map[string]any // as in JSON, numbers as json.Number: see Int, Float and so on

	// DotTest is false where PyLops fails its own dot test: v is then not the
	// adjoint, which the array "v_true" holds.
	DotTest bool

	file   string
	arrays map[string]string // the name in the file, by key
	dir    string
}

// Cases returns all cases of the operator called op, and fails the test when
// there are none.
func Cases(t testing.TB, op string) []Case {
	t.Helper()
	return CasesIn(t, "golden", op)
}

// CasesIn is Cases of another folder of testdata.
func CasesIn(t testing.TB, folder, op string) []Case {
	t.Helper()
	all, err := load(folder)
	if err != nil {
		t.Fatal(err)
	}
	var cases []Case
	for _, c := range all {
		if c.Op == op {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		t.Fatalf("golden: cases of %s: none among %d", op, len(all))
	}
	return cases
}

// Has reports whether the case has an array called key.
func (c Case) Has(key string) bool {
	_, ok := c.arrays[key]
	return ok
}

// Keys returns the keys of all arrays of the case, sorted.
func (c Case) Keys() []string {
	keys := make([]string, 0, len(c.arrays))
	for k := range c.arrays {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// read keeps the manifests that were read, for all tests of a program.
var read struct {
	sync.Mutex
	manifests map[string][]Case
}

// load reads a manifest once.
func load(name string) ([]Case, error) {
	read.Lock()
	defer read.Unlock()
	if c, ok := read.manifests[name]; ok {
		return c, nil
	}
	dir, err := folder(name)
	if err != nil {
		return nil, err
	}
	c, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	if read.manifests == nil {
		read.manifests = map[string][]Case{}
	}
	read.manifests[name] = c
	return c, nil
}

// folder finds a folder of testdata from the directory of any package of the
// module, which is where go test starts a program.
func folder(name string) (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("golden: find the module: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata", name), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("golden: find the module, from %s: no go.mod there or above", start)
		}
	}
}

// entry is a case as the manifest spells it.
type entry struct {
	Name, Op, Source string
	Ranks            int
	DType            string
	Dims, Dimsd      []int
	Params           map[string]any
	DotTest          *bool
	File             string
	Arrays           map[string]string
}

func readManifest(dir string) ([]Case, error) {
	path := filepath.Join(dir, "manifest.json")
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("golden: open the manifest: %w", err)
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	dec.UseNumber()
	var entries []entry
	if err := dec.Decode(&entries); err != nil {
		return nil, fmt.Errorf("golden: decode %s: %w", path, err)
	}
	cases := make([]Case, len(entries))
	for i, e := range entries {
		c, err := e.toCase(dir)
		if err != nil {
			return nil, fmt.Errorf("golden: read %s, case %d, %q: %w", path, i, e.Name, err)
		}
		cases[i] = c
	}
	return cases, nil
}

func (e entry) toCase(dir string) (Case, error) {
	dt, err := scalar.ParseDType(e.DType)
	if err != nil {
		return Case{}, err
	}
	if e.Name == "" || e.Op == "" || e.File == "" {
		return Case{}, errors.New("a name, an op and a file are needed")
	}
	return Case{
		Name: e.Name, Op: e.Op, Source: e.Source, Ranks: e.Ranks, DType: dt,
		Dims: e.Dims, Dimsd: e.Dimsd, Params: e.Params,
		// Cases without an adjoint have nothing to fail.
		DotTest: e.DotTest == nil || *e.DotTest,
		file:    e.File, arrays: e.Arrays, dir: dir,
	}, nil
}
