package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// start shows the page on which an interview begins, or the list of the jobs if there are several.
func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	s.showStart(w, r, http.StatusOK, startPage{Ongoing: s.remembered(w, r), Invitation: invitationOf(r)})
}

// showStart completes p for the job of the request and renders it.
func (s *Server) showStart(w http.ResponseWriter, r *http.Request, status int, p startPage) {
	p.Invited = s.options.Invite
	p.Job = s.jobOf(r, r.PathValue("job"), p.Invitation)
	p.Offered = s.offered(p.Job)
	p.Language = s.preferredOf(r, p.Offered)
	p.Jobs = jobChoices(s.options.Jobs, p.Language)
	if p.Job != "" {
		i := slices.IndexFunc(p.Jobs, func(c jobChoice) bool { return c.ID == p.Job })
		if i < 0 {
			s.refusePage(w, r, newProblem(http.StatusNotFound, string(interview.CodeUnknownJob), "there is no such job"))
			return
		}
		p.JobTitle, p.Jobs = p.Jobs[i].Title, nil
	} else if len(p.Jobs) == 1 {
		p.Jobs = nil
	}
	s.render(w, r, status, p)
}

// invitationOf returns the token in the link of an invitation, if it can be one.
func invitationOf(r *http.Request) string {
	token := r.URL.Query().Get("invite")
	if len(token) > maxName || !utf8.ValidString(token) || controlIndex(token) >= 0 {
		return ""
	}
	return token
}

// begin starts an interview and redirects to its page.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) {
	form, f := s.readForm(w, r)
	if f != nil {
		s.refusePage(w, r, f)
		return
	}
	in := interview.Submission{
		Event: interview.EventStart, Candidate: form.get("candidate"), Language: session.Language(form.get("language")),
		Job:        r.PathValue("job"),
		Invitation: strings.TrimSpace(form.get("invitation")),
	}
	view, f := s.handle(r, in)
	if f != nil {
		noteOf(r).failed(f)
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", f.retryAfter())
		}
		s.showStart(w, r, f.Status, startPage{Candidate: in.Candidate, Problem: f.Code, Invitation: in.Invitation})
		return
	}
	s.toPage(w, r, view.SessionID)
}

// interview shows the page of one interview. It does not change the session.
func (s *Server) interview(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusOK, interviewPage{})
}

// show completes p with the current state of the interview and renders it.
func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, p interviewPage) {
	id := r.PathValue("session")
	var f *problem
	if p.Session, f = s.openSession(r, id); f == nil {
		var err error
		if p.Messages, err = s.deps.Store.Messages(r.Context(), id); err != nil {
			f = storeProblem(err)
		}
	}
	if f != nil {
		s.refusePage(w, r, f)
		return
	}
	p.Working, p.Submission = s.working(p.Session), s.deps.NewID()
	s.render(w, r, status, p)
}

// submit handles the form of the page, and redirects to the page, so that a reload does not
// submit again.
func (s *Server) submit(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("session")
	noteOf(r).session = id
	form, f := s.readForm(w, r)
	if f != nil {
		s.resubmit(w, r, f, form)
		return
	}
	in := interview.Submission{
		Session: id, Message: form.answer(), Event: interview.Event(form.get("event")),
		ID: form.get("submissionId"), ReplyTo: form.get("replyTo"),
	}
	if in.Message != "" && in.Event == interview.EventGo {
		in.Event = "" // do not discard a comment
	}
	view, f := s.handle(r, in)
	switch {
	case f != nil:
		s.resubmit(w, r, f, form)
	case view.Repeated && in.Message != "" && !s.submitted(r, in):
		noteOf(r).code = "answered_before"
		s.show(w, r, http.StatusConflict, interviewPage{Unsent: in.Message})
	default:
		s.toPage(w, r, id)
	}
}

