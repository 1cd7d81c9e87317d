package report

import (
	_ "embed"
	"html/template"
	"sync"
)

//go:embed page.html
var pageText string

// pageStyle is ours, so that the template may copy it as it is.
//
//go:embed page.css
var pageStyle template.CSS

// pageTemplate is parsed on first use.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageText))
})

// pageView is what the template shows: a page with everything worked out.
type pageView struct {
	Page
	Style            template.CSS
	Figures          []figureView
	Files            []fileView
	Timings          timingsView
	Created, Machine string // the time, for people and for programs
}

// fileView is a file with its address and size.
type fileView struct {
	File
	Link, Size string
}
