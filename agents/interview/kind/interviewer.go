package kind

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/mocks"
)

// Interviewer returns a script that can interview anybody: in the language of a persona with the
// replies to it, and in the other language with the replies to the default persona of that
// language.
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

// interviewerRules returns the replies to a persona, for its language. In block 2 they are for
// candidates who name the works of the persona; others get replies that fit any works.
func interviewerRules(p Persona) ([]mocks.Line, error) {
	replies, err := Replies(p.Name)
	if err != nil {
		return nil, err
	}
	visitor, err := visitorScript(p.Language)
	if err != nil {
		return nil, err
	}
	works := session.ParseWorks(p.Answer(session.Block2A, 1))
	var own, rest []mocks.Line
	for _, line := range replies.Rules {
		of := line.When.Metadata
		of["language"] = string(p.Language)
		if of["step"] == string(session.Block2B) || of["index"] == "2" {
			line.When.User = &mocks.Match{Contains: strings.Join(works, " ; ")}
			own = append(own, line)
		} else {
			rest = append(rest, line)
		}
	}
	return slices.Concat(own, visitor.Rules, rest), nil
}
