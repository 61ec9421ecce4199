package kind

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/mocks"
)

// latency is typical of a fast model: about 80 tokens per second.
var latency = mocks.Latency{
	First:    quantity.Duration(600 * time.Millisecond),
	PerToken: quantity.Duration(12 * time.Millisecond),
	Jitter:   0.1,
}

// reply is the reply of a good model to one call of an interview.
type reply struct {
	purpose session.Purpose
	step    session.Step
	index   int // of the question, for session.PurposeAdaptive
	text    string
}

// file returns the name of the file with the reply, such as "mirror-BLOC_01.md".
func (r reply) file() string {
	switch r.purpose {
	case session.PurposeQuestions, session.PurposeMirror:
		return fmt.Sprintf("%s-%s.md", r.purpose, r.step)
	case session.PurposeAdaptive:
		return fmt.Sprintf("%s-%d.md", r.purpose, r.index)
	default:
		return string(r.purpose) + ".md"
	}
}

// ownReplies returns the replies to a persona that are written for it, in the order of an interview
// without faults: all of them, unless it has shared replies.
func ownReplies(p Persona) ([]reply, error) {
	var all []reply
	for _, step := range session.Steps() {
		for i, purpose := range step.Calls() {
			r := reply{purpose: purpose, step: step}
			if purpose == session.PurposeAdaptive {
				r.index = i
			}
			data, err := fixtures.Replies.ReadFile("replies/" + p.Name + "/" + r.file())
			if p.SharedReplies && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read the replies to %s: %w", p.Name, err)
			}
			r.text = strings.TrimSuffix(string(data), "\n")
			all = append(all, r)
		}
	}
	return all, nil
}

// Replies returns the replies to a persona as the rules of a scripted backend: one for each
// call, selected by purpose, step and index. They are optional, so that an interview may end
// early. A matching is about the shipped job; a general one follows for other jobs. The script does
// not set a model.
func Replies(name string) (mocks.Script, error) {
	var s mocks.Script
	p, err := LoadPersona(name)
	if err != nil {
		return s, err
	}
	if s.Rules, err = ownRules(p); err != nil {
		return s, err
	}
	if p.SharedReplies {
		visitor, err := scriptedReplies(visitorReplies, p.Language)
		if err != nil {
			return s, err
		}
		s.Rules = append(s.Rules, visitor...)
	}
	shared, err := sharedRules(p)
	s.Rules = append(s.Rules, shared...)
	return s, err
}

// sharedRules returns the replies that a persona shares with others: at least the last one, which is
// the matching for other jobs than the shipped one.
func sharedRules(p Persona) ([]mocks.Line, error) {
	shared, err := scriptedReplies(sharedReplies, p.Language)
	if err != nil || p.SharedReplies {
		return shared, err
	}
	return shared[len(shared)-1:], nil
}

// shippedJob returns the shipped job in a language.
func shippedJob(l session.Language) session.Job {
	jobs := prompt.ShippedJobs()
	return jobs[slices.IndexFunc(jobs, func(j session.Job) bool { return j.Language == l })]
}

// ownRules returns a rule for each reply that is written for a persona.
func ownRules(p Persona) ([]mocks.Line, error) {
	all, err := ownReplies(p)
	var rules []mocks.Line
	for _, r := range all {
		rule := r.rule()
		if r.purpose == session.PurposeMatching {
			rule.When.System = &mocks.Match{Contains: shippedJob(p.Language).Mission}
		}
		rules = append(rules, rule)
	}
	return rules, err
}

// The sets of replies that fit every candidate, as far as a script can.
const (
	visitorReplies = "visitor" // block 2; must precede the rules of a persona, which fit only its own works
	sharedReplies  = "shared"  // the other blocks
)

// scriptedReplies returns the rules of a set of replies in a language.
func scriptedReplies(set string, l session.Language) ([]mocks.Line, error) {
	file := "replies/" + set + "-" + string(l) + ".yaml"
	data, err := fixtures.Replies.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the %s replies: %w", set, err)
	}
	var s mocks.Script
	if _, found := yamlsrc.Decode(file, data, &s); len(found) > 0 {
		return nil, found.Err()
	}
	for i := range s.Rules {
		rule, slow := &s.Rules[i], latency
		if rule.When.Metadata == nil {
			rule.When.Metadata = map[string]string{}
		}
		rule.When.Metadata["language"] = string(l)
		rule.Template = byRegister().ReplaceAllString(rule.Template, `{{if match "(Tutoie)" .System}}$1{{else}}$2{{end}}`)
		rule.Latency, rule.Optional = &slow, true
	}
	return s.Rules, nil
}

// byRegister matches [[informal|formal]], as in prompts.
var byRegister = lazyregexp.New(`\[\[([^|\]]*)\|([^|\]]*)\]\]`)

func (r reply) rule() mocks.Line {
	when := mocks.When{Purpose: string(r.purpose), Metadata: map[string]string{"step": string(r.step)}}
	if r.purpose == session.PurposeAdaptive {
		when.Metadata["index"] = strconv.Itoa(r.index)
	}
	slow := latency
	line := mocks.Line{When: &when, Optional: true, Answer: mocks.Answer{Latency: &slow}}
	if strings.Contains(r.text, "{{") {
		line.Template = r.text
	} else {
		line.Text = mocks.Text(r.text)
	}
	return line
}
