package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSeismicPages runs every command of the tutorials, on smaller models.
func TestSeismicPages(t *testing.T) {
	for _, page := range []string{"poststack.md", "reflectivity.md"} {
		text, err := os.ReadFile(filepath.Join("../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(page, func(t *testing.T) {
			t.Chdir(t.TempDir())
			stack(t, "stack.segy", 12, func(n, k int) float32 { return float32(0.05 * math.Exp(-0.1*float64((k-20-n)*(k-20-n)))) })
			small := "\nexample: {inlines: 3, crosslines: 6, samples: 50}\nsolver: {iterations: 5}\n"
			_, yaml, _ := strings.Cut(string(text), "    # stack.yaml\n")
			yaml, _, _ = strings.Cut(yaml, "\n\n")
			if err := os.WriteFile("stack.yaml", []byte(strings.ReplaceAll("\n"+yaml, "\n    ", "\n")+small), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile("small.yaml", []byte(small), 0o666); err != nil {
				t.Fatal(err)
			}
			n := 0
			for line := range strings.Lines(string(text)) {
				command, ok := strings.CutPrefix(strings.TrimSpace(line), "golops ")
				if !ok || !strings.HasPrefix(line, "    ") {
					continue
				}
				n++
				if !strings.Contains(command, "--config") {
					command += " --config small.yaml"
				}
				if code, _, stderr := golops(t.Context(), command+" --quiet"); code != 0 {
					t.Errorf("golops %s: exit code %d: %s", command, code, stderr)
				}
			}
			if n < 6 {
				t.Errorf("%s has %d commands: the test does not see them", page, n)
			}
		})
	}
}
