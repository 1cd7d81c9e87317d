package lsm

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/golops/golops/report"
)

// Notes on the files, for the page.
var fileNotes = map[string]string{
	"model.npy": "true reflectivity", "data.npy": "data, sources × receivers × samples", "adjoint.npy": "migrated image",
	"inverse.npy": "least-squares image", "residuals.csv": "norms after each iteration",
}

// page writes report.html, which shows everything on one page.
func (s *session[T]) page(res *Result, figures []report.Figure, add func(name string) string) error {
	p := report.Page{
		Title: "Least-squares migration", Result: res.Summary(), Figures: figures, Created: time.Now(),
		Facts: []report.Fact{
			{Name: "iterations", Value: fmt.Sprint(res.Iterations)},
			{Name: "residual", Value: fmt.Sprintf("%.3g", res.Reduction)},
			{Name: "ranks", Value: fmt.Sprint(s.r.Size())},
			{Name: "seconds", Value: fmt.Sprintf("%.1f", res.Elapsed.Seconds())},
		},
		Parameters: parameters(s.Config),
		Timings:    report.Timings{Phases: []string{"travel times", "data", "adjoint", "inversion"}},
		Libraries: []report.Library{
			{Name: "golops", Version: s.Version},
			{Name: "Go", Version: runtime.Version(), Note: runtime.GOOS + "/" + runtime.GOARCH},
			{Name: "communication", Version: s.r.Comm.String()},
		},
	}
	if notes := slices.Concat(res.Warnings, res.Notes); len(notes) > 0 {
		g := report.Group{Name: "notes"}
		for i, n := range notes {
			g.Parameters = append(g.Parameters, report.Parameter{Name: fmt.Sprint(i + 1), Value: n})
		}
		p.Parameters = append([]report.Group{g}, p.Parameters...)
	}
	if !math.IsNaN(res.Correlation) {
		p.Facts = append(p.Facts, report.Fact{Name: "model correlation", Value: fmt.Sprintf("%.3f", res.Correlation)})
	}
	for _, t := range res.Timings {
		p.Timings.Ranks = append(p.Timings.Ranks, report.RankTimes{
			Rank: t.Rank, Where: fmt.Sprintf("%s, %d traces", t.Device, t.Traces), Seconds: []float64{t.Tables, t.Data, t.Adjoint, t.Inversion},
		})
	}
	for _, f := range res.Files {
		file := report.File{Name: f, Note: fileNotes[f]}
		if st, err := os.Stat(filepath.Join(s.dir, f)); err == nil {
			file.Size = st.Size()
		}
		p.Files = append(p.Files, file)
	}
	return report.Save(add("report.html"), p.HTML)
}

// parameters lists a configuration by the names that its file has.
func parameters(c Config) []report.Group {
	var groups []report.Group
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		name := f.Tag.Get("yaml")
		g := report.Group{Name: name}
		list(&g, "", v.Field(i), name)
		groups = append(groups, g)
	}
	return groups
}

func list(g *report.Group, prefix string, v reflect.Value, name string) {
	if v.Kind() != reflect.Struct {
		text := fmt.Sprint(v.Interface())
		if text == "" {
			text = "–"
		}
		g.Parameters = append(g.Parameters, report.Parameter{Name: name, Value: text})
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		sub := prefix + f.Tag.Get("yaml")
		if v.Field(i).Kind() == reflect.Struct {
			list(g, sub+".", v.Field(i), sub)
			continue
		}
		list(g, prefix, v.Field(i), sub)
	}
}
