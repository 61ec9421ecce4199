package view

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/htmlpage"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets/view.css
var style string

//go:embed assets/view.js
var script string

var templates = sync.OnceValue(func() *template.Template {
	t := template.Must(htmlpage.Template().Clone()).Funcs(template.FuncMap{
		"sign":  func(v gate.Verdict) string { return signs[v] },
		"short": sanitize.Line,
	})
	return template.Must(t.ParseFS(templateFiles, "templates/*.html"))
})

var signs = map[gate.Verdict]string{gate.Pass: "✓", gate.Fail: "✗", gate.Error: "!", gate.Skip: "–"}

// frame is what all pages have.
type frame struct {
	Frame htmlpage.Frame
	// Crumbs lead to the pages above.
	Crumbs []crumb
}

// crumb is a link to a page of the server.
type crumb struct{ Link, Name string }

// maxTitle limits names in titles, in characters.
const maxTitle = 120

func (s *Server) frame(title string, crumbs ...crumb) frame {
	for i := range crumbs {
		crumbs[i].Name = sanitize.Line(crumbs[i].Name, maxTitle)
	}
	return frame{htmlpage.Frame{
		Lang: "en", Title: sanitize.Line(title, maxTitle) + " · rehearse", Tool: s.opts.Tool,
		Head: []template.HTML{`<link rel="stylesheet" href="/style.css">`, `<script src="/script.js"></script>`},
	}, crumbs}
}

// show renders a page; nothing is sent if that fails.
func show(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "the page cannot be rendered: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client may have left
}

// failure is an error with its HTTP status and a hint for the reader.
type failure struct {
	status int
	err    error
	hint   string
}

func (f *failure) Error() string { return f.err.Error() }

func notFound(format string, args ...any) error {
	return &failure{http.StatusNotFound, fmt.Errorf(format, args...), ""}
}

// problem is the data of the page of an error.
type problem struct {
	frame
	Status     int
	Text, Hint string
}

// fail shows an error.
func (s *Server) fail(w http.ResponseWriter, err error) {
	f, ok := errors.AsType[*failure](err)
	switch {
	case ok:
	case errors.Is(err, record.ErrNoTrial):
		f = &failure{http.StatusNotFound, err, "the recording may be cut off, or that of another run"}
	case errors.Is(err, rundir.ErrTrialTooLarge):
		f = &failure{http.StatusUnprocessableEntity, err, ""}
	case errors.Is(err, fs.ErrNotExist):
		f = &failure{http.StatusNotFound, err, "it may have been deleted; rehearse history prune removes such runs from the list"}
	case errors.Is(err, context.Canceled):
		f = &failure{http.StatusServiceUnavailable, err, "the server ends"}
	default:
		f = &failure{http.StatusInternalServerError, err, ""}
	}
	show(w, f.status, "problem", problem{s.frame("Problem"), f.status, sanitize.Line(f.err.Error(), 2000), f.hint})
}

// routes returns the pages. Each is measured.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	add := func(route string, serve func(w http.ResponseWriter, r *http.Request) error) {
		mux.Handle("GET "+route, s.metrics.timed(route, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := serve(w, r); err != nil {
				s.fail(w, err)
			}
		})))
	}
	add("/{$}", s.runs)
	add("/runs/{id}", s.run)
	add("/runs/{id}/s/{name}", s.scenario)
	add("/runs/{id}/s/{name}/t/{n}", s.trial)
	add("/compare", s.compare)
	add("/s/{name}", s.trend)
	add("/", func(_ http.ResponseWriter, r *http.Request) error {
		return notFound("there is no page %.200q", r.URL.Path)
	})
	mux.HandleFunc("GET /runs/{id}/events", s.events) // ends with the client
	mux.Handle("GET /metrics", s.metrics.registry.Handler())
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	asset := func(route, kind, text string) {
		mux.HandleFunc("GET "+route, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(text)) // the client may have left
		})
	}
	asset("/style.css", "text/css; charset=utf-8", htmlpage.Style(page.Style()+style))
	asset("/script.js", "text/javascript; charset=utf-8", htmlpage.Common+script)
	return mux
}

// The addresses of pages.
func runLink(id string) string { return "/runs/" + url.PathEscape(id) }

func scenarioLink(id, scenario string) string { return runLink(id) + "/s/" + url.PathEscape(scenario) }

func trialLink(id, scenario string, n int) string {
	return fmt.Sprintf("%s/t/%d", scenarioLink(id, scenario), n)
}

func trendLink(of string, variant string) string {
	link := "/s/" + url.PathEscape(of)
	if variant != "" {
		link += "?variant=" + url.QueryEscape(variant)
	}
	return link
}

func compareLink(a, b, scenario string) string {
	query := url.Values{"a": {a}, "b": {b}}
	if scenario != "" {
		query.Set("scenario", scenario)
	}
	return "/compare?" + query.Encode()
}

// pager leads through a long list.
type pager struct{ Newer, Older, Text string }

// paging returns the part of a list of n things that a page shows, and its pager. The address has all
// parameters of the request.
func paging(r *http.Request, n, size int, noun string) (from, to int, p pager) {
	from = number(r, "from", 0)
	if from >= n {
		from = 0
	}
	to = min(n, from+size)
	if from > 0 {
		p.Newer = withFrom(r, max(0, from-size))
	}
	if to < n {
		p.Older = withFrom(r, to)
	}
	if n > size {
		p.Text = fmt.Sprintf("%d to %d of %d %s", from+1, to, n, noun)
	}
	return from, to, p
}

func withFrom(r *http.Request, from int) string {
	query := r.URL.Query()
	query.Del("from")
	if from > 0 {
		query.Set("from", fmt.Sprint(from))
	}
	return r.URL.EscapedPath() + "?" + query.Encode()
}

// number returns a parameter that is a small number, or other.
func number(r *http.Request, name string, other int) int {
	var n int
	if _, err := fmt.Sscanf(strings.TrimSpace(r.FormValue(name)), "%d", &n); err != nil || n < 0 || n > 1e9 {
		return other
	}
	return n
}
