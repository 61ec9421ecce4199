package cast

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

// adaptive is the number of questions in block 2A, each of which is a separate call.
const adaptive = 3

// latency is typical of a fast model: about 80 tokens per second.
var latency = mocks.Latency{
	First:    quantity.Duration(600 * time.Millisecond),
	PerToken: quantity.Duration(12 * time.Millisecond),
	Jitter:   0.1,
}

// Reply is the reply of a good model to one call of an interview.
type Reply struct {
	Purpose session.Purpose
	Step    session.Step
	// Index is the index of the question, for session.PurposeAdaptive.
	Index int
	Text  string
}

// File returns the name of the file with the reply, such as "mirror-BLOC_01.md".
func (r Reply) File() string {
	switch r.Purpose {
	case session.PurposeQuestions, session.PurposeMirror:
		return fmt.Sprintf("%s-%s.md", r.Purpose, r.Step)
	case session.PurposeAdaptive:
		return fmt.Sprintf("%s-%d.md", r.Purpose, r.Index)
	default:
		return string(r.Purpose) + ".md"
	}
}

// calls lists the calls of an interview without faults, in order and without texts.
func calls() []Reply {
	all := []Reply{{Purpose: session.PurposePreamble, Step: session.Preamble}}
	for _, step := range session.Steps() {
		switch {
		case step == session.Block2A:
			for i := range adaptive {
				all = append(all, Reply{Purpose: session.PurposeAdaptive, Step: step, Index: i})
			}
		case step != session.Block10 && strings.HasPrefix(string(step), "BLOC_"):
			all = append(all,
				Reply{Purpose: session.PurposeQuestions, Step: step},
				Reply{Purpose: session.PurposeMirror, Step: step})
		}
	}
	return append(all,
		Reply{Purpose: session.PurposeProfile, Step: session.Block10},
		Reply{Purpose: session.PurposeMatching, Step: session.Matching})
}

// Texts returns the replies to a persona, in the order of an interview without faults.
func Texts(name string) ([]Reply, error) {
	if !slices.Contains(Names(), name) {
		return nil, unknown(name)
	}
	all := calls()
	for i := range all {
		data, err := fixtures.Replies.ReadFile("replies/" + name + "/" + all[i].File())
		if err != nil {
			return nil, fmt.Errorf("read the replies to %s: %w", name, err)
		}
		all[i].Text = strings.TrimSuffix(string(data), "\n")
	}
	return all, nil
}

// Replies returns the replies to a persona as the rules of a scripted backend: one for each
// call, selected by purpose, step and index. They are optional, so that an interview may end
// early. The script does not set a model.
func Replies(name string) (mocks.Script, error) {
	all, err := Texts(name)
	if err != nil {
		return mocks.Script{}, err
	}
	var s mocks.Script
	for i := range all {
		s.Rules = append(s.Rules, all[i].rule())
	}
	return s, nil
}

// Visitor returns rules for block 2 that fit the answers of any candidate in a language, as far
// as a script can. They have to precede the rules of a persona, which fit only its own works.
func Visitor(l session.Language) (mocks.Script, error) {
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

func (r *Reply) rule() mocks.Line {
	when := mocks.When{Purpose: string(r.Purpose), Metadata: map[string]string{"step": string(r.Step)}}
	if r.Purpose == session.PurposeAdaptive {
		when.Metadata["index"] = strconv.Itoa(r.Index)
	}
	slow := latency
	return mocks.Line{When: &when, Optional: true, Answer: mocks.Answer{Text: mocks.Text(r.Text), Latency: &slow}}
}
