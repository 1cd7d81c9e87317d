//go:build ignore

// sizes prints, for each package of the module in the working folder, the lines of
// code, the exported names and the longest function, all without tests. The tables
// in docs/architecture.md come from it:
//
//	go run scripts/sizes.go
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"path/filepath"
	"sort"
	"strings"
)

type size struct {
	lines, names, longest int
	function              string
}

func main() {
	sizes := map[string]*size{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "build" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		return add(sizes, path)
	})
	if err != nil {
		log.Fatal(err)
	}
	var all size
	var dirs []string
	for dir, s := range sizes {
		dirs = append(dirs, dir)
		all.lines += s.lines
		all.names += s.names
	}
	sort.Strings(dirs)
	for _, dir := range dirs {
		s := sizes[dir]
		fmt.Printf("%-22s %6d lines %4d names, longest function %3d lines (%s)\n", dir, s.lines, s.names, s.longest, s.function)
	}
	fmt.Printf("%-22s %6d lines %4d names\n", "all", all.lines, all.names)
}

// add counts what a file has.
func add(sizes map[string]*size, path string) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil || f.Name.Name == "main" && filepath.Dir(path) == "scripts" {
		return err
	}
	s := sizes[filepath.Dir(path)]
	if s == nil {
		s = &size{}
		sizes[filepath.Dir(path)] = s
	}
	s.lines += fset.File(f.Pos()).LineCount()
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if n := fset.Position(d.End()).Line - fset.Position(d.Pos()).Line + 1; n > s.longest {
				s.longest, s.function = n, d.Name.Name
			}
			if d.Name.IsExported() && (d.Recv == nil || exportedType(d.Recv.List[0].Type)) {
				s.names++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						s.names++
					}
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						if n.IsExported() {
							s.names++
						}
					}
				}
			}
		}
	}
	return nil
}

// exportedType reports whether the receiver of a method has an exported name.
func exportedType(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.StarExpr:
		return exportedType(t.X)
	case *ast.IndexExpr:
		return exportedType(t.X)
	case *ast.IndexListExpr:
		return exportedType(t.X)
	case *ast.Ident:
		return t.IsExported()
	}
	return false
}
