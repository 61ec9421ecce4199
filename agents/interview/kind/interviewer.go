package kind

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/mocks"
)

// Interviewer returns a script for interviews with any candidate: in the language of a persona with the
// replies to it, and in the other language with the replies to that language's default persona.
func Interviewer(name string) (mocks.Script, error) {
	var script mocks.Script
	served := map[session.Language]bool{}
	for _, persona := range []string{name, "lea", "tom"} {
		if !slices.Contains(Personas(), persona) && persona != name {
			continue
		}
		p, err := LoadPersona(persona)
		if err != nil {
			return script, err
		}
		if served[p.Language] {
			continue
		}
		served[p.Language] = true
		rules, err := interviewerRules(p)
		if err != nil {
			return script, err
		}
		script.Rules = append(script.Rules, rules...)
	}
	return script, nil
}

// interviewerRules returns the replies to a persona, for its language. In block 2 they require a
// candidate who names the works of the persona; other candidates get replies that fit any works.
func interviewerRules(p Persona) ([]mocks.Line, error) {
	own, err := ownRules(p)
	if err != nil {
		return nil, err
	}
	visitor, err := scriptedReplies(visitorReplies, p.Language)
	if err != nil {
		return nil, err
	}
	shared, err := sharedRules(p)
	if err != nil {
		return nil, err
	}
	works := session.ParseWorks(p.Answer(session.Block2A, 1))
	var ofWorks, rest []mocks.Line
	for _, line := range own {
		tags := line.When.Metadata
		tags["language"] = string(p.Language)
		if tags["step"] == string(session.Block2B) || tags["index"] == "2" {
			line.When.User = &mocks.Match{Contains: strings.Join(works, " ; ")}
			ofWorks = append(ofWorks, line)
		} else {
			rest = append(rest, line)
		}
	}
	return slices.Concat(ofWorks, visitor, rest, shared), nil
}
