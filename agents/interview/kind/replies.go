package kind

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/fixtures"
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

// repliesTo returns the replies to a persona, in the order of an interview without faults.
func repliesTo(name string) ([]reply, error) {
	if !slices.Contains(Personas(), name) {
		return nil, unknownPersona(name)
	}
	var all []reply
	for _, step := range session.Steps() {
		for i, purpose := range step.Calls() {
			r := reply{purpose: purpose, step: step}
			if purpose == session.PurposeAdaptive {
				r.index = i
			}
			data, err := fixtures.Replies.ReadFile("replies/" + name + "/" + r.file())
			if err != nil {
				return nil, fmt.Errorf("read the replies to %s: %w", name, err)
			}
			r.text = strings.TrimSuffix(string(data), "\n")
			all = append(all, r)
		}
	}
	return all, nil
}

// Replies returns the replies to a persona as the rules of a scripted backend: one for each
// call, selected by purpose, step and index. They are optional, so that an interview may end
// early. The script does not set a model.
func Replies(name string) (mocks.Script, error) {
	all, err := repliesTo(name)
	if err != nil {
		return mocks.Script{}, err
	}
	var s mocks.Script
	for _, r := range all {
		s.Rules = append(s.Rules, r.rule())
	}
	return s, nil
}

// visitorScript returns rules for block 2 that fit the answers of any candidate in a language, as far
// as a script can. They have to precede the rules of a persona, which fit only its own works.
func visitorScript(l session.Language) (mocks.Script, error) {
	file := "replies/visitor-" + string(l) + ".yaml"
	data, err := fixtures.Replies.ReadFile(file)
	if err != nil {
		return mocks.Script{}, fmt.Errorf("read the replies to visitors: %w", err)
	}
	var s mocks.Script
	if _, found := yamlsrc.Decode(file, data, &s); len(found) > 0 {
		return mocks.Script{}, found.Err()
	}
	for i := range s.Rules {
		rule, slow := &s.Rules[i], latency
		if rule.When.Metadata == nil {
			rule.When.Metadata = map[string]string{}
		}
		rule.When.Metadata["language"] = string(l)
		rule.Latency, rule.Optional = &slow, true
	}
	return s, nil
}

func (r reply) rule() mocks.Line {
	when := mocks.When{Purpose: string(r.purpose), Metadata: map[string]string{"step": string(r.step)}}
	if r.purpose == session.PurposeAdaptive {
		when.Metadata["index"] = strconv.Itoa(r.index)
	}
	slow := latency
	return mocks.Line{When: &when, Optional: true, Answer: mocks.Answer{Text: mocks.Text(r.text), Latency: &slow}}
}
