package reporttest

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write puts a page into a file of the test.
func write(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a page #1.html") // a name that an address must escape
	page := "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content=width=device-width><title>seen</title></head><body>" + body + "</body></html>"
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGoodPage(t *testing.T) {
	path := write(t, `<p>Nothing wrong.<img alt=dot src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">`)
	OpenInBrowser(t, path)
	s := Look(t, path, Window{Width: 500, Height: 300})[0]
	if s.Title != "seen" {
		t.Errorf("the title is %q", s.Title)
	}
	img, err := png.Decode(bytes.NewReader(s.PNG))
	if err != nil {
		t.Fatal(err)
	}
	if got := img.Bounds().Dx(); got != 500 {
		t.Errorf("the screenshot is %d wide, want 500", got)
	}
}

// TestBadPages holds that each kind of fault is seen: a test of pages that
// passes whatever happens would be worse than none.
func TestBadPages(t *testing.T) {
	b, err := start(t.Context(), find(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	look := func(t *testing.T, body string, w Window) Seen {
		t.Helper()
		s, err := b.look(t.Context(), write(t, body), w)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, c := range map[string]struct{ body, want string }{
		"console":   {`<script>console.log("a", 1)</script>`, "console.log: a 1"},
		"exception": {`<script>throw new Error("boom")</script>`, "boom"},
		"picture":   {`<img alt=gone src="gone.png">`, "ERR_FILE_NOT_FOUND"},
		"style":     {`<link rel=stylesheet href="gone.css">`, "gone.css"},
		"foreign":   {`<script src="http://127.0.0.1:9/x.js"></script>`, "outside the page: http://127.0.0.1:9/x.js"},
		"policy":    {`<meta http-equiv="Content-Security-Policy" content="default-src 'none'"><p style="color:red">`, "Content Security Policy"},
		"warning":   {`<script>console.warn("careful")</script>`, "console.warning: careful"},
		"late":      {`<script>requestAnimationFrame(() => console.error("late"))</script>`, "console.error: late"},
	} {
		t.Run(name, func(t *testing.T) {
			s := look(t, c.body, Window{})
			if all := strings.Join(s.Problems, "\n"); !strings.Contains(all, c.want) {
				t.Errorf("no %q among %q", c.want, s.Problems)
			}
		})
	}
	t.Run("wide", func(t *testing.T) {
		if s := look(t, `<div style="width:1300px">wide</div>`, Window{}); s.Overflow < 100 {
			t.Errorf("overflow is %d, want 100 or more", s.Overflow)
		}
	})
	t.Run("broken", func(t *testing.T) {
		s := look(t, `<img alt="no picture" src="data:image/png;base64,AAAA">`, Window{})
		if len(s.Broken) != 1 || s.Broken[0] != "no picture" {
			t.Errorf("broken pictures are %q", s.Broken)
		}
	})
	t.Run("no file", func(t *testing.T) {
		if _, err := b.look(t.Context(), "none.html", Window{}); err == nil {
			t.Error("a missing file was opened")
		}
	})
}

// recorder is a testing.TB that notes how it was ended.
type recorder struct {
	testing.TB
	how string
}

func (r *recorder) Helper() {}
func (r *recorder) Fatalf(format string, args ...any) {
	r.how = "failed: " + fmt.Sprintf(format, args...)
}
func (r *recorder) Skipf(format string, args ...any) {
	r.how += "skipped: " + fmt.Sprintf(format, args...)
}

func TestMissingBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for value, want := range map[string]string{"": "skipped: ", "1": "failed: "} {
		t.Setenv(Require, value)
		r := &recorder{TB: t}
		find(r)
		if !strings.HasPrefix(r.how, want) || !strings.Contains(r.how, "apt-get install chromium") {
			t.Errorf("%s=%q: %s", Require, value, r.how)
		}
	}
}

// TestNamesMatchScript holds that the script installs only where this package
// would find nothing.
func TestNamesMatchScript(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "scripts", "install-browser"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "for c in " + strings.Join(names, " ") + "; do"; !strings.Contains(string(b), want) {
		t.Errorf("scripts/install-browser does not say %q", want)
	}
}
