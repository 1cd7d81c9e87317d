package golops_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// otherNames are entries of the front door that have another name than below.
var otherNames = map[string]string{
	"linop.Add": "Plus", "linop.Sub": "Minus", "linop.Scale": "Scaled", "linop.Neg": "Scaled", "linop.Func": "NewOp",
	"prox.New": "NewFunction", "prox.Scale": "ScaleFunction", "prox.Sum": "SumFunctions", "prox.Stack": "StackFunctions",
}

// Every function below that makes an operator or a function of package prox, and every
// method of package solve, has an entry in the front door: a function, or a method of Op.
func TestEveryOperatorAndSolverHasAnEntry(t *testing.T) {
	door := map[string]bool{}
	for _, d := range declared(t, ".") {
		if d.receiver == "" || d.receiver == "Op" {
			door[d.name] = true
		}
	}
	found := map[string]int{}
	for _, folder := range []string{"linop", "ops", "ops/wave", "solve", "prox"} {
		for _, d := range declared(t, folder) {
			name := d.name
			switch {
			case d.receiver == "" && folder != "solve" && (d.result == "Map" || d.result == "Operator"):
			case folder == "prox" && d.receiver == "" && d.result == "Function":
			case folder == "solve" && d.name == "Step" && ast.IsExported(d.receiver):
				name = d.receiver
			case folder == "solve" && d.receiver == "" && strings.HasSuffix(d.name, "Iteration"):
			default:
				continue
			}
			found[folder]++
			entry := name
			if other := otherNames[folder+"."+name]; other != "" {
				entry = other
			}
			if !door[entry] {
				t.Errorf("%s.%s has no entry in package golops: want %s", folder, name, entry)
			}
		}
	}
	if found["linop"] < 15 || found["ops"] < 25 || found["ops/wave"] < 3 || found["prox"] < 25 || found["solve"] < 5 {
		t.Errorf("found %v only: the search is broken", found)
	}
}

// declaration is an exported function or method.
type declaration struct {
	receiver, name string
	result         string // the type of its first result
}

// declared returns the exported functions and methods of a folder.
func declared(t *testing.T, folder string) (all []declaration) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			d := declaration{name: f.Name.Name}
			if f.Recv != nil {
				d.receiver = typeName(f.Recv.List[0].Type)
			}
			if f.Type.Results != nil {
				d.result = typeName(f.Type.Results.List[0].Type)
			}
			all = append(all, d)
		}
	}
	return all
}

// typeName is the name of a type without package, pointer and type arguments.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
