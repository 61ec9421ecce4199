package web

import (
	"bytes"
	"cmp"
	"net/http"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/access"
	"github.com/rehearse-dev/rehearse/agents/interview/export"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// mine shows how to continue an interview elsewhere, and what a candidate may do with its data.
func (s *Server) mine(w http.ResponseWriter, r *http.Request) {
	s.showMine(w, r, http.StatusOK, "")
}

func (s *Server) showMine(w http.ResponseWriter, r *http.Request, status int, problemCode string) {
	one, f := s.openSession(r, r.PathValue("session"))
	if f != nil {
		s.refusePage(w, r, f)
		return
	}
	scheme := "http://"
	if isSecure(r) {
		scheme = "https://"
	}
	until := s.deps.Clock.Now().Add(s.options.LinkTime)
	s.render(w, r, status, minePage{
		Session: one, Link: scheme + r.Host + "/r/" + s.keys.Sign(access.Link, one.ID, until), Until: until,
		Resume: scheme + r.Host + "/resume", Code: s.keys.Code(one.ID, one.Created).String(), Problem: problemCode,
	})
}

// export handles GET /s/{session}/export?format=json|text, as a file to save.
func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	one, f := s.openSession(r, r.PathValue("session"))
	if f != nil {
		s.refuseAny(w, r, f)
		return
	}
	format := cmp.Or(r.URL.Query().Get("format"), "json")
	if format != "json" && format != "text" {
		s.refuseAny(w, r, newProblem(http.StatusBadRequest, "invalid", "format must be json or text"))
		return
	}
	data, err := export.Read(r.Context(), s.deps.Store, one.ID)
	if err != nil {
		s.refuseAny(w, r, storeProblem(err))
		return
	}
	write, media, name := data.JSON, "application/json; charset=utf-8", "interview.json"
	if format == "text" {
		write, media, name = data.Text, "text/plain; charset=utf-8", "interview.txt"
	}
	var body bytes.Buffer
	if err := write(&body); err != nil {
		s.refuseAny(w, r, internalProblem(err))
		return
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	writeBody(w, http.StatusOK, media, body.Bytes())
}

// erase deletes the data of a session, if the form confirms it.
func (s *Server) erase(w http.ResponseWriter, r *http.Request) {
	form, f := s.readForm(w, r)
	if f != nil {
		s.refusePage(w, r, f)
		return
	}
	one, f := s.openSession(r, r.PathValue("session"))
	if f != nil {
		s.refusePage(w, r, f)
		return
	}
	if form.get("confirm") != "yes" {
		s.showMine(w, r, http.StatusBadRequest, "not_confirmed")
		return
	}
	if err := session.Erase(r.Context(), s.deps.Store, one.ID); err != nil {
		s.refusePage(w, r, storeProblem(err))
		return
	}
	s.forgotten(one.ID)
	s.setCookie(w, r, "", -time.Second)
	redirect(w, r, "/s/"+one.ID) // which says that it was deleted
}

// forgotten drops what the service has cached of a deleted session.
func (s *Server) forgotten(id string) {
	if cache, ok := s.deps.Service.(interface{ Forget(id string) }); ok {
		cache.Forget(id)
	}
}
