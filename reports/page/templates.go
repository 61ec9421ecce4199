package page

import (
	"embed"
	"html/template"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/htmlpage"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets/style.css
var style string

//go:embed assets/script.js
var script string

// templates are parsed when the first page is rendered: a program that links this
// package and shows no page starts without them.
var templates = sync.OnceValue(func() *template.Template {
	frame := template.Must(htmlpage.Template().Clone())
	return template.Must(frame.Funcs(listFuncs).ParseFS(templateFiles, "templates/*.html"))
})
