package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// The maximum lengths of the parts of a job, in characters, and the maximum number of requirements.
const (
	maxJobTitle     = 120
	maxJobText      = 800
	maxRequirement  = 200
	maxRequirements = 12
)

var jobID = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// ValidJobID reports whether a text can be the id of a job.
func ValidJobID(id string) bool { return jobID().MatchString(id) }

// ParseJob reads the file of a job. Its default id is the name of the file without extension. If the
// file is invalid, the error is a yamlsrc.Diagnostics with all problems.
func ParseJob(file string, data []byte) (session.Job, error) {
	var j session.Job
	doc, found := yamlsrc.Decode(file, data, &j)
	if j.ID == "" && !doc.Has("id") {
		j.ID, _, _ = strings.Cut(strings.ToLower(path.Base(file)), ".")
	}
	for _, p := range JobProblems(&j) {
		if !found.About(p.Path) {
			found = append(found, doc.At(p.Path, p.Message, ""))
		}
	}
	found.Sort()
	return j, found.Err()
}

// JobProblem is a problem of a part of a job, such as "requirements[2]".
type JobProblem struct{ Path, Message string }

// JobProblems returns the problems of a job, and puts each of its texts on one line.
func JobProblems(j *session.Job) (all []JobProblem) {
	report := func(path, format string, args ...any) {
		all = append(all, JobProblem{path, fmt.Sprintf(format, args...)})
	}
	text := func(path string, s *string, longest int) {
		*s = sanitize.Line(*s, 0)
		switch n := utf8.RuneCountInString(*s); {
		case n == 0:
			report(path, "the text is empty")
		case n > longest:
			report(path, "the text has %d characters; at most %d are allowed", n, longest)
		}
	}
	if !ValidJobID(j.ID) {
		report("id", `invalid id %q; use 1 to 64 lowercase letters, digits, "-" and "_", beginning with a letter or a digit`,
			sanitize.Cut(j.ID, maxJobTitle))
	}
	text("title", &j.Title, maxJobTitle)
	text("mission", &j.Mission, maxJobText)
	text("context", &j.Context, maxJobText)
	if n := len(j.Requirements); n == 0 || n > maxRequirements {
		report("requirements", "the job has %d requirements; write 1 to %d", n, maxRequirements)
	}
	for i := range j.Requirements {
		text(fmt.Sprintf("requirements[%d]", i), &j.Requirements[i], maxRequirement)
	}
	return all
}

// ShippedJobs returns the job of interviews for which no other job is given, in each language.
func ShippedJobs() []session.Job {
	var all []session.Job
	for _, l := range session.Languages() {
		file := "jobs/sales." + string(l) + ".yaml"
		data, err := fixtures.Jobs.ReadFile(file)
		if err != nil {
			panic(err) // the files are embedded
		}
		j, err := ParseJob(file, data)
		if err != nil {
			panic(err)
		}
		all = append(all, j)
	}
	return all
}

// For returns the set for interviews about a job. Its hash depends on the job.
func (s *Set) For(j session.Job) *Set {
	sum := sha256.Sum256([]byte(s.Hash + "\n" + j.Hash()))
	about := *s
	about.job, about.Hash = j, hex.EncodeToString(sum[:])
	return &about
}

// describeJob fills the job into the text for it.
func (s *Set) describeJob(text string) string {
	line := func(text string) string { return neutral(sanitize.Line(text, 0)) }
	requirements := slices.Clone(s.job.Requirements)
	for i, r := range requirements {
		requirements[i] = "- " + line(r)
	}
	return strings.NewReplacer(
		"{title}", line(s.job.Title), "{mission}", line(s.job.Mission), "{context}", line(s.job.Context),
		"{requirements}", strings.Join(requirements, "\n"),
	).Replace(text)
}
