package golops_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of docs/programs.md make a module of its own that uses golops. The modules
// that golops needs are there already, so that nothing comes over the network.
func TestModuleOfYourOwn(t *testing.T) {
	text, err := os.ReadFile("docs/programs.md")
	if err != nil {
		t.Fatal(err)
	}
	clone, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## A module of your own\n")
	section, _, _ = strings.Cut(section, "\n## ")
	const program = "package main\n\nimport \"github.com/golops/golops\"\n\nfunc main() { golops.Main(func(w *golops.World) error { w.Printf(\"%v\\n\", w.Size()); return nil }) }\n"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	commands := 0
	for line := range strings.Lines(section) {
		command, is := strings.CutPrefix(line, "    go ")
		if !is {
			continue
		}
		commands++
		args := strings.Fields(strings.ReplaceAll(command, "../golops", clone))
		if args[0] == "run" { // linking takes seconds, and other tests run programs
			args[0] = "vet"
		}
		c := exec.Command("go", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "GOPROXY=off", "GONOSUMDB=*", "GOFLAGS=")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	if commands != 4 {
		t.Errorf("docs/programs.md has %d commands for a module, want four", commands)
	}
}
