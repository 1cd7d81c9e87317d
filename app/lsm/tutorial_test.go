package lsm

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
)

// The tutorial lists all header words, and the configuration that it shows can be read.
func TestTutorial(t *testing.T) {
	b, err := os.ReadFile("../../docs/tutorials/lsm.md")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(string(b)), " ")
	for _, w := range data.Words() {
		if s := fmt.Sprintf(" %s %d", w.Name, w.Byte); !strings.Contains(words, s+",") && !strings.Contains(words, s+".") {
			t.Errorf("%s is not in the tutorial", s)
		}
	}
	_, text, ok := strings.Cut(string(b), "    # survey.yaml\n")
	text, _, _ = strings.Cut(text, "\n\n")
	c := Default()
	if err := app.Read(&c, strings.NewReader(strings.ReplaceAll(text, "\n    ", "\n")[4:])); !ok || err != nil || c.Time.Samples != 1501 {
		t.Errorf("survey.yaml: %v\n%s", err, text)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}
