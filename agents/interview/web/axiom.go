package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
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
		in.Job = s.jobOf(r, in.Job, in.Invitation)
		offered := s.offered(in.Job)
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
	shown := &view
	if failed, ok := errors.AsType[*interview.Error](err); ok && failed.View != nil {
		shown = failed.View
	}
	// A submission changes nothing in a finished interview, so its access is checked afterwards.
	if in.Session != "" && shown.Finished {
		if _, f := s.openSession(r, in.Session); f != nil && f.Code == "expired_address" {
			return interview.View{}, f
		}
	}
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

// auditPolicy allows the inline style of an audit page.
const auditPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// audit handles GET /sessions/{session}/audit?format=json|html (I-15). JSON is the default.
func (s *Server) audit(w http.ResponseWriter, r *http.Request) {
	s.writeAudit(w, r, r.PathValue("session"), cmp.Or(r.URL.Query().Get("format"), "json"), nil)
}

// sharedAudit handles GET /audit/{share}?format=html|json, the audit of one session for whoever has the
// token of a share. The page is the default. The session's id is neither in the address nor in the audit.
func (s *Server) sharedAudit(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Robots-Tag", "noindex")
	share, err := s.deps.Store.OpenShare(r.Context(), session.HashShare(r.PathValue("share")), s.deps.Clock.Now())
	noteOf(r).session, noteOf(r).share = share.Session, share.ID()
	switch {
	case errors.Is(err, session.ErrConflict):
		s.refuseAny(w, r, newProblem(http.StatusGone, "ended_share", "the link to this audit has expired or was revoked"))
	case errors.Is(err, session.ErrNotFound):
		s.refuseAny(w, r, newProblem(http.StatusNotFound, "bad_share", "no audit has this link, or the session was deleted"))
	case err != nil:
		s.refuseAny(w, r, storeProblem(err))
	default:
		s.writeAudit(w, r, share.Session, cmp.Or(r.URL.Query().Get("format"), "html"), &share)
	}
}

func (s *Server) writeAudit(w http.ResponseWriter, r *http.Request, id, format string, share *session.Share) {
	noteOf(r).session = id
	html, media := false, "application/json; charset=utf-8"
	switch format {
	case "json":
	case "html":
		html, media = true, "text/html; charset=utf-8"
		w.Header().Set("Content-Security-Policy", auditPolicy)
	default:
		s.refuse(w, r, newProblem(http.StatusBadRequest, "invalid", "format must be json or html"))
		return
	}
	var body bytes.Buffer
	if err := s.deps.Audit(r.Context(), &body, id, html, share); err != nil {
		s.refuse(w, r, storeProblem(err))
		return
	}
	writeBody(w, http.StatusOK, media, body.Bytes())
}
