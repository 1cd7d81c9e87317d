package app_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/report/reporttest"
	"github.com/spf13/cobra"
)

// printed is what a command has printed so far.
type printed struct {
	mu  sync.Mutex
	b   bytes.Buffer
	new chan struct{}
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case p.new <- struct{}{}:
	default:
	}
	return p.b.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

// find waits until something is printed that the expression matches.
func (p *printed) find(t *testing.T, expr string) string {
	t.Helper()
	for re := regexp.MustCompile(expr); ; {
		if m := re.FindString(p.String()); m != "" {
			return m
		}
		select {
		case <-p.new:
		case <-t.Context().Done():
			t.Fatalf("%s is not in %q", expr, p)
		}
	}
}

// background starts the smallest application and returns what it prints and, when it has
// ended, its exit code.
func background(t *testing.T, args ...string) (*printed, <-chan int) {
	t.Helper()
	said, code := &printed{new: make(chan struct{}, 1)}, make(chan int, 1)
	p := app.NewProcess(io.Discard, said, "test")
	root := &cobra.Command{Use: "golops"}
	root.AddCommand(App().Command(p))
	go func() { code <- p.Execute(t.Context(), root, append([]string{"unblur"}, args...)) }()
	return said, code
}

// endless is a run that only a stop ends: of a picture that is always too blurred.
func endless(t *testing.T, out string) []string {
	t.Helper()
	cfg := filepath.Join(t.TempDir(), "endless.yaml")
	if err := os.WriteFile(cfg, []byte("size: 500\nwidth: 21\nsolver: {iterations: 1000000, tolerance: 0}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return []string{"--ranks", "2", "--quiet", "--config", cfg, "--out", out}
}

// A browser sees image and residuals change, survives a reload, presses stop, and sees
// the report. The run ends as after Ctrl-C.
func TestLivePage(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	said, code := background(t, append(endless(t, out), "--serve")...)
	page := reporttest.Open(t, said.find(t, `http://127\.0\.0\.1:\d+/`))
	number := func(script string) (n float64) {
		t.Helper()
		page.Eval("+("+script+")", &n)
		return n
	}
	const image, residual = `document.getElementById("image").dataset.count || 0`, `document.getElementById("what").textContent.split(": ")[1] || 9`
	page.Until(image + " > 0 && " + residual + " < 1")
	pixels, before := `document.getElementById("image").naturalWidth`, number(residual)
	if number(pixels) < 100 {
		t.Errorf("the image is %g pixels wide", number(pixels))
	}
	page.Until(image + " > 1 && " + residual + fmt.Sprintf(" < %g", 0.999*before))
	page.Until(`document.querySelectorAll("#ranks tr").length == 2 && document.querySelector("#curve polyline")`)
	if p := page.Problems(); p != nil {
		t.Errorf("problems: %q", p)
	}
	page.Reload()
	page.Until(image + " > 1 && " + residual + fmt.Sprintf(" < %g", before))
	page.Eval(`document.getElementById("stop").click()`, nil)
	page.Until(`document.querySelector(".kind")?.textContent == "golops report" && document.body.textContent.includes("stopped after")`)
	if p := page.Problems(); p != nil {
		t.Errorf("problems: %q", p)
	}
	if c := <-code; c != 130 || !strings.Contains(said.String(), "stopping after this iteration") {
		t.Errorf("exit code %d, %q", c, said)
	}
	if _, err := os.Stat(filepath.Join(out, "sharp.npy")); err != nil {
		t.Error(err)
	}
}

// Other machines need the token; other sites reach nothing, and cannot stop the run.
func TestLivePageIsGuarded(t *testing.T) {
	get := func(method, address, host string, header ...string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Host = host; len(header) > 0 {
			r.Header.Set("X-Golops", header[0])
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		return a.StatusCode
	}
	said, code := background(t, append(endless(t, filepath.Join(t.TempDir(), "out")), "--serve", "0.0.0.0:0")...)
	address := said.find(t, `http://\S+:\d+/\?token=\w+`)
	plain, token, _ := strings.Cut(strings.Replace(address, "[::]", "127.0.0.1", 1), "?")
	for at, want := range map[string]int{plain: 403, plain + "?token=x": 403, plain + "?" + token: 200, plain + "state?" + token: 200, plain + "nowhere?" + token: 404} {
		if got := get("GET", at, ""); got != want {
			t.Errorf("%s: status %d, want %d", at, got, want)
		}
	}
	for _, c := range []struct {
		at     string
		header []string
		want   int
	}{{plain + "stop", []string{"stop"}, 403}, {plain + "stop?" + token, nil, 403}, {plain + "stop?" + token, []string{"stop"}, 200}} {
		if got := get("POST", c.at, "", c.header...); got != c.want {
			t.Errorf("stop: status %d, want %d", got, c.want)
		}
	}
	if c := <-code; c != 130 {
		t.Errorf("exit code %d: %s", c, said)
	}
	said, code = background(t, append(endless(t, filepath.Join(t.TempDir(), "out")), "--serve=localhost")...)
	address = said.find(t, `http://127\.0\.0\.1:\d+/`)
	if got := get("GET", address, "evil.example"); got != 403 {
		t.Errorf("another name: status %d", got)
	}
	if got := get("POST", address+"stop", "", "stop"); got != 200 {
		t.Errorf("stop: status %d", got)
	}
	if c := <-code; c != 130 {
		t.Errorf("exit code %d: %s", c, said)
	}
	for args, want := range map[string]string{"--serve=mars:99": "--serve: ", "--serve=a:b:c": "this is no address", "--serve mars": `takes no argument "mars"`} {
		if code, _, stderr := run(t, append(strings.Fields(args), "--out", t.TempDir())...); code != 2 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q", args, code, stderr)
		}
	}
}
