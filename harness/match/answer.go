package match

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// EndedWith matches the end status of an agent, such as "done".
func EndedWith(status string) types.GomegaMatcher {
	return &trials{want: "the end status " + quote(status), inspect: func(j *harness.Judged) (observation, error) {
		return observation{ok: j.Facts.Run.Status == status, saw: quote(j.Facts.Run.Status)}, nil
	}}
}

// Answered matches the agent's last answer: a string that it must contain, or a matcher.
func Answered(text any) types.GomegaMatcher {
	return textMatcher("the last answer", text, func(j *harness.Judged) []string { return []string{j.Facts.Run.Text} })
}

// Said matches if one of the agent's answers contains a string or satisfies a matcher. For an agent
// without turns the answers are those of its model.
func Said(text any) types.GomegaMatcher { return textMatcher("an answer", text, answers) }

// answers returns the answers of an agent, in order.
func answers(j *harness.Judged) []string {
	if len(j.Facts.Turns) == 0 {
		return j.Facts.Answers
	}
	var all []string
	for _, t := range j.Facts.Turns {
		if t.Error == "" {
			all = append(all, t.Text)
		}
	}
	return all
}

// textMatcher matches if one of several texts does.
func textMatcher(what string, text any, of func(*harness.Judged) []string) types.GomegaMatcher {
	part, isText := text.(string)
	inner, isMatcher := text.(types.GomegaMatcher)
	m := &trials{want: what}
	if isText {
		m.want += " with " + quote(part) + " in it"
	}
	m.inspect = func(j *harness.Judged) (observation, error) {
		if !isText && !isMatcher {
			return observation{}, fmt.Errorf("expected a string or a matcher, got %T", text)
		}
		s := observation{saw: "none at all"}
		for n, got := range of(j) {
			s = observation{ok: strings.Contains(got, part), saw: quote(got), inner: inner, value: got}
			if n > 0 && !s.ok {
				s.saw = fmt.Sprintf("none among %d, the last of which is %s", n+1, s.saw)
			}
			if isMatcher {
				var err error
				if s.ok, err = inner.Match(got); err != nil {
					return s, err
				}
			}
			if s.ok {
				return s, nil
			}
		}
		return s, nil
	}
	return m
}

// OneQuestionAtATime matches if no answer asks more than one question. Questions are counted by
// question marks; "?!" counts once, and quotes and code are ignored.
func OneQuestionAtATime() types.GomegaMatcher {
	return &trials{want: "at most one question in each answer", inspect: func(j *harness.Judged) (observation, error) {
		most, in := 0, ""
		for _, answer := range answers(j) {
			if n := textfold.Questions(code().ReplaceAllString(answer, " ")); n > most {
				most, in = n, answer
			}
		}
		saw := format.Plural(most, "question")
		if most > 0 {
			saw += " in " + quote(in)
		}
		return observation{ok: most <= 1, saw: saw}, nil
	}}
}

// code matches code blocks, inline code and URLs in Markdown.
var code = lazyregexp.New("(?s)```.*?(```|$)|`[^`\n]+`|[a-z]+://[^\\s<>]+")

// quote formats a text on one line.
func quote(text string) string { return strconv.Quote(sanitize.Line(text, 200)) }
