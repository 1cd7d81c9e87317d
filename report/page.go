package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Page is a report of a run as one HTML file that needs no other: pictures and
// styles are in it, it asks for nothing over the network and runs no scripts.
// Parts that are empty are left out. All texts are shown as they are; none is
// taken for HTML.
type Page struct {
	Title      string    // what was done, such as "Least-squares migration"
	Result     string    // the result in one line
	Facts      []Fact    // a few numbers to be seen first
	Figures    []Figure  // in the order they are shown
	Parameters []Group   // of the run
	Timings    Timings   // of each rank
	Libraries  []Library // used
	Files      []File    // written beside the page
	Command    string    // that made it
	Created    time.Time // when; the zero value shows no time
}

// Fact is a number with a name, such as 100 iterations.
type Fact struct{ Name, Value string }

// Group is parameters that belong together.
type Group struct {
	Name       string
	Parameters []Parameter
}

// Parameter is one value that a run was given.
type Parameter struct {
	Name, Value string
	Note        string // what it means
}

// Library is one that the run used.
type Library struct {
	Name, Version string
	Note          string // where it was found, or why it was not
}

// File is one written beside the page.
type File struct {
	Name string // its path from the folder of the page
	Note string // what is in it
	Size int64  // in bytes; 0 shows none
}

// HTML writes the page.
func (p Page) HTML(w io.Writer) error {
	v, err := p.view()
	if err != nil {
		return fmt.Errorf("report: page %q: %w", p.Title, err)
	}
	if err := pageTemplate().Execute(w, v); err != nil {
		return fmt.Errorf("report: page %q: write HTML: %w", p.Title, err)
	}
	return nil
}

// Validate reports every fault at once.
func (p Page) Validate() error {
	_, err := p.view()
	return err
}

// view turns a page into what its template shows.
func (p Page) view() (v pageView, err error) {
	errs := []error{p.Timings.check()}
	if p.Title == "" {
		errs = append(errs, errors.New("it has no title"))
	}
	v = pageView{Page: p, Style: pageStyle}
	for i, f := range p.Figures {
		fv, err := f.view(i + 1)
		if err != nil {
			errs = append(errs, fmt.Errorf("figure %d, %q: %w", i+1, f.Title, err))
		}
		v.Figures = append(v.Figures, fv)
	}
	for _, f := range p.Files {
		link, err := f.link()
		errs = append(errs, err)
		v.Files = append(v.Files, fileView{f, link, formatBytes(f.Size)})
	}
	if err := errors.Join(errs...); err != nil {
		return v, err
	}
	v.Timings = p.Timings.view()
	if !p.Created.IsZero() {
		v.Created = p.Created.Format("2 January 2006, 15:04 MST")
		v.Machine = p.Created.Format(time.RFC3339)
	}
	return v, nil
}

// link is the address of a file from the page. A page is moved together with
// its files, so that a path to anywhere else would be wrong tomorrow.
func (f File) link() (string, error) {
	name := filepath.ToSlash(f.Name)
	if !filepath.IsLocal(f.Name) || strings.Contains(name, "\\") {
		return "", fmt.Errorf("file %q does not lie beside the page or below", f.Name)
	}
	parts := strings.Split(path.Clean(name), "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "./" + strings.Join(parts, "/"), nil
}

// formatBytes writes a size with at most three digits before the point.
func formatBytes(n int64) string {
	if n <= 0 {
		return ""
	}
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n), ""
	for _, unit = range []string{"kB", "MB", "GB", "TB"} {
		if x /= 1000; x < 999.5 {
			break
		}
	}
	if x < 9.95 {
		return fmt.Sprintf("%.1f %s", x, unit)
	}
	return fmt.Sprintf("%.0f %s", x, unit)
}

// formatSeconds writes a time with three digits.
func formatSeconds(s float64) string {
	switch {
	case s == 0:
		return "0 s"
	case s < 1e-3:
		return fmt.Sprintf("%.3g µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	case s < 99.95:
		return fmt.Sprintf("%.3g s", s)
	case s < 3600:
		return fmt.Sprintf("%.0f s", math.Round(s))
	}
	return shortDuration(time.Duration(s * float64(time.Second)))
}
