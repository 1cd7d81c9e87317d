package app

import (
	"fmt"
	"io"
	"sync"

	"github.com/golops/golops/report"
)

// watcher shows the progress of a run.
type watcher struct {
	out     io.Writer
	signals *signals
	quiet   bool
	stage   string
	live    *live // may be nil

	mu  sync.Mutex
	bar *report.Progress // of the inversion
}

func (p *Process) progress(quiet bool) *watcher {
	w := &watcher{out: p.Stderr, signals: p.signals, quiet: quiet || OtherRank()}
	p.signals.speak(w.say)
	return w
}

// say prints a line without disturbing the bar.
func (w *watcher) say(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bar != nil && !w.quiet {
		w.bar.Note(line)
		return
	}
	fmt.Fprintln(w.out, line)
}

// Stage implements Observer.
func (w *watcher) Stage(name string) {
	w.close()
	w.stage = name
	if w.live != nil {
		w.live.stage(name)
	}
	switch name {
	case inversionStage:
		w.signals.enter(inverting)
		return // the bar shows it
	case reportStage:
		w.signals.enter(writing)
	}
	if !w.quiet {
		w.say(name + " ...")
	}
}

// Iteration implements Observer.
func (w *watcher) Iteration(k, of int, what string, left float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bar == nil {
		w.bar = report.NewProgress(report.ProgressConfig{Out: w.out, Name: w.stage, Total: of, Measure: what, Quiet: w.quiet})
	}
	w.bar.Update(k, left)
	if w.live != nil {
		w.live.iteration(k, of, what, left)
	}
}

// Note implements Observer.
func (w *watcher) Note(text string) {
	if !w.quiet {
		w.say(report.Printable(text))
	}
}

// Warn implements Observer.
func (w *watcher) Warn(text string) {
	if !OtherRank() {
		w.say("warning: " + report.Printable(text))
	}
}

// Saved implements Observer. The user may not see the end of the run.
func (w *watcher) Saved(text string) {
	if !OtherRank() && w.signals.stop().Hurry {
		w.say("saved: " + report.Printable(text))
	}
}

// close ends the bar.
func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bar != nil {
		w.bar.Done()
		w.bar = nil
	}
}
