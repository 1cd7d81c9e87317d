package reporttest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// Tab is a page of a server in headless Chromium, which a test drives.
type Tab struct {
	t       testing.TB
	ctx     context.Context
	b       *browser
	session string
	site    string // the server
}

// Open opens the page at an address such as http://127.0.0.1:8080/. The browser ends with
// the test. Without a browser the test ends as that of OpenInBrowser does.
func Open(t testing.TB, address string) *Tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	b, err := start(ctx, find(t))
	if err != nil {
		t.Fatalf("reporttest: open %s: %v", address, err)
	}
	t.Cleanup(func() { b.close(); cancel() })
	tab := &Tab{t: t, ctx: ctx, b: b, site: address[:strings.LastIndex(address, "/")+1]}
	if tab.session, err = b.open(ctx, address, Window{Width: 1200, Height: 900}); err != nil {
		t.Fatalf("reporttest: open %s: %v\n%s", address, err, b.stderr())
	}
	return tab
}

// Eval evaluates JavaScript in the page and decodes its value into result, unless that
// is nil.
func (p *Tab) Eval(script string, result any) {
	p.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	err := p.b.call(p.ctx, p.session, "Runtime.evaluate", object{"expression": script, "returnByValue": true, "awaitPromise": true}, &got)
	if err == nil && result != nil {
		err = json.Unmarshal(got.Result.Value, result)
	}
	if err != nil || got.ExceptionDetails != nil {
		p.t.Fatalf("reporttest: %s: %v, %+v", script, err, got.ExceptionDetails)
	}
}

// Until waits until a script in the page is true.
func (p *Tab) Until(script string) {
	p.t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		var is bool
		p.Eval("!!("+script+")", &is)
		if is {
			return
		}
		select {
		case <-look.C:
		case <-p.ctx.Done():
			p.t.Fatalf("reporttest: this is never true: %s", script)
		}
	}
}

// Reload loads the page again.
func (p *Tab) Reload() {
	p.t.Helper()
	p.b.events = nil
	err := p.b.call(p.ctx, p.session, "Page.reload", object{}, nil)
	if err == nil {
		err = p.b.await(p.ctx, p.session, "Page.loadEventFired")
	}
	if err != nil {
		p.t.Fatalf("reporttest: reload: %v", err)
	}
	p.b.events = nil // requests of the page before are cut off
}

// Problems returns console messages, exceptions, failed requests, and those for another
// server, since the page was loaded.
func (p *Tab) Problems() []string {
	return p.b.problems(p.session, func(u string) bool { return strings.HasPrefix(u, p.site) || strings.HasPrefix(u, "blob:") })
}
