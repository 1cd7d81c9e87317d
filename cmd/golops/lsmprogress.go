package main

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

	mu  sync.Mutex
	bar *report.Progress // of the inversion
}

func (a app) progress(quiet bool) *watcher {
	w := &watcher{out: a.stderr, signals: a.signals, quiet: quiet || otherRank()}
	a.signals.speak(w.say)
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

// Stage implements lsm.Observer.
func (w *watcher) Stage(name string) {
	w.close()
	w.stage = name
	switch name {
	case "inversion":
		w.signals.enter(inverting)
		return // the bar shows it
	case "report":
		w.signals.enter(writing)
	}
	if !w.quiet {
		w.say(name + " ...")
	}
}

// Iteration implements lsm.Observer.
func (w *watcher) Iteration(k, of int, relative float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bar == nil {
		w.bar = report.NewProgress(report.ProgressConfig{Out: w.out, Name: w.stage, Total: of, Quiet: w.quiet})
	}
	w.bar.Update(k, relative)
}

// Note implements lsm.Observer.
func (w *watcher) Note(text string) {
	if !w.quiet {
		w.say(report.Printable(text))
	}
}

// Warn implements lsm.Observer.
func (w *watcher) Warn(text string) {
	if !otherRank() {
		w.say("warning: " + report.Printable(text))
	}
}

// Saved implements lsm.Observer. The user may not see the end of the run.
func (w *watcher) Saved(text string) {
	if !otherRank() && w.signals.stop().Hurry {
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
