package app

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/golops/golops/report"
)

// page shows everything on one page.
func (r *Rank) page(figures []report.Figure) report.Page {
	res := &r.res
	p := report.Page{
		Title: r.title, Result: res.Summary(), Figures: figures, Created: time.Now(),
		Facts: []report.Fact{
			{Name: "ranks", Value: fmt.Sprint(r.Size())},
			{Name: "seconds", Value: fmt.Sprintf("%.1f", res.Elapsed.Seconds())},
		},
		Parameters: parameters(r.task.Config),
		Timings:    report.Timings{Phases: r.timing.Stages},
		Libraries: []report.Library{
			{Name: "golops", Version: res.Version},
			{Name: "Go", Version: runtime.Version(), Note: runtime.GOOS + "/" + runtime.GOARCH},
			{Name: "communication", Version: res.Comm},
		},
	}
	if res.Measure != "" {
		p.Facts = append([]report.Fact{{Name: "iterations", Value: fmt.Sprint(res.Iterations)}, {Name: res.Measure, Value: fmt.Sprintf("%.3g", res.Reduction)}}, p.Facts...)
	}
	if notes := slices.Concat(res.Warnings, res.Notes); len(notes) > 0 {
		g := report.Group{Name: "notes"}
		for i, n := range notes {
			g.Parameters = append(g.Parameters, report.Parameter{Name: fmt.Sprint(i + 1), Value: n})
		}
		p.Parameters = append([]report.Group{g}, p.Parameters...)
	}
	for _, n := range res.Numbers {
		if !math.IsNaN(n.Value) {
			p.Facts = append(p.Facts, report.Fact{Name: n.Name, Value: fmt.Sprintf(n.Format, n.Value)})
		}
	}
	for _, t := range res.Timings {
		where := t.Device
		if t.Work != "" {
			where += fmt.Sprintf(", %d %s", t.Amount, t.Work)
		}
		p.Timings.Ranks = append(p.Timings.Ranks, report.RankTimes{Rank: t.Rank, Where: where, Seconds: t.Seconds})
	}
	for _, name := range res.Files {
		f := report.File{Name: name}
		if i := slices.IndexFunc(r.files, func(f File) bool { return f.Name == name }); i >= 0 {
			f.Note = r.files[i].Note
		}
		if st, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
			f.Size = st.Size()
		}
		p.Files = append(p.Files, f)
	}
	return p
}

// parameters lists a configuration by the names that its file has.
func parameters(c any) (groups []report.Group) {
	for f, v := range fields(reflect.Indirect(reflect.ValueOf(c))) {
		g := report.Group{Name: f.Tag.Get("yaml")}
		list(&g, g.Name, v, "")
		groups = append(groups, g)
	}
	return groups
}

// list adds the parameters in v, whose key is name, to a group. Groups within it are in
// their names.
func list(g *report.Group, name string, v reflect.Value, prefix string) {
	if v.Kind() != reflect.Struct {
		text := fmt.Sprint(v.Interface())
		if text == "" {
			text = "–"
		}
		g.Parameters = append(g.Parameters, report.Parameter{Name: strings.TrimPrefix(prefix+"."+name, "."), Value: text})
		return
	}
	if name != g.Name || prefix != "" {
		prefix = strings.TrimPrefix(prefix+"."+name, ".")
	}
	for f, v := range fields(v) {
		list(g, f.Tag.Get("yaml"), v, prefix)
	}
}
