package report

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/golops/golops/report/reporttest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestPageInBrowser opens a page with everything. Run it with -artifacts to
// look at the page.
func TestPageInBrowser(t *testing.T) {
	path := filepath.Join(t.ArtifactDir(), "report.html")
	if err := Save(path, samplePage(t).HTML); err != nil {
		t.Fatal(err)
	}
	reporttest.OpenInBrowser(t, path)
}

// TestBarePageInBrowser opens one with next to nothing.
func TestBarePageInBrowser(t *testing.T) {
	path := filepath.Join(t.ArtifactDir(), "report.html")
	if err := Save(path, Page{Title: "Nothing " + strings.Repeat("longword", 40)}.HTML); err != nil {
		t.Fatal(err)
	}
	reporttest.OpenInBrowser(t, path)
}

func TestPageGolden(t *testing.T) {
	got := html(t, samplePage(t))
	// The bytes of pictures and the style are not what this is about.
	got = regexp.MustCompile(`base64,[A-Za-z0-9+/=]+`).ReplaceAllString(got, "base64,…")
	got = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(got, "<style>…</style>")
	golden := filepath.Join("testdata", "page.html")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("line %d is\n%s\nwant\n%s\nif that is meant, run the test with -update", i+1, g[i], w[i])
			}
		}
		t.Fatalf("there are %d lines, want %d", len(g), len(w))
	}
}

func html(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPageEscapes puts what would be HTML into every text of a page.
func TestPageEscapes(t *testing.T) {
	const evil = `<script>alert("x")</script>"'><img src=x onerror=alert(1)>`
	svg := []byte(`<svg viewBox="0 0 10 10" xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)
	p := Page{
		Title: evil, Result: evil, Command: evil,
		Facts:      []Fact{{evil, evil}},
		Figures:    []Figure{{Title: evil, Caption: evil, Alt: evil, Image: svg}},
		Parameters: []Group{{evil, []Parameter{{evil, evil, evil}}}},
		Timings:    Timings{[]string{evil}, []RankTimes{{0, evil, []float64{1}}}},
		Libraries:  []Library{{evil, evil, evil}},
		Files:      []File{{"javascript:alert(1)", evil, 1}, {"a b/?#%.npy", "", 1}},
		Created:    time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	s := html(t, p)
	for _, bad := range []string{"<script", "<img src=x", `"javascript:`, "ZgotmplZ"} {
		if strings.Contains(s, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{`href="./javascript:alert%281%29"`, `href="./a%20b/%3F%23%25.npy"`} {
		if !strings.Contains(s, want) {
			t.Errorf("the page has no %q among\n%s", want, regexp.MustCompile(`href="[^"]*"`).FindAllString(s, -1))
		}
	}
	if n := strings.Count(s, "&lt;script&gt;alert("); n < 15 {
		t.Errorf("only %d texts are shown as they are", n)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
		t.Fatal(err)
	}
	reporttest.OpenInBrowser(t, path)
}

// TestPageIsSelfContained holds that a page asks for nothing: no address
// leads anywhere but into the page or to a file beside it.
func TestPageIsSelfContained(t *testing.T) {
	s := html(t, samplePage(t))
	for _, m := range regexp.MustCompile(`(?:src|href|action|srcset)="([^"]*)"`).FindAllStringSubmatch(s, -1) {
		if a := m[1]; !strings.HasPrefix(a, "data:") && !strings.HasPrefix(a, "./") && !strings.HasPrefix(a, "#") {
			t.Errorf("the page leads to %.80q", a)
		}
	}
	if style := string(pageStyle); strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style sheet leads outside")
	}
	if n, m := strings.Count(s, "<img "), strings.Count(s, ` alt="`); n == 0 || n != m {
		t.Errorf("%d pictures have %d alternative texts", n, m)
	}
}

func TestPageRefuses(t *testing.T) {
	for _, c := range []struct {
		p    Page
		want string
	}{
		{Page{}, "it has no title"},
		{Page{Title: "a", Figures: []Figure{{Title: "f", Image: []byte("GIF89a")}}}, `report: page "a": figure 1, "f": the image is neither`},
		{Page{Title: "a", Figures: []Figure{{Image: []byte("\x89PNG\r\n\x1a\nand no more")}}}, "figure 1"},
		{Page{Title: "a", Figures: []Figure{{Image: []byte(`<svg viewBox="0 0 0 1">`)}}}, "the image is 0 wide"},
		{Page{Title: "a", Files: []File{{Name: "/etc/passwd"}}}, `file "/etc/passwd" does not lie beside the page`},
		{Page{Title: "a", Files: []File{{Name: "../x"}}}, `file "../x"`},
		{Page{Title: "a", Files: []File{{Name: ""}}}, `file ""`},
		{Page{Title: "a", Files: []File{{Name: `a\b`}}}, `file "a\\b"`},
		{Page{Title: "a", Timings: Timings{[]string{"x"}, []RankTimes{{Rank: 3}}}}, "rank 3 has 0 times for 1 phases"},
		{Page{Title: "a", Timings: Timings{[]string{"x"}, []RankTimes{{Rank: 3, Seconds: []float64{-1}}}}}, "time 1 of rank 3 is -1 seconds"},
	} {
		err := c.p.HTML(io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %q", err, c.want)
		}
		if c.p.Validate() == nil {
			t.Errorf("%q: Validate finds nothing", c.want)
		}
	}
	if _, err := NewFigure("f", "", Picture{}.PNG); err == nil || !strings.HasPrefix(err.Error(), `report: figure "f": `) {
		t.Errorf("error is %v", err)
	}
}

func TestManyRanksAreFolded(t *testing.T) {
	ts := Timings{Phases: []string{"work", "wait"}}
	for i := range 100 {
		ts.Ranks = append(ts.Ranks, RankTimes{Rank: i, Seconds: []float64{float64((i * 37) % 100), 1}})
	}
	v := ts.view()
	if len(v.Ranks) != 3 || len(v.Rest) != 100 {
		t.Fatalf("%d ranks are seen at once, %d folded", len(v.Ranks), len(v.Rest))
	}
	got := fmt.Sprint(v.Ranks[0].Name, "; ", v.Ranks[1].Name, "; ", v.Ranks[2].Name)
	if want := "fastest, 0; median, 50; slowest, 27"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := v.Ranks[2].Cells[0].Percent; got != 99 {
		t.Errorf("99 of the 100 seconds of the slowest are %g percent", got)
	}
	path := filepath.Join(t.ArtifactDir(), "report.html")
	if err := Save(path, Page{Title: "Many ranks", Timings: ts}.HTML); err != nil {
		t.Fatal(err)
	}
	reporttest.OpenInBrowser(t, path)
}

func TestFormat(t *testing.T) {
	for n, want := range map[int64]string{0: "", -1: "", 999: "999 B", 1000: "1.0 kB", 38_976: "39 kB", 999_999: "1.0 MB", 2_291_648: "2.3 MB", 5e12: "5.0 TB", 4e15: "4000 TB"} {
		if got := formatBytes(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
	for s, want := range map[float64]string{0: "0 s", 2.5e-7: "0.25 µs", 0.0123: "12.3 ms", 1.5: "1.5 s", 99.9: "99.9 s", 1234.5: "1235 s", 7200: "2h00m"} {
		if got := formatSeconds(s); got != want {
			t.Errorf("%g seconds are %q, want %q", s, got, want)
		}
	}
}
