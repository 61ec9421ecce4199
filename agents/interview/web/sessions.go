package web

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/sessionlist"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/htmlpage"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// sessions lists sessions: GET /sessions?format=json|html|csv, with the parameters of sessionlist.Read.
// Browsers get a page by default, others JSON.
func (s *Server) sessions(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	kind := query.Get("format")
	if kind == "" && strings.Contains(r.Header.Get("Accept"), "text/html") {
		kind = "html"
	}
	query.Del("format")
	most := sessionlist.Max
	if kind == "html" {
		most = maxRows
	}
	l, err := sessionlist.Read(query, most)
	switch kind {
	case "", "json":
		if err != nil {
			s.refuse(w, r, newProblem(http.StatusBadRequest, "invalid", err.Error()))
			return
		}
		s.sessionsJSON(w, r, l)
	case "csv":
		if err != nil {
			s.refuse(w, r, newProblem(http.StatusBadRequest, "invalid", err.Error()))
			return
		}
		if query.Get("limit") == "" {
			l.Limit = 0
		}
		s.sessionsCSV(w, r, l)
	case "html":
		s.sessionsPage(w, r, l, query, err)
	default:
		s.refuse(w, r, newProblem(http.StatusBadRequest, "invalid", "format must be json, html or csv"))
	}
}

// sessionsJSON answers with a page of the list. If there may be more, next is the value of after for the
// next page.
func (s *Server) sessionsJSON(w http.ResponseWriter, r *http.Request, l session.Listing) {
	found, err := s.deps.Store.List(r.Context(), l)
	if err != nil {
		s.refuse(w, r, storeProblem(err))
		return
	}
	page := struct {
		Sessions []sessionlist.Entry `json:"sessions"`
		Next     string              `json:"next,omitempty"`
	}{Sessions: make([]sessionlist.Entry, len(found))}
	for i := range found {
		page.Sessions[i] = sessionlist.Of(&found[i])
	}
	if len(found) == l.Limit {
		page.Next = l.Cursor(&found[len(found)-1])
	}
	writeJSON(w, http.StatusOK, page)
}

