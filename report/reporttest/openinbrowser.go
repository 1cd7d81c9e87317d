package reporttest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// Window is how a page is looked at.
type Window struct {
	Width  int  // in CSS pixels; 0 means 1200
	Height int  // 0 means 900
	Dark   bool // the reader prefers dark colours
}

// Seen is what a browser made of a page.
type Seen struct {
	Title    string
	Problems []string // console messages, exceptions, failed and foreign requests
	Overflow int      // CSS pixels by which the page is wider than the window
	Broken   []string // alternative texts of pictures that could not be decoded
	PNG      []byte   // the whole page, from top to bottom
}

// OpenInBrowser opens an HTML file in headless Chromium and fails the test on
// any console message, exception or failed resource, on a request for
// anything outside the file, on a picture that cannot be decoded and on a page
// wider than a window of a phone or of a computer, light or dark.
//
// Without a browser the test is skipped and says what to install, or fails
// where GOLOPS_TEST_BROWSER is 1.
func OpenInBrowser(t testing.TB, path string) {
	t.Helper()
	windows := []Window{{Width: 1200}, {Width: 360, Dark: true}}
	for i, s := range Look(t, path, windows...) {
		width := windows[i].Width
		for _, p := range s.Problems {
			t.Errorf("%s in a window %d wide: %s", path, width, p)
		}
		for _, p := range s.Broken {
			t.Errorf("%s in a window %d wide: picture %q cannot be decoded", path, width, p)
		}
		if s.Overflow > 0 {
			t.Errorf("%s in a window %d wide: the page is %d pixels wider", path, width, s.Overflow)
		}
	}
}

// Look opens an HTML file in headless Chromium, once in each window, and
// returns what it saw. It fails the test only if it could not look, or as
// OpenInBrowser does without a browser.
func Look(t testing.TB, path string, windows ...Window) []Seen {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	b, err := start(ctx, find(t))
	if err != nil {
		t.Fatalf("reporttest: open %s: %v", path, err)
	}
	var all []Seen
	for _, w := range windows {
		var s Seen
		if s, err = b.look(ctx, path, w); err != nil {
			break
		}
		all = append(all, s)
	}
	b.close()
	if err != nil {
		t.Fatalf("reporttest: open %s: %v\n%s", path, err, b.stderr())
	}
	return all
}

// object is the parameters of a call.
type object map[string]any

// look opens a tab, listens, goes to the file and waits until the page has
// loaded and been painted. What happened until then has been received by then
// too, since all of it comes through one pipe.
func (b *browser) look(ctx context.Context, path string, w Window) (s Seen, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return s, err
	}
	address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	w.Width, w.Height = cmp.Or(w.Width, 1200), cmp.Or(w.Height, 900)
	session, err := b.open(ctx, address, w)
	tab := func(method string, params object, result any) {
		if err == nil {
			err = b.call(ctx, session, method, params, result)
		}
	}
	var page struct {
		Result struct {
			Value struct {
				Title    string
				Overflow int
				Broken   []string
			}
		}
	}
	tab("Runtime.evaluate", object{"expression": fmt.Sprintf(inspect, w.Width), "awaitPromise": true, "returnByValue": true}, &page)
	var shot struct{ Data []byte }
	tab("Page.captureScreenshot", object{"captureBeyondViewport": true}, &shot)
	tab("Page.close", object{}, nil)
	s.Problems = b.problems(session, func(u string) bool { return u == address })
	v := page.Result.Value
	s.Title, s.Overflow, s.Broken, s.PNG = v.Title, v.Overflow, v.Broken, shot.Data
	return s, err
}

// open makes a tab, listens, goes to the address and waits until the page has loaded. It
// returns the name of the tab.
func (b *browser) open(ctx context.Context, address string, w Window) (session string, err error) {
	var target struct{ TargetID string }
	if err := b.call(ctx, "", "Target.createTarget", object{"url": "about:blank"}, &target); err != nil {
		return "", err
	}
	var attached struct{ SessionID string }
	if err := b.call(ctx, "", "Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		return "", err
	}
	tab := func(method string, params object, result any) {
		if err == nil {
			err = b.call(ctx, attached.SessionID, method, params, result)
		}
	}
	scheme := "light"
	if w.Dark {
		scheme = "dark"
	}
	tab("Emulation.setDeviceMetricsOverride", object{"width": w.Width, "height": w.Height, "deviceScaleFactor": 1, "mobile": w.Width < 600}, nil)
	tab("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		tab(domain+".enable", object{}, nil)
	}
	var went struct{ ErrorText string }
	tab("Page.navigate", object{"url": address}, &went)
	if err == nil && went.ErrorText != "" {
		err = fmt.Errorf("%s: %s", address, went.ErrorText)
	}
	if err == nil {
		err = b.await(ctx, attached.SessionID, "Page.loadEventFired")
	}
	return attached.SessionID, err
}

// problems returns those of a tab so far. Requests for addresses that are not allowed
// are among them.
func (b *browser) problems(session string, allowed func(address string) bool) (list []string) {
	for _, m := range b.events {
		if m.SessionID != session {
			continue
		}
		if p := problem(m, allowed); p != "" {
			list = append(list, p)
		}
	}
	return list
}

// inspect runs in the page: it waits for two frames, so that the page has been
// painted, and measures.
const inspect = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done({
	title: document.title,
	overflow: Math.max(0, document.documentElement.scrollWidth - %d),
	broken: [...document.images].filter(i => !i.complete || i.naturalWidth == 0).map(i => i.alt || i.src.slice(0, 80)),
}))))`

// problem returns the text of an event that reports a problem, or "".
func problem(m message, allowed func(address string) bool) string {
	var e struct {
		Type string // of a console message
		Args []struct {
			Value       any
			Description string
		}
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
		Entry     struct{ Level, Text, URL string }
		ErrorText string // of a failed request
		Request   struct{ URL string }
		Response  struct {
			URL    string
			Status int
		}
	}
	if err := json.Unmarshal(m.Params, &e); err != nil {
		return fmt.Sprintf("%s: %v", m.Method, err)
	}
	switch m.Method {
	case "Runtime.consoleAPICalled":
		var words []string
		for _, a := range e.Args {
			if a.Value != nil {
				words = append(words, fmt.Sprint(a.Value))
			} else {
				words = append(words, a.Description)
			}
		}
		return fmt.Sprintf("console.%s: %s", e.Type, strings.Join(words, " "))
	case "Runtime.exceptionThrown":
		return fmt.Sprintf("exception: %s %s", e.ExceptionDetails.Text, e.ExceptionDetails.Exception.Description)
	case "Log.entryAdded":
		return strings.TrimSpace(fmt.Sprintf("log, %s: %s %s", e.Entry.Level, e.Entry.Text, shorten(e.Entry.URL)))
	case "Network.loadingFailed":
		return "a request failed: " + e.ErrorText
	case "Network.responseReceived":
		if e.Response.Status >= 400 {
			return fmt.Sprintf("%s: status %d", shorten(e.Response.URL), e.Response.Status)
		}
	case "Network.requestWillBeSent":
		if u := e.Request.URL; !allowed(u) && !strings.HasPrefix(u, "data:") {
			return "a request for something outside the page: " + shorten(u)
		}
	case "Inspector.targetCrashed":
		return "the page crashed the browser"
	}
	return ""
}

// shorten keeps an error text readable when the address is a picture.
func shorten(address string) string {
	if len(address) > 120 {
		return address[:120] + "…"
	}
	return address
}
