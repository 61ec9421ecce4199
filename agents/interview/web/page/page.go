// Package page renders the pages on which a person takes an interview. They work
// without JavaScript, by keyboard and with a screen reader.
package page

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/htmlpage"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates are parsed when the first page is rendered: a program that links this
// package and shows no page starts without them.
var templates = sync.OnceValue(func() *template.Template {
	frame := template.Must(htmlpage.Template().Clone())
	return template.Must(frame.ParseFS(templateFiles, "templates/*.html"))
})

// Start is the page where an interview begins.
type Start struct {
	// Language is that of the page, and the one that is chosen at first.
	Language session.Language
	// Offered are the languages to choose from.
	Offered []session.Language
	// Candidate is what was written before.
	Candidate string
	// Problem is the code of what went wrong; empty if nothing did.
	Problem string
}

// Render returns the page.
func (s Start) Render() ([]byte, error) {
	w := in(s.Language)
	data := struct {
		frame
		Start
		Languages []language
		Alert     string
	}{frame: newFrame(w, s.Language, w.Title), Start: s}
	for _, l := range s.Offered {
		data.Languages = append(data.Languages, language{l, languageNames[l], l == data.Lang})
	}
	if s.Problem != "" {
		data.Alert = w.problem(s.Problem)
	}
	return render("start.html", data)
}

// Missing is the page of an error that belongs to no interview.
type Missing struct {
	Language session.Language
	// Problem is the code of what went wrong.
	Problem string
}

// Render returns the page.
func (m Missing) Render() ([]byte, error) {
	w := in(m.Language)
	title := w.ErrorTitle
	if m.Problem == "not_found" || m.Problem == "unknown_session" {
		title = w.NotFoundTitle
	}
	return render("missing.html", struct {
		frame
		Alert string
	}{newFrame(w, m.Language, title), w.problem(m.Problem)})
}

// frame is what every page has.
type frame struct {
	T     words
	Lang  session.Language
	Title string
}

// Frame is what the pages share with all others.
func (f frame) Frame() htmlpage.Frame {
	return htmlpage.Frame{Lang: string(f.Lang), Title: f.Title + " · " + f.T.Name, Head: []template.HTML{
		template.HTML(`<link rel="icon" href="` + asset("icon.svg") + `" type="image/svg+xml">`), //nolint:gosec // the address is ours
		template.HTML(`<link rel="stylesheet" href="` + asset("style.css") + `">`),               //nolint:gosec // the address is ours
		template.HTML(`<script src="` + asset("app.js") + `" defer></script>`),                   //nolint:gosec // the address is ours
	}}
}

func newFrame(w words, l session.Language, title string) frame {
	if _, ok := catalog[l]; !ok {
		l = session.French
	}
	return frame{T: w, Lang: l, Title: title}
}

type language struct {
	Code   session.Language
	Name   string
	Chosen bool
}

func render(name string, data any) ([]byte, error) {
	var out bytes.Buffer
	if err := templates().ExecuteTemplate(&out, name, data); err != nil {
		return nil, fmt.Errorf("render the page %s: %w", name, err)
	}
	return out.Bytes(), nil
}