// sessionsCSV streams the list. If the store fails after the first page, the connection is cut off, so
// that the client does not take the part for the whole.
func (s *Server) sessionsCSV(w http.ResponseWriter, r *http.Request, l session.Listing) {
	pages := sessionlist.Pages(l, func(l session.Listing) ([]session.Session, error) { return s.deps.Store.List(r.Context(), l) })
	first, err := pages()
	if err != nil {
		s.refuse(w, r, storeProblem(err))
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	w.Header().Set("Content-Disposition", `attachment; filename="sessions.csv"`)
	w.Header().Set("Cache-Control", "no-store")
	err = sessionlist.CSV(w, func() ([]session.Session, error) {
		if page := first; page != nil {
			first = nil
			return page, nil
		}
		return pages()
	})
	if err != nil && r.Context().Err() == nil {
		noteOf(r).failed(storeProblem(err))
		panic(http.ErrAbortHandler)
	}
}

// maxRows is the maximum number of sessions on a page for people, and pageRows the default.
const (
	maxRows  = 200
	pageRows = 50
)

// sessionsPage is the list for people. refused is the error of a filter.
func (s *Server) sessionsPage(w http.ResponseWriter, r *http.Request, l session.Listing, query url.Values, refused error) {
	status, p := http.StatusOK, operatorsPage{query: query, now: s.deps.Clock.Now()}
	if query.Get("limit") == "" {
		l.Limit = pageRows
	}
	if refused != nil {
		status, p.Alert = http.StatusBadRequest, refused.Error()
		noteOf(r).code = "invalid"
	}
	found, err := []session.Session(nil), error(nil)
	if refused == nil {
		found, err = s.deps.Store.List(r.Context(), l)
	}
	var counts []session.StatusCount
	var costs []session.Total
	if err == nil {
		counts, err = s.deps.Store.Counts(r.Context(), p.now)
	}
	if err == nil {
		costs, err = s.deps.Store.Costs(r.Context(), session.Day(p.now)[:len("2026-01-")]+"01")
	}
	if err != nil {
		f := storeProblem(err)
		noteOf(r).failed(f)
		status, p.Alert, found, counts, costs = f.Status, f.Message, nil, nil, nil
	}
	p.addTotals(counts, costs, s.options.EURPerUSD)
	p.addRows(found, s.deps.Audit != nil)
	if len(found) == l.Limit {
		p.Next = p.link("after", l.Cursor(&found[len(found)-1]))
	}
	if query.Get("after") != "" {
		p.First = p.link("after", "")
	}
	p.CSV = p.link("format", "csv", "after", "", "limit", "")
	s.render(w, r, status, &p)
}

// operatorsPage is the list of interviews for operators, in English like the audit.
type operatorsPage struct {
	query url.Values
	now   time.Time

	Alert            string
	Statuses, Sorts  []filterChoice
	Totals           []statusTotal
	Today, Month     spending
	Rows             []sessionRow
	Next, First, CSV string
}

type filterChoice struct {
	Value, Text string
	Chosen      bool
}

type statusTotal struct {
	Text, Tint string
	Sessions   string
	Note       string
	Link       string
}

type spending struct{ Amount, Note string }

type sessionRow struct {
	sessionlist.Entry
	Text, Tint, Detail, Cost, Age string
	Started, Changed              string
	Audit                         string
}

// statusTexts name the statuses for people.
var statusTexts = map[session.Status]struct{ text, tint string }{
	session.StatusOpen:     {"waiting for the candidate", "info"},
	session.StatusOwing:    {"running", "info"},
	session.StatusStuck:    {"stuck", "fail"},
	session.StatusLimited:  {"limited", "error"},
	session.StatusFinished: {"finished", "pass"},
}

// sortTexts name the orders for people.
var sortTexts = map[session.Sort]string{
	session.Newest: "newest first", session.Oldest: "oldest first", session.Latest: "last change first",
	session.Longest: "longest without a change first", session.Dearest: "dearest first",
}

func (p *operatorsPage) addTotals(counts []session.StatusCount, costs []session.Total, eurPerUSD float64) {
	by := map[session.Status]session.StatusCount{}
	for _, c := range counts {
		by[c.Status] = c
	}
	for _, status := range session.Statuses() {
		c, text := by[status], statusTexts[status]
		t := statusTotal{Text: text.text, Sessions: format.Int(c.Sessions), Link: "/sessions?status=" + string(status)}
		if c.Sessions > 0 {
			t.Tint = text.tint
		}
		if c.Sessions > 0 && status.Owes() {
			t.Note = "longest: " + ageText(p.now.Sub(c.Oldest))
		}
		p.Totals = append(p.Totals, t)
	}
	today := session.Day(p.now)
	p.Month = spent(costs, eurPerUSD, func(session.Total) bool { return true })
	p.Today = spent(costs, eurPerUSD, func(t session.Total) bool { return t.Day == today })
}

// spent adds up costs in EUR. Costs that are unknown, or in a currency without a rate, are counted.
func spent(costs []session.Total, eurPerUSD float64, of func(session.Total) bool) spending {
	var sum float64
	var calls, unknown int
	for _, t := range costs {
		if !of(t) {
			continue
		}
		calls += t.Calls
		unknown += t.Unpriced
		if t.Unpriced == t.Calls {
			continue
		}
		eur, ok := quantity.Money{Amount: t.Cost, Currency: t.Currency}.In(quantity.EUR, eurPerUSD)
		if !ok {
			unknown += t.Calls - t.Unpriced
		}
		sum += eur
	}
	s := spending{Amount: format.Amount(sum, string(quantity.EUR)), Note: format.Count(calls, "call")}
	if unknown > 0 {
		s.Note += ", " + format.Int(unknown) + " of unknown cost"
		if unknown == calls {
			s.Amount = "unknown"
		} else {
			s.Amount = "at least " + s.Amount
		}
	}
	return s
}

func (p *operatorsPage) addRows(found []session.Session, audits bool) {
	for i := range found {
		e := sessionlist.Of(&found[i])
		text := statusTexts[e.Status]
		row := sessionRow{
			Entry: e, Text: text.text, Tint: text.tint, Detail: e.Failed, Cost: "unknown",
			Age:     ageText(p.now.Sub(e.Since)),
			Started: format.Time(e.Created), Changed: format.Time(e.Since),
		}
		switch {
		case e.CostEUR != nil:
			row.Cost = format.Money(*e.CostEUR)
		case e.SpentEUR > 0:
			row.Cost = "about " + format.Money(e.SpentEUR)
		}
		if e.Limit != "" {
			row.Detail = e.Limit
		}
		if audits {
			row.Audit = "/sessions/" + url.PathEscape(e.ID) + "/audit?format=html"
		}
		p.Rows = append(p.Rows, row)
	}
	for _, status := range session.Statuses() {
		p.Statuses = append(p.Statuses, filterChoice{string(status), statusTexts[status].text, p.query.Get("status") == string(status)})
	}
	for _, order := range session.Sorts() {
		p.Sorts = append(p.Sorts, filterChoice{string(order), sortTexts[order], p.query.Get("sort") == string(order)})
	}
}

// ageText returns a duration in whole days from two days on.
func ageText(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day {
		return format.Count(int(d/day), "day")
	}
	return format.Seconds(max(0, d.Truncate(time.Second).Seconds()))
}

// link returns the address of this list with other parameters; an empty value removes one.
func (p *operatorsPage) link(pairs ...string) string {
	query := url.Values{}
	for key := range p.query {
		if value := p.query.Get(key); value != "" {
			query.Set(key, value)
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		query.Del(pairs[i])
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return "/sessions?" + query.Encode()
}

// Filter returns a parameter of the list.
func (p *operatorsPage) Filter(key string) string { return p.query.Get(key) }

// Filtered reports whether a filter is set.
func (p *operatorsPage) Filtered() bool {
	for key := range p.query {
		if p.query.Get(key) != "" {
			return true
		}
	}
	return false
}

// Frame returns the frame for the shared template.
func (p *operatorsPage) Frame() htmlpage.Frame {
	return htmlpage.Frame{Lang: "en", Title: "Interviews · rehearse", Head: []template.HTML{
		template.HTML(`<link rel="icon" href="` + assetURL("icon.svg") + `" type="image/svg+xml">`), //nolint:gosec // the address is ours
		template.HTML(`<link rel="stylesheet" href="` + assetURL("operators.css") + `">`),           //nolint:gosec // the address is ours
	}}
}

func (p *operatorsPage) render() ([]byte, error) { return renderTemplate("operators.html", p) }
