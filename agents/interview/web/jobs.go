package web

import (
	"net/http"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// offered returns the offered languages in which a job is described, or all if there is no such job. An
// empty id means all jobs.
func (s *Server) offered(id string) []session.Language {
	var all []session.Language
	for _, l := range s.options.Languages {
		if slices.ContainsFunc(s.options.Jobs, func(j session.Job) bool { return j.Language == l && (id == "" || j.ID == id) }) {
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return s.options.Languages
	}
	return all
}

// jobOf returns a job that a request names, or else that of its invitation; empty if neither names one.
func (s *Server) jobOf(r *http.Request, id, invitation string) string {
	if id != "" || invitation == "" {
		return id
	}
	i, err := s.deps.Store.Invitation(r.Context(), session.HashInvitation(invitation))
	if err != nil {
		return "" // the service reports it
	}
	return i.Job
}

// jobChoice is a job of the list on the first page.
type jobChoice struct {
	ID, Title string
	Language  session.Language
}

// jobChoices returns the jobs, each with its title in a language if it has one.
func jobChoices(jobs []session.Job, l session.Language) []jobChoice {
	var all []jobChoice
	for _, j := range jobs {
		i := slices.IndexFunc(all, func(c jobChoice) bool { return c.ID == j.ID })
		switch {
		case i < 0:
			all = append(all, jobChoice{j.ID, j.Title, j.Language})
		case j.Language == l:
			all[i] = jobChoice{j.ID, j.Title, j.Language}
		}
	}
	return all
}
