package reporttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// names are looked for on PATH, the first found is used. scripts/install-browser
// looks for the same.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// Require is the environment variable that turns a missing browser from a
// skipped test into a failed one. make test sets it to 1.
const Require = "GOLOPS_TEST_BROWSER"

// limit is far more than a page takes, for machines that do much else.
const limit = 2 * time.Minute

// find returns the path of a browser. Without one the test ends.
func find(t testing.TB) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "no Chromium on PATH (looked for %q): run scripts/install-browser, or apt-get install chromium"
	if os.Getenv(Require) == "1" {
		t.Fatalf(missing, names)
	}
	t.Skipf(missing, names)
	return ""
}

// browser is a running Chromium with a temporary profile.
type browser struct {
	*pipe
	cmd    *exec.Cmd
	errors bytes.Buffer // what it writes to standard error
	ends   []*os.File   // ours of the two pipes
	home   string
}

// start runs the browser until ctx ends or close is called.
func start(ctx context.Context, path string) (b *browser, err error) {
	b = &browser{}
	if b.home, err = os.MkdirTemp("", "golops-browser-"); err != nil {
		return nil, err
	}
	inR, inW, err1 := os.Pipe()
	outR, outW, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	b.ends = []*os.File{inW, outR}
	b.cmd = exec.CommandContext(ctx, path,
		"--headless=new",
		"--no-sandbox", // it refuses to start as root otherwise, as CI does
		"--disable-gpu",
		"--disable-dev-shm-usage", // containers have little of it
		"--disable-extensions",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-sync",
		"--no-first-run",
		"--no-default-browser-check",
		"--hide-scrollbars",
		"--remote-debugging-pipe",
		"--user-data-dir="+b.home,
		"about:blank")
	b.cmd.Env = append(os.Environ(), "HOME="+b.home, "XDG_CONFIG_HOME="+b.home, "XDG_CACHE_HOME="+b.home)
	b.cmd.ExtraFiles = []*os.File{inR, outW} // file 3 is for reading, 4 for writing
	b.cmd.Stderr = &b.errors
	b.cmd.WaitDelay = 5 * time.Second
	err = b.cmd.Start()
	// The browser has copies of its ends. Ours must go, or we would never see
	// that it has closed them.
	inR.Close()
	outW.Close()
	if err != nil {
		inW.Close()
		outR.Close()
		os.RemoveAll(b.home)
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	b.pipe = newPipe(inW, outR)
	return b, nil
}

// close ends the browser and removes its profile. A child that is slow to end
// may still write there, so what cannot be removed stays in the folder for
// temporary files.
func (b *browser) close() {
	// The browser need not answer before it goes; Wait is what counts.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = b.call(ctx, "", "Browser.close", struct{}{}, nil)
	for _, f := range b.ends {
		f.Close() // a browser on a pipe ends when that is closed
	}
	for range b.from { // until the reader has ended
	}
	_ = b.cmd.Wait()
	os.RemoveAll(b.home)
}

// stderr returns what the browser wrote of use in an error text: its last
// lines.
func (b *browser) stderr() string {
	lines := bytes.Split(bytes.TrimSpace(b.errors.Bytes()), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-5):], []byte("\n")))
}
