package app

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golops/golops"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/report"
)

// live is the page of a running inversion, which --serve asks for. It is on rank 0. It
// holds what a browser asks for, so that nothing is drawn while nobody looks.
type live struct {
	address, token string
	server         *http.Server
	stop           func() // does what Ctrl-C does

	mu       sync.Mutex
	state    liveState
	left     []float64 // after each iteration
	start    time.Time // of the inversion
	first    int       // the iteration that it began with
	draw     func(x []float64) report.Picture
	model    []float64 // that is not drawn yet
	rest     time.Time // no image is made before: images take at most 1% of the time
	took     time.Duration
	viewers  map[string]time.Time // when each page last asked
	report   []byte
	finished chan struct{} // a viewer has got the page

	drawing sync.Mutex
	image   []byte // the last one that was drawn
}

// liveState is what the page shows.
type liveState struct {
	Title   string     `json:"title"`
	Stage   string     `json:"stage"`
	K       int        `json:"iteration"`
	Of      int        `json:"of"`
	What    string     `json:"what"`
	Left    []float64  `json:"left"` // at most some hundred
	Elapsed float64    `json:"elapsed"`
	Remains float64    `json:"remains"` // seconds; negative where it is not known
	Ranks   []liveRank `json:"ranks"`
	Image   int        `json:"image"` // counts images; 0 means none
	Stopped bool       `json:"stopped"`
	End     string     `json:"end"` // how the run ended; "" while it goes on
}

// liveRank is what one rank does.
type liveRank struct {
	Rank   int     `json:"rank"`
	Device string  `json:"device"`
	Work   string  `json:"work"`
	Rate   float64 `json:"rate"` // of that work per second
}

//go:embed live.html
var livePage []byte

// looks is how long a page that does not ask any more counts as one that looks.
const looks = 5 * time.Second

// liveAddress turns the value of --serve into an address, on this machine unless it names
// another one.
func liveAddress(text string) (address string, local bool, err error) {
	if text != "" && !strings.Contains(text, ":") {
		if strings.Trim(text, "0123456789") == "" {
			text = ":" + text
		} else {
			text += ":0"
		}
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", false, fmt.Errorf("--serve %s: this is no address: give a port, or an address and a port, such as 127.0.0.1:8080", Shown(text))
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	ip := net.ParseIP(host)
	return net.JoinHostPort(host, port), ip != nil && ip.IsLoopback(), nil
}

// serve opens the live page. Other machines need a token to see it.
func serve(text, title string, stop func()) (*live, error) {
	address, local, err := liveAddress(text)
	if err != nil {
		return nil, err
	}
	at, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--serve: %w", err)
	}
	l := &live{address: "http://" + at.Addr().String() + "/", stop: stop, viewers: map[string]time.Time{}, finished: make(chan struct{}, 1), state: liveState{Title: title, Remains: -1}}
	if !local {
		l.token = rand.Text()
		l.address += "?token=" + l.token
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", l.getPage)
	mux.HandleFunc("GET /state", l.getState)
	mux.HandleFunc("GET /image", l.getImage)
	mux.HandleFunc("POST /stop", l.postStop)
	l.server = &http.Server{Handler: l.guarded(mux), ReadHeaderTimeout: 10 * time.Second}
	go l.server.Serve(at)
	return l, nil
}

// guarded lets in who is on this machine, or has the token. A page of another site
// cannot reach it under a name of its own.
func (l *live) guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		known := l.token == "" && (host == "localhost" || ip != nil && ip.IsLoopback())
		if l.token != "" {
			known = subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("token")), []byte(l.token)) == 1
		}
		if !known {
			http.Error(w, "this page needs the address that golops has printed", http.StatusForbidden)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src 'self' data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'")
		h.ServeHTTP(w, r)
	})
}