// submitted reports whether a submission was stored. If the store fails it returns true: the next
// page shows what was stored.
func (s *Server) submitted(r *http.Request, in interview.Submission) bool {
	taken, err := s.deps.Store.Submitted(r.Context(), in.Session, in.ID)
	return taken || err != nil
}

// resubmit answers a failed submission. If the answer is stored, the page shows the state of the
// next message. Otherwise it contains the text, to be sent again.
func (s *Server) resubmit(w http.ResponseWriter, r *http.Request, f *problem, form form) {
	noteOf(r).failed(f)
	switch interview.Code(f.Code) {
	case interview.CodeUnknown, "deleted_session", "expired_address":
		s.refusePage(w, r, f)
	case interview.CodeBackend, interview.CodeReply:
		s.toPage(w, r, r.PathValue("session"))
	default:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", f.retryAfter())
		}
		s.show(w, r, f.Status, interviewPage{Problem: f.Code, Typed: form.get("message"), Choice: form.get("choice")})
	}
}

// toPage redirects to the page of a session.
func (s *Server) toPage(w http.ResponseWriter, r *http.Request, id string) {
	noteOf(r).session = id
	s.remember(w, r, id)
	redirect(w, r, "/s/"+id)
}

// redirect answers a form with the address of a page.
func redirect(w http.ResponseWriter, r *http.Request, path string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, path, http.StatusSeeOther)
}

// form is a submitted form.
type form url.Values

func (f form) get(key string) string { return url.Values(f).Get(key) }

// answer returns the choice, if any, followed by the text.
func (f form) answer() string {
	choice, text := strings.TrimSpace(f.get("choice")), strings.TrimSpace(f.get("message"))
	if choice == "" || text == "" {
		return choice + text
	}
	return choice + "\n\n" + text
}

// readForm reads a form, with lines that end in LF. It returns the form also if one of its fields
// is invalid.
func (s *Server) readForm(w http.ResponseWriter, r *http.Request) (form, *problem) {
	r.Body = http.MaxBytesReader(w, r.Body, s.options.MaxBody)
	if err := r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, newProblem(http.StatusRequestEntityTooLarge, "body_too_large",
				fmt.Sprintf("the form has more than %d bytes", s.options.MaxBody))
		}
		return nil, newProblem(http.StatusBadRequest, "invalid_body", "the form is malformed")
	}
	f := form{}
	for key, values := range r.PostForm {
		f[key] = []string{strings.ReplaceAll(values[0], "\r\n", "\n")}
	}
	for key := range f {
		value := f.get(key)
		if !utf8.ValidString(value) {
			return nil, newProblem(http.StatusBadRequest, "not_utf8", "the form is not UTF-8")
		}
		if at := controlIndex(value); at >= 0 {
			return f, controlProblem(key, at)
		}
		if key != "message" && key != "choice" && len(value) > maxName {
			return f, newProblem(http.StatusBadRequest, "field_too_long", "a field of the form is too long")
		}
	}
	return f, nil
}

// page is a page.
type page interface{ render() ([]byte, error) }

func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, p page) {
	body, err := p.render()
	if err != nil {
		s.refuse(w, r, internalProblem(err))
		return
	}
	writeBody(w, status, "text/html; charset=utf-8", body)
}

// refusePage answers with a page that describes the problem.
func (s *Server) refusePage(w http.ResponseWriter, r *http.Request, f *problem) {
	noteOf(r).failed(f)
	s.render(w, r, f.Status, errorPage{Language: s.preferred(r), Problem: f.Code})
}

// preferred returns the offered language that the browser prefers.
func (s *Server) preferred(r *http.Request) session.Language {
	return s.preferredOf(r, s.options.Languages)
}

func (s *Server) preferredOf(r *http.Request, offered []session.Language) session.Language {
	tags, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return offered[0]
	}
	known := make([]language.Tag, len(offered))
	for i, l := range offered {
		known[i] = language.Make(string(l))
	}
	_, at, _ := language.NewMatcher(known).Match(tags...)
	return offered[at]
}
