package prompt

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// The budgets of a set, in tokens. maxCall limits the instructions of one call (frame and task) without
// the description of the job.
const (
	maxCall      = 900
	maxJobTokens = 400
	maxShown     = 400 // a text that is shown as it is
)

// maxFile is the maximum size of a file of a set, in bytes.
const maxFile = 64 << 10

// separator stands between two questions of a batch; see agents/interview/validate.
const separator = "---QUESTION_SEPARATOR---"

// placeholders lists the placeholders of texts, all of which are required.
var placeholders = map[string][]string{
	reinforce: {"{complaint}"},
	missing:   {"{titles}"},
	works:     {"{medium}", "{works}", "{core}"},
	job:       {"{title}", "{mission}", "{context}", "{requirements}"},
}

// forms lists what the validators demand of every reply to a text, and the text must therefore contain.
var forms = map[string][]string{
	"questions": {separator},
	"mirror":    {"1️⃣", "2️⃣", "3️⃣"},
	"profile":   {"🔥", "🧱", "⚖️", "🧩", "🛠️", "🎯", "🧠"},
	"matching":  {"🟢", "🔵", "🟠"},
}

// zones lists the subjects that a frame must forbid, by the stem of a word for each.
var zones = map[session.Language][]string{
	session.French:  {"origine", "religi", "politi", "santé", "handicap", "sexu", "syndic", "traum", "psychi"},
	session.English: {"origin", "religi", "politic", "health", "disab", "sexu", "union", "trauma", "mental"},
}

var placeholderPattern = lazyregexp.New(`\{[A-Za-z_]+\}`)

// textProblem is a problem of a text at an offset, or of the whole text if the offset is negative.
type textProblem struct {
	offset           int
	message, nearest string
}

// textProblems returns the problems of a text, by its name.
func textProblems(name, text string) (all []textProblem) {
	if strings.TrimSpace(text) == "" {
		return []textProblem{{-1, "the text is empty", ""}}
	}
	for _, p := range placeholders[name] {
		if !strings.Contains(text, p) {
			all = append(all, textProblem{-1, "the text lacks the placeholder " + p, ""})
		}
	}
	for _, at := range placeholderPattern().FindAllStringIndex(text, -1) {
		if p := text[at[0]:at[1]]; !slices.Contains(placeholders[name], p) {
			all = append(all, textProblem{at[0], "unknown placeholder " + p, suggest.Nearest(p, placeholders[name])})
		}
	}
	if _, at, err := choose(text, 0); err != nil {
		all = append(all, textProblem{at, err.Error(), ""})
	}
	return all
}

// fileProblems returns the problems of the file with a text of a set.
func fileProblems(name string, data []byte, l session.Language) []textProblem {
	text := string(data)
	if len(data) > maxFile {
		return []textProblem{{-1, fmt.Sprintf("the file has %d bytes; at most %d are allowed", len(data), maxFile), ""}}
	}
	if at := strings.IndexFunc(text, func(r rune) bool {
		return r == utf8.RuneError || unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r)
	}); at >= 0 {
		return []textProblem{{at, "found a control character, or a byte that is not UTF-8", ""}}
	}
	all := textProblems(name, text)
	needed := forms[name]
	if strings.HasPrefix(name, fallback+"questions/") {
		needed = []string{separator}
	}
	for _, form := range needed {
		if !strings.Contains(text, form) {
			all = append(all, textProblem{-1, fmt.Sprintf("the text lacks %s, which valid replies contain", form), ""})
		}
	}
	if name == frame {
		for _, stem := range zones[l] {
			if !strings.Contains(strings.ToLower(text), stem) {
				all = append(all, textProblem{-1, fmt.Sprintf("the forbidden zones lack a word with %q", stem), ""})
			}
		}
	}
	return all
}

// diagnostics returns the problems with their positions in a file.
func diagnostics(file string, data []byte, problems []textProblem) yamlsrc.Diagnostics {
	var found yamlsrc.Diagnostics
	for _, p := range problems {
		d := yamlsrc.Diagnostic{File: file, Message: p.message, Nearest: p.nearest}
		if p.offset >= 0 {
			before := data[:p.offset]
			d.Line = bytes.Count(before, []byte("\n")) + 1
			d.Column = utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
		}
		found = append(found, d)
	}
	return found.In(data)
}

// Size is the size of the instructions of one call of an interview, in tokens.
type Size struct {
	Purpose session.Purpose
	Step    session.Step
	Index   int // of the question, for session.PurposeAdaptive
	// Frame, Task and Job are the sizes of the parts; Job is 0 if the call does not contain the job.
	Frame, Task, Job int
	file             string // of the last text of the task
}

// Sizes returns the sizes of all calls of an interview, in the register with the longer texts.
func (s *Set) Sizes(count func(text string) int) []Size {
	var all []Size
	for _, step := range session.Steps() {
		for i, p := range step.Calls() {
			one := Size{Purpose: p, Step: step}
			if p == session.PurposeAdaptive {
				one.Index = i
			}
			for _, m := range []session.Medium{session.Series, session.Film} {
				one = s.largest(one, m, count)
			}
			all = append(all, one)
		}
	}
	return all
}

// largest returns size, or the size of the call for a medium if that is larger.
func (s *Set) largest(size Size, m session.Medium, count func(text string) int) Size {
	for _, r := range []session.Register{session.Informal, session.Formal} {
		texts, other := s.texts[r], size
		other.Frame, other.Task, other.Job = count(texts[frame]), 0, 0
		var parts []string
		for _, name := range task(size.Purpose, size.Step, size.Index, m) {
			if name == job {
				other.Job = count(s.describeJob(texts[job]))
				continue
			}
			parts, other.file = append(parts, texts[name]), name
		}
		other.Task = count(strings.Join(parts, "\n\n"))
		if other.Frame+other.Task > size.Frame+size.Task {
			size = other
		}
	}
	return size
}

// overBudget returns the texts that exceed the budgets; file names the file of a text.
func (s *Set) overBudget(count func(text string) int, file func(name string) string) (found yamlsrc.Diagnostics) {
	report := func(name, format string, args ...any) {
		found = append(found, yamlsrc.Diagnostic{File: file(name), Message: fmt.Sprintf(format, args...)})
	}
	for _, c := range s.Sizes(count) {
		if n := c.Frame + c.Task; n > maxCall {
			report(c.file, "the instructions of the call for %s at %s have %d tokens (frame %d, task %d); at most %d are allowed",
				c.Purpose, c.Step, n, c.Frame, c.Task, maxCall)
		}
	}
	texts := s.texts[session.Formal]
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if !strings.HasPrefix(name, fallback) && !strings.HasPrefix(name, "fixed/") {
			continue
		}
		if n := count(texts[name]); n > maxShown {
			report(name, "the text has %d tokens; at most %d are allowed", n, maxShown)
		}
	}
	return found
}

// CheckJob returns an error if the description of a job exceeds its budget, 400 tokens.
func (s *Set) CheckJob(j session.Job, file string, count func(text string) int) error {
	about := s.For(j)
	if n := count(about.describeJob(about.texts[session.Formal][job])); n > maxJobTokens {
		return yamlsrc.Diagnostics{{
			File: file, Message: fmt.Sprintf("the description of the job has %d tokens; at most %d are allowed", n, maxJobTokens),
		}}
	}
	return nil
}