func (l *live) getPage(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	page := l.report
	delete(l.viewers, r.URL.Query().Get("viewer"))
	l.mu.Unlock()
	if page == nil {
		page = livePage
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(page)
	select {
	case l.finished <- struct{}{}:
	default:
	}
}

func (l *live) getState(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	if id := r.URL.Query().Get("viewer"); id != "" {
		l.viewers[id] = time.Now()
	}
	s := l.state
	s.Left = thinned(l.left, 400)
	if !l.start.IsZero() {
		s.Elapsed = time.Since(l.start).Seconds()
		if made := s.K - l.first; made > 0 && s.Of > s.K {
			s.Remains = s.Elapsed / float64(made) * float64(s.Of-s.K)
		}
	}
	l.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(s)
}

// thinned returns about n of the values, the first and the last among them. JSON has no
// NaN: it becomes 0, which the page leaves out.
func thinned(v []float64, n int) []float64 {
	out := make([]float64, 0, n)
	for i := range min(n, len(v)) {
		x := v[i]
		if len(v) > n {
			x = v[i*(len(v)-1)/(n-1)]
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			x = 0
		}
		out = append(out, x)
	}
	return out
}

// getImage draws the last model, unless that has been done.
func (l *live) getImage(w http.ResponseWriter, _ *http.Request) {
	l.drawing.Lock() // several pages may ask; the run goes on meanwhile
	defer l.drawing.Unlock()
	l.mu.Lock()
	model, draw := l.model, l.draw
	l.mu.Unlock()
	if model != nil {
		start := time.Now()
		f, err := report.NewFigure("", "", draw(model).PNG)
		l.mu.Lock()
		if l.model = nil; err == nil {
			l.image = f.Image
		}
		l.slower(time.Since(start))
		l.mu.Unlock()
	}
	if l.image == nil {
		http.Error(w, "there is no image yet", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	w.Write(l.image)
}

// slower puts the next image off, so that images take at most 1% of the time.
func (l *live) slower(took time.Duration) {
	l.took += took
	l.rest = time.Now().Add(max(time.Second, 110*took))
}

func (l *live) postStop(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Golops") != "stop" { // which no other site can send
		http.Error(w, "this is for the button of the page", http.StatusForbidden)
		return
	}
	l.mu.Lock()
	again := l.state.Stopped
	l.state.Stopped = true
	l.mu.Unlock()
	if !again {
		l.stop()
	}
	fmt.Fprintln(w, "stopping")
}

// stage says which stage begins.
func (l *live) stage(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Stage = name
}

// iteration says how far the inversion is.
func (l *live) iteration(k, of int, what string, left float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.start.IsZero() {
		l.start, l.first = time.Now(), k
	}
	l.state.K, l.state.Of, l.state.What = k, of, what
	l.left = append(l.left, left)
}

// wants reports whether somebody looks and the next image may be made.
func (l *live) wants() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.model != nil || now.Before(l.rest) {
		return false
	}
	return l.looking(now) > 0
}

// looking counts the pages that have asked a short while ago.
func (l *live) looking(now time.Time) (n int) {
	for id, at := range l.viewers {
		if now.Sub(at) > looks {
			delete(l.viewers, id)
		} else {
			n++
		}
	}
	return n
}

// show takes a model and what the ranks do; a page that asks for the image draws it.
func (l *live) show(draw func([]float64) report.Picture, model []float64, ranks []liveRank, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Ranks = ranks
	if draw != nil {
		l.draw, l.model = draw, model
		l.state.Image++
	}
	l.slower(took)
}

// become makes the page the report.
func (l *live) become(html func(io.Writer) error) {
	var b strings.Builder
	if html(&b) == nil {
		l.mu.Lock()
		l.report = []byte(b.String())
		l.mu.Unlock()
	}
}

// end says how the run ended, and waits until those who look have seen it.
func (l *live) end(text string) {
	l.mu.Lock()
	none := l.report == nil
	l.mu.Unlock()
	if none {
		l.become(report.Page{Title: l.state.Title, Result: text}.HTML)
	}
	l.mu.Lock()
	l.state.End = text
	l.mu.Unlock()
	last := time.After(looks)
	for over := false; !over; {
		l.mu.Lock()
		n := l.looking(time.Now())
		l.mu.Unlock()
		if n == 0 {
			break
		}
		select {
		case <-l.finished:
		case <-last:
			over = true
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := l.server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		l.server.Close()
	}
}

// showLive sends the model and the rates of the ranks to the live page of rank 0, if
// somebody looks at it. It is collective, and returns the iteration after which it must
// be called again: a few times a second.
func showLive[D golops.Scalar](r *Rank, x golops.Vec[D], k int, perIteration float64) (next int, err error) {
	ctx, c := r.Context(), r.Proc().Comm
	v := []int64{0, 0}
	if r.Rank() == 0 {
		if r.ctl.live.wants() {
			v[0] = 1
		}
		v[1] = int64(k) + max(1, int64(min(0.2/perIteration, 1e6)))
	}
	if err := c.Broadcast(ctx, comm.Of(v), 0); err != nil || v[0] == 0 {
		return int(v[1]), err
	}
	start := time.Now()
	var model []float64
	if r.Live != nil {
		if model, err = gather(ctx, x.Array()); err != nil {
			return 0, err
		}
	}
	mine := liveRank{Rank: r.Rank(), Device: r.timing.Device, Work: "iterations", Rate: 1 / perIteration}
	if r.timing.Work != "" {
		mine.Work, mine.Rate = r.timing.Work, float64(r.timing.Amount)/perIteration
	}
	ranks, err := comm.GatherObjects(ctx, c, mine, 0)
	if err == nil && r.Rank() == 0 {
		r.ctl.live.show(r.Live, model, ranks, time.Since(start))
	}
	return int(v[1]), err
}
