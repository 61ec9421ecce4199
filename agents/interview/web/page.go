package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/htmlpage"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates are parsed when the first page is rendered.
var templates = sync.OnceValue(func() *template.Template {
	frame := template.Must(htmlpage.Template().Clone())
	return template.Must(frame.ParseFS(templateFiles, "templates/*.html"))
})

// startPage is the page on which an interview begins.
type startPage struct {
	// Language is the language of the page, which is preselected.
	Language session.Language
	// Job is the id of the job in the address, if any, and JobTitle its title. Jobs are the jobs to
	// choose from.
	Job, JobTitle string
	Jobs          []jobChoice
	// Offered are the languages to choose from.
	Offered []session.Language
	// Candidate is the submitted identifier.
	Candidate string
	// Problem is the code of the problem, if any.
	Problem string
	// Invitation is the token of an invitation, and Invited is true if one is needed.
	Invitation string
	Invited    bool
	// Ongoing is the session to continue in this browser; may be nil.
	Ongoing *session.Session
}

func (s startPage) render() ([]byte, error) {
	w := textsIn(s.Language, session.Formal)
	data := struct {
		pageFrame
		startPage
		Languages          []languageChoice
		Alert, Place, Used string
		Complete           bool
	}{pageFrame: newPageFrame(w, s.Language, session.Formal, w.Title), startPage: s}
	if one := s.Ongoing; one != nil {
		data.Place, data.Used = placeText(w, *one), one.Updated.UTC().Format(data.L.Date)
		data.Complete = one.Phase == session.Finished
	}
	for _, l := range s.Offered {
		data.Languages = append(data.Languages, languageChoice{l, languageNames[l], l == data.Lang})
	}
	if s.Problem != "" {
		data.Alert = w.problem(s.Problem)
	}
	return renderTemplate("start.html", data)
}

// errorPage is the page for a problem that does not belong to an interview.
type errorPage struct {
	Language session.Language
	// Problem is the code of the problem.
	Problem string
}

func (m errorPage) render() ([]byte, error) {
	w := textsIn(m.Language, session.Formal)
	title := w.ErrorTitle
	switch m.Problem {
	case "not_found", "unknown_session", "unknown_job":
		title = w.NotFoundTitle
	case "deleted_session":
		title = laterIn(m.Language, session.Formal).GoneTitle
	}
	return renderTemplate("missing.html", struct {
		pageFrame
		Alert string
		Code  bool // may open the interview
		Gone  bool
		Audit bool // not a page of an interview
	}{
		newPageFrame(w, m.Language, session.Formal, title), w.problem(m.Problem),
		slices.Contains([]string{"bad_link", "expired_address", "expired_link"}, m.Problem),
		m.Problem == "deleted_session", m.Problem == "bad_share" || m.Problem == "ended_share",
	})
}

// pageFrame is the common part of the pages.
type pageFrame struct {
	T     pageTexts
	L     laterTexts
	Lang  session.Language
	Title string
}

// Frame returns the frame for the shared template.
func (f pageFrame) Frame() htmlpage.Frame {
	return htmlpage.Frame{Lang: string(f.Lang), Title: f.Title + " · " + f.T.Name, Head: []template.HTML{
		template.HTML(`<link rel="icon" href="` + assetURL("icon.svg") + `" type="image/svg+xml">`), //nolint:gosec // the address is ours
		template.HTML(`<link rel="stylesheet" href="` + assetURL("style.css") + `">`),               //nolint:gosec // the address is ours
		template.HTML(`<script src="` + assetURL("app.js") + `" defer></script>`),                   //nolint:gosec // the address is ours
	}}
}

func newPageFrame(w pageTexts, l session.Language, r session.Register, title string) pageFrame {
	if _, ok := catalog[l]; !ok {
		l = session.French
	}
	return pageFrame{T: w, L: laterIn(l, r), Lang: l, Title: title}
}

type languageChoice struct {
	Code   session.Language
	Name   string
	Chosen bool
}

func renderTemplate(name string, data any) ([]byte, error) {
	var out bytes.Buffer
	if err := templates().ExecuteTemplate(&out, name, data); err != nil {
		return nil, fmt.Errorf("render the page %s: %w", name, err)
	}
	return out.Bytes(), nil
}
