package mocks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Problem is one mistake in a script.
type Problem struct {
	// Path of the mistake, such as "rules[2].when.user.matches"; empty for the script as a whole.
	Path string
	// Message describes the mistake and the remedy.
	Message string
	// Nearest is the valid word that was probably meant; may be empty.
	Nearest string
}

// String returns the path, the message and the suggestion.
func (p Problem) String() string {
	text := p.Message
	if p.Path != "" {
		text = p.Path + ": " + text
	}
	if p.Nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", p.Nearest)
	}
	return text
}

// validator collects problems.
type validator struct{ problems []Problem }

func (v *validator) add(path, format string, args ...any) {
	v.problems = append(v.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// word adds a problem if word is not known.
func (v *validator) word(path, what, word string, known []string) bool {
	if slices.Contains(known, word) {
		return true
	}
	v.problems = append(v.problems, Problem{
		Path: path, Message: fmt.Sprintf("%q is not %s; there are %s", word, what, strings.Join(known, ", ")),
		Nearest: suggest.Nearest(word, known),
	})
	return false
}

// Validate returns all mistakes in a script, in the order of its lines.
func (s *Script) Validate() []Problem {
	v := &validator{}
	switch {
	case len(s.Replies) > 0 && len(s.Rules) > 0:
		v.add("rules", "a script has replies or rules, not both")
	case len(s.Replies) == 0 && len(s.Rules) == 0:
		v.add("", "a script needs replies (a strict sequence) or rules (the first that fits answers)")
	}
	if s.State != "" && len(s.Rules) == 0 {
		v.add("state", "only rules have states")
	}
	v.moderations(s)
	v.storage(s)
	for i, name := range s.Relax {
		if at := fmt.Sprintf("relax[%d]", i); v.word(at, "a rule", name, wire.RuleNames()) && slices.Contains(s.Strict, name) {
			v.add(at, "%s is also in strict; remove one of the two", name)
		}
	}
	for i, name := range s.Strict {
		v.word(fmt.Sprintf("strict[%d]", i), "an optional rule", name, wire.OptionalRules())
	}
	for _, set := range s.sets() {
		for i := range set.lines {
			path := fmt.Sprintf("%s[%d]", set.name, i)
			l := &set.lines[i]
			v.line(path, l)
			v.when(path, l.When)
			if set.name == "replies" {
				v.ordered(path, l)
			}
		}
	}
	v.states(s)
	if len(v.problems) == 0 {
		v.encodable(s)
	}
	return v.problems
}

// encodable reports a value that no file can contain, in a script written in Go: text that is
// not valid UTF-8, or an argument that JSON cannot express.
func (v *validator) encodable(s *Script) {
	_, err := jsonv2.Marshal(s, jsonv2.Deterministic(true))
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		v.add(wire.FieldPath(e.JSONPointer), "%v", e.Err)
	} else if e, ok := errors.AsType[*jsonv2.SemanticError](err); ok && e.Err != nil {
		v.add(wire.FieldPath(e.JSONPointer), "%v", e.Err)
	} else if ok {
		v.add(wire.FieldPath(e.JSONPointer), "a %v cannot be written as JSON", e.GoType)
	}
}

// ordered reports keys that a line of a strict sequence cannot have.
func (v *validator) ordered(path string, l *Line) {
	if l.In != "" {
		v.add(path+".in", "only rules have states; replies are used in order")
	}
	if l.Then != "" {
		v.add(path+".then", "only rules have states; replies are used in order")
	}
	if l.Optional {
		v.add(path+".optional", "only rules can be optional; replies are used in order")
	}
}

// line checks the answer of a line, and how often it is used.
func (v *validator) line(path string, l *Line) {
	// Zero is the default.
	if l.Times < 0 {
		v.add(path+".times", "must be at least 1, not %d", l.Times)
	}
	v.measured(path, &l.Answer)
	if len(l.OneOf) > 0 {
		v.choices(path, l)
		return
	}
	v.answer(path, &l.Answer, "line")
	f := l.Fault
	if f == nil || !v.fault(path, f) {
		return
	}
	path += ".fault.times"
	switch {
	case f.Times < 0:
		v.add(path, "must be at least 1, not %d", f.Times)
	case !l.answers() && f.Times > 0 && l.Times > 0:
		v.add(path, "a line without an answer has times or fault.times, not both")
	case l.answers() && f.Brings() && l.Times > 0 && f.Times > l.Times:
		v.add(path, "%s delivers the answer and cannot fire %d times on a line that answers %d times",
			f.Kind, f.Times, l.Times)
	}
}

// answer checks the answer of a "line" or a "choice".
func (v *validator) answer(path string, a *Answer, of string) {
	contents := given(a.contents())
	v.frames(path, a)
	switch {
	case len(contents) > 1:
		v.add(path+"."+contents[1], "a %s has at most one of text, file, template and frames, not %s", of, strings.Join(contents, " and "))
	case !a.answers() && a.Fault == nil:
		v.add(path, "the %s has neither an answer (text, file, template, frames, media, tool_calls, refusal, finish) nor a fault", of)
	}
	if a.File != "" {
		if _, err := localPath(a.File); err != nil {
			v.add(path+".file", "%q %v", a.File, err)
		}
	}
	v.media(path, a)
	if a.Template != "" {
		v.template(path+".template", a.Template)
	}
	if a.Finish != "" {
		v.word(path+".finish", "a finish reason", a.Finish, []string{
			string(llm.FinishStop), string(llm.FinishLength), string(llm.FinishToolCalls), string(llm.FinishContentFilter),
		})
	}
	ids := map[string]bool{}
	for i, c := range a.ToolCalls {
		if c.Name == "" {
			v.add(fmt.Sprintf("%s.tool_calls[%d].name", path, i), "a tool call needs the function's name")
		}
		if c.ID != "" && ids[c.ID] {
			v.add(fmt.Sprintf("%s.tool_calls[%d].id", path, i), "the id %q is used twice in one answer", c.ID)
		}
		ids[c.ID] = true
	}
}

func (v *validator) template(path, text string) {
	_, err := parseTemplate(text)
	if unknown, ok := errors.AsType[unknownFieldError](err); ok {
		v.problems = append(v.problems, Problem{
			Path: path, Message: err.Error(), Nearest: suggest.Nearest(unknown.field, templateFields()),
		})
	} else if err != nil {
		v.add(path, "%v", err)
	}
}

// measured checks the usage and the latency of an answer.
func (v *validator) measured(path string, a *Answer) {
	if u := a.Usage; u != nil {
		if min(u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning) < 0 {
			v.add(path+".usage", "token counts cannot be negative")
		}
		if u.Reasoning > u.Output {
			v.add(path+".usage.reasoning", "%d is more than the output of %d, which includes it", u.Reasoning, u.Output)
		}
	}
	if l := a.Latency; l != nil {
		if min(l.First, l.PerToken) < 0 {
			v.add(path+".latency", "durations cannot be negative")
		}
		if !(l.Jitter >= 0 && l.Jitter <= 1) {
			v.add(path+".latency.jitter", "must be between 0 and 1, not %v", l.Jitter)
		}
	}
}

func (v *validator) when(path string, w *When) {
	if w == nil {
		return
	}
	if w.Turn != nil && *w.Turn < 0 {
		v.add(path+".when.turn", "must be at least 0, not %d", *w.Turn)
	}
	for _, m := range w.matches() {
		at := path + ".when." + m.key
		if err := m.match.check(); err != nil {
			v.add(at, "%v", err)
		} else if kind, _, _, err := m.match.compile(); err != nil {
			v.add(at+"."+kind, "%v (RE2 syntax)", err)
		}
	}
}

// fault checks the kind of the fault of an answer, and its options.
func (v *validator) fault(path string, f *Fault) bool {
	path += ".fault"
	if !v.word(path+".kind", "a kind of fault", f.Kind, faultNames()) {
		return false
	}
	v.faultOptions(path, f)
	return true
}

// faultOptions checks the options of the kind.
func (v *validator) faultOptions(path string, f *Fault) {
	if !slices.Contains(ProcessFaults(), f.Kind) {
		if _, err := wire.NewFault(f.spec()); err != nil {
			v.add(path, "%v", err)
		}
		return
	}
	if f.Kind != "exit" && f.Status != 0 {
		v.add(path+".status", "exit is the only process fault with a status")
	}
	if f.RetryAfter != 0 || f.Delay != 0 {
		v.add(path, "process faults have neither retry_after nor delay")
	}
	if f.After != nil && *f.After < 0 {
		v.add(path+".after", "must be at least 0, not %d", *f.After)
	}
	if f.Kind == "exit" && (f.Status < 0 || f.Status > 255) {
		v.add(path+".status", "an exit status is between 1 and 255, not %d", f.Status)
	}
}
