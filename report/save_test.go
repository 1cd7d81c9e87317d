package report

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.png")
	write := func(s string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, werr := io.WriteString(w, s)
			return errors.Join(werr, err)
		}
	}
	if err := Save(path, write("first", nil)); err != nil {
		t.Fatal(err)
	}
	if err := Save(path, write("half of the sec", errFull)); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "report: save "+path+": ") {
		t.Errorf("error is %v", err)
	}
	b, err := os.ReadFile(path)
	if err != nil || string(b) != "first" {
		t.Errorf("after a failure the file holds %q, error %v", b, err)
	}
	if err := Save(path, write("second", nil)); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, error %v", files, err)
	}
	if err := Save(filepath.Join(dir, "none", "a.png"), write("", nil)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}
