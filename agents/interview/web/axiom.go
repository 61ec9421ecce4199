package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// axiom handles POST /axiom (I-01).
func (s *Server) axiom(w http.ResponseWriter, r *http.Request) {
	body, f := readBody(w, r, s.options.MaxBody)
	if f != nil {
		s.refuse(w, r, f)
		return
	}
	in, f := decodeSubmission(body)
	if f != nil {
		s.refuse(w, r, f)
		return
	}
	noteOf(r).session = in.Session
	view, f := s.handle(r, in)
	if f != nil {
		s.refuse(w, r, f)
		return
	}
	noteOf(r).session = view.SessionID
	writeJSON(w, http.StatusOK, view)
}

// handle passes a submission to the service. New interviews are limited in number, and begin in
// an offered language.
func (s *Server) handle(r *http.Request, in interview.Submission) (interview.View, *problem) {
	if in.Event == interview.EventStart || in.Session == "" {
		if refused := s.startAllowed(r); refused != nil {
			return interview.View{}, refused
		}
		offered := s.options.Languages
		if in.Language == "" {
			in.Language = offered[0]
		}
		if slices.Contains(session.Languages(), in.Language) && !slices.Contains(offered, in.Language) {
			return interview.View{}, newProblem(http.StatusBadRequest, string(interview.CodeInvalid),
				fmt.Sprintf("language must be one of %q", offered))
		}
	}
	in.Address = addressOf(r).String()
	if in.Session != "" {
		defer s.busy.enter(in.Session)()
	}
	view, err := s.deps.Service.Handle(r.Context(), in)
	if err != nil {
		return interview.View{}, serviceProblem(err)
	}
	return view, nil
}

// healthz reports whether the store answers.
func (s *Server) healthz(w http.ResponseWriter, r *http.Request) {
	if err := s.ping(r.Context()); err != nil {
		s.refuse(w, r, storeProblem(err))
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readyz reports whether the server accepts requests.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() {
		s.refuse(w, r, newProblem(http.StatusServiceUnavailable, "draining", "this server is shutting down"))
		return
	}
	s.healthz(w, r)
}

// pingTimeout is the maximum time for the store to answer a health check.
const pingTimeout = 5 * time.Second

func (s *Server) ping(ctx context.Context) error {
	ctx, cancel := s.deps.Clock.WithTimeout(ctx, pingTimeout)
	defer cancel()
	_, err := s.deps.Store.List(ctx, session.Listing{Limit: 1})
	return err
}

// summary is one line of the list of sessions.
type summary struct {
	ID        string           `json:"id"`
	Candidate string           `json:"candidate"`
	Language  session.Language `json:"language"`
	Step      session.Step     `json:"step"`
	Phase     session.Phase    `json:"phase"`
	// Failed is the code of the last error, if the owed message failed.
	Failed   string    `json:"failed,omitempty"`
	Messages int       `json:"messages"`
	Calls    int       `json:"calls"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
}

// maxPage is the maximum length of a page of the list.
const maxPage = 1000

// sessions lists sessions, newest first: GET /sessions?candidate=&limit=&before=. If there may be
// more, next is the value of before for the next page.
func (s *Server) sessions(w http.ResponseWriter, r *http.Request) {
	listing, f := readListing(r.URL.Query())
	if f != nil {
		s.refuse(w, r, f)
		return
	}
	found, err := s.deps.Store.List(r.Context(), listing)
	if err != nil {
		s.refuse(w, r, storeProblem(err))
		return
	}
	page := struct {
		Sessions []summary  `json:"sessions"`
		Next     *time.Time `json:"next,omitempty"`
	}{Sessions: make([]summary, len(found))}
	for i, one := range found {
		page.Sessions[i] = summarize(one)
	}
	if len(found) == listing.Limit {
		page.Next = &found[len(found)-1].Created
	}
	writeJSON(w, http.StatusOK, page)
}

func summarize(one session.Session) summary {
	line := summary{
		ID: one.ID, Candidate: one.Candidate, Language: one.Language, Step: one.Step, Phase: one.Phase,
		Messages: one.Messages, Calls: one.Calls, Created: one.Created, Updated: one.Updated,
	}
	if one.Owed != nil {
		line.Failed = one.Owed.Failed
	}
	return line
}

func readListing(query url.Values) (session.Listing, *problem) {
	l := session.Listing{Limit: 100}
	for key, values := range query {
		var err error
		switch key {
		case "candidate":
			l.Candidate = values[0]
		case "limit":
			l.Limit, err = strconv.Atoi(values[0])
			if err == nil && (l.Limit < 1 || l.Limit > maxPage) {
				err = errors.New("out of range")
			}
		case "before":
			l.Before, err = time.Parse(time.RFC3339Nano, values[0])
		default:
			return l, newProblem(http.StatusBadRequest, "unknown_field", "the parameters of the list are candidate, limit and before")
		}
		if err != nil || len(values) > 1 {
			return l, newProblem(http.StatusBadRequest, "invalid",
				"limit must be a number from 1 to "+strconv.Itoa(maxPage)+" and before a time such as 2026-01-31T10:00:00Z, each given once")
		}
	}
	return l, nil
}

// auditPolicy allows the inline style of an audit page.
const auditPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// audit handles GET /sessions/{session}/audit?format=json|html (I-15).
func (s *Server) audit(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("session")
	noteOf(r).session = id
	html, media := false, "application/json; charset=utf-8"
	switch r.URL.Query().Get("format") {
	case "", "json":
	case "html":
		html, media = true, "text/html; charset=utf-8"
		w.Header().Set("Content-Security-Policy", auditPolicy)
	default:
		s.refuse(w, r, newProblem(http.StatusBadRequest, "invalid", "format must be json or html"))
		return
	}
	var body bytes.Buffer
	if err := s.deps.Audit(r.Context(), &body, id, html); err != nil {
		s.refuse(w, r, storeProblem(err))
		return
	}
	writeBody(w, http.StatusOK, media, body.Bytes())
}
