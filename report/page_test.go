package report

import (
	"path/filepath"
	"testing"

	"github.com/golops/golops/report/reporttest"
)

// TestPageInBrowser opens the sample page. Run it with -artifacts to look at
// the page and pictures of it.
func TestPageInBrowser(t *testing.T) {
	dir := t.ArtifactDir()
	path := filepath.Join(dir, "report.html")
	if err := Save(path, samplePage(t).HTML); err != nil {
		t.Fatal(err)
	}
	reporttest.OpenInBrowser(t, path)
}
