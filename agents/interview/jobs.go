package interview

import (
	"slices"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// pickJob returns the job with an id in a language. An empty id means the only job, and an empty language
// French, if the job is described in it.
func pickJob(jobs []session.Job, id string, l session.Language) (session.Job, *Error) {
	var ids []string
	for _, j := range jobs {
		if !slices.Contains(ids, j.ID) {
			ids = append(ids, j.ID)
		}
	}
	switch {
	case id == "" && len(ids) > 1:
		return session.Job{}, refuse(CodeUnknownJob, "job: name one of %q", ids)
	case id == "":
		id = ids[0]
	case !slices.Contains(ids, id):
		return session.Job{}, refuse(CodeUnknownJob, "job: there is no %s", unknown(id, ids))
	}
	var languages []session.Language
	for _, j := range jobs {
		if j.ID != id {
			continue
		}
		if j.Language == l || l == "" && j.Language == session.French {
			return j, nil
		}
		languages = append(languages, j.Language)
	}
	if l != "" {
		return session.Job{}, refuse(CodeInvalid, "language: the job %q is described in %q only", id, languages)
	}
	return pickJob(jobs, id, languages[0])
}
