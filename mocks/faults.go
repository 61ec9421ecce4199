package mocks

import (
	"errors"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// ProcessFaults returns the kinds of fault of scripted command-line agents, in the order of the
// documentation.
func ProcessFaults() []string {
	return []string{
		"exit",              // exits with a status other than 0
		"error-in-success",  // exits with status 0 and an error in its output
		"hang",              // writes nothing and does not exit
		"hang-after-output", // answers in full and does not exit
		"flood",             // writes far more than a reader should buffer
		"truncated-jsonl",   // exits in the middle of a line of its output
		"ignore-sigterm",    // hangs and survives SIGTERM
		"grandchild",        // leaves a process that keeps its output open
	}
}

// APIFaults returns the kinds of fault of scripted APIs, in the order of the documentation.
func APIFaults() []string { return wire.FaultKinds() }

func faultNames() []string { return append(APIFaults(), ProcessFaults()...) }

// Brings reports whether the fault delivers the whole answer, after which no client retries.
func (f *Fault) Brings() bool {
	return slices.Contains([]string{"slow-drip", "duplicate-chunk", "wrong-usage", "grandchild"}, f.Kind)
}

// Validate returns an error if the kind is unknown, or an option does not apply to it or is out of
// range.
func (f *Fault) Validate() error {
	v := &validator{}
	if v.word("kind", "a kind of fault", f.Kind, faultNames()) {
		if f.Times < 0 {
			v.add("times", "must be at least 1, not %d", f.Times)
		}
		v.faultOptions("", f)
	}
	if len(v.problems) == 0 {
		return nil
	}
	return errors.New(strings.TrimPrefix(v.problems[0].String(), "."))
}

// spec returns the fault in the form of package wire.
func (f *Fault) spec() wire.FaultSpec {
	return wire.FaultSpec{
		Kind: f.Kind, Status: f.Status, RetryAfter: f.RetryAfter.Std(),
		Message: f.Message, After: f.After, Delay: f.Delay.Std(),
	}
}

// faultTimes returns how often the fault of the line must fire.
func (l *Line) faultTimes() int {
	switch {
	case l.Fault == nil:
		return 0
	case l.answers():
		return max(l.Fault.Times, 1)
	default:
		return max(l.Fault.Times, l.Times, 1)
	}
}

// answers reports whether the line has an answer in addition to a fault.
func (l *Line) answers() bool { return len(l.OneOf) > 0 || l.Answer.answers() }

// answers reports whether there is an answer in addition to a fault.
func (a *Answer) answers() bool {
	return len(given(a.contents())) > 0 || len(given(a.additions())) > 0
}

// answerPart is a part of an answer in a script.
type answerPart struct {
	key   string
	given bool
}

// contents returns the parts of which an answer has at most one.
func (a *Answer) contents() []answerPart {
	return []answerPart{{"text", a.Text != ""}, {"file", a.File != ""}, {"template", a.Template != ""}, {"frames", a.Frames != nil}}
}

// additions returns the parts that an answer may have with or without a content.
func (a *Answer) additions() []answerPart {
	return []answerPart{
		{"tool_calls", len(a.ToolCalls) > 0},
		{"thinking", a.Thinking != ""},
		{"refusal", a.Refusal != ""},
		{"finish", a.Finish != ""},
		{"media", a.Media != nil},
	}
}

func given(parts []answerPart) []string {
	var keys []string
	for _, p := range parts {
		if p.given {
			keys = append(keys, p.key)
		}
	}
	return keys
}
