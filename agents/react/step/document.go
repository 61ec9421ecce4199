package step

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// key describes a key of a document.
type key struct {
	name   string
	kind   Kind                    // of the documents that have it; empty: Act and Reflect
	begins bool                    // begins a document after prose
	field  func(*Document) *string // the field for its text; nil: the value is not a text
}

var keys = []key{
	{"step", "", true, nil},
	{"thought", Act, true, func(d *Document) *string { return &d.Thought }},
	{"action", Act, true, func(d *Document) *string { return &d.Action }},
	{"action_input", Act, true, nil},
	{"observation", Reflect, true, func(d *Document) *string { return &d.Observation }},
	{"reflection", Reflect, true, func(d *Document) *string { return &d.Reflection }},
	{"decision", Reflect, true, func(d *Document) *string { return (*string)(&d.Decision) }},
	{"reason", Reflect, false, func(d *Document) *string { return &d.Reason }},
	{"trigger", "", false, func(d *Document) *string { return &d.Trigger }},
	{"agent_id", Reflect, false, func(d *Document) *string { return &d.AgentID }},
	{"task", Reflect, false, func(d *Document) *string { return &d.Task }},
	{"missing", Reflect, false, func(d *Document) *string { return &d.Missing }},
	{"verification", Verify, true, nil},
}

// keyOf returns the key of a line, or nil if it is not known.
func keyOf(l line) *key {
	name, _, _ := cutKey(l.text)
	if i := slices.Index(keyNames, name); i >= 0 {
		return &keys[i]
	}
	return nil
}

var keyNames = func() (names []string) {
	for _, k := range keys {
		names = append(names, k.name)
	}
	return names
}()

// document is a Document that is being parsed.
type document struct {
	Document
	seen    map[string]Pos // the position of each key
	last    string         // the last key
	first   string         // the key that determined the kind
	endedBy string         // the line of prose that ended the document, if one did
	endLine int
}

// document parses the document that begins at the current line.
func (p *parser) document() (Document, *Error) {
	d := document{Document: Document{Pos: p.pos(p.i, 0)}, seen: make(map[string]Pos, len(keys))}
	for !p.eof() {
		l, c := p.current()
		switch {
		case c == blank, c == comment, c == indented && l.comment():
			p.i++
		case c == separator, c == ending, c == opening, c == closing:
			return d.Document, d.check()
		case c == tabbed:
			return d.Document, p.tab()
		case c == indented:
			return d.Document, p.wrong(p.i, 0, "indentation",
				"the line is indented, but the value of %q has ended before it; "+
					"write texts of several lines as `%s: |` with all lines indented alike", d.last, d.last)
		case c == keyLine:
			if ended, err := p.field(&d, l); err != nil {
				return d.Document, err
			} else if ended {
				return d.Document, d.check()
			}
		case p.fence.mark != 0:
			return d.Document, p.wrong(p.i, 0, "not-a-key",
				"found %s where a key must stand; indent the lines of a text, and put --- between documents", excerpt(l.text))
		default:
			d.endedBy, d.endLine = l.text, p.i+1
			return d.Document, d.check()
		}
	}
	return d.Document, d.check()
}

func (p *parser) tab() *Error {
	return p.wrong(p.i, 0, "tab", "the line begins with a tab; indent with spaces")
}

// field parses one key with its value. It reports whether the document ended before the
// key, or with it.
func (p *parser) field(d *document, l line) (ended bool, err *Error) {
	name, off, _ := cutKey(l.text)
	k := keyOf(l)
	switch {
	case k == nil && p.detached():
		d.endedBy, d.endLine = l.text, p.i+1
		return true, nil
	case k == nil:
		return false, p.unknown(name)
	case d.seen[name].Line > 0:
		return false, p.wrong(p.i, 0, "duplicate-key",
			"%q is given twice in one document; first on line %d. Put --- on a line of its own between two documents", name, d.seen[name].Line)
	}
	switch {
	case k.kind != "" && d.Kind == "":
		d.Kind, d.first = k.kind, name
	case k.kind != "" && d.Kind != k.kind:
		return false, p.wrong(p.i, 0, "mixed-kinds", "%q does not belong into one document with %q on line %d; %s",
			name, d.first, d.seen[d.first].Line, separationHint(d.Kind, k.kind))
	}
	if k.kind == Verify && (d.seen["step"].Line > 0 || d.seen["trigger"].Line > 0) {
		return false, p.wrong(p.i, 0, "mixed-kinds", "the verification is a document of its own; put --- on the line before it")
	}
	d.seen[name], d.last = p.pos(p.i, 0), name
	return k.kind == Verify, p.assign(d, k, off)
}

// separationHint describes how to separate documents of two kinds.
func separationHint(first, second Kind) string {
	if first == Act && second == Reflect {
		return "end the step after its action, and wait for what the action comes to"
	}
	return "put --- on a line of its own between the two documents"
}

func (p *parser) unknown(name string) *Error {
	return p.wrong(p.i, 0, "unknown-key", "unknown key %s; %s", excerpt(name), hintAmong(name, "keys", keyNames))
}

// assign parses the value of a key and sets its field.
func (p *parser) assign(d *document, k *key, off int) *Error {
	switch k.name {
	case "action_input":
		text, pos, err := p.raw(off)
		d.Input, d.InputPos = text, pos
		return err
	case "missing":
		if rest := p.line(p.i).text[off:]; isEmpty(rest) || strings.TrimLeft(rest, " \t")[0] == '[' {
			text, _, err := p.raw(off)
			d.Missing = text
			return err
		}
	case "verification":
		return p.verification(d, off)
	}
	text, at, err := p.scalar(k.name, off)
	if err != nil {
		return err
	}
	switch word := strings.TrimSpace(text); k.name {
	case "step":
		return d.number(word, at)
	case "action", "agent_id":
		text = word
	case "decision":
		text, err = word, oneOf("decision", word, decisionNames, at)
	case "trigger":
		text, err = word, oneOf("trigger", word, triggers, at)
	}
	*k.field(&d.Document) = strings.TrimRight(text, "\n")
	return err
}

// verification sets the unparsed lines of the verification.
func (p *parser) verification(d *document, off int) *Error {
	from := p.line(p.i)
	if _, _, err := p.raw(off); err != nil {
		return err
	}
	d.Text = p.cut(from.start+from.lead, p.end, from.lead)
	l, c := p.current()
	if k := keyOf(l); c == keyLine && k != nil {
		return p.wrong(p.i, 0, "mixed-kinds", "the verification is a document of its own; put --- before %q", k.name)
	}
	return nil
}

func (d *document) number(text string, at Pos) *Error {
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return errorAt(at, "bad-value", "step is %s; it must be a whole number, such as step: 1", excerpt(text))
	}
	d.Step = int(n)
	return nil
}

var decisionNames = func() (names []string) {
	for _, d := range Decisions() {
		names = append(names, string(d))
	}
	return names
}()

// oneOf refuses a text that is not among the known ones; an empty text counts as not
// given.
func oneOf(name, text string, known []string, at Pos) *Error {
	if text == "" || slices.Contains(known, text) {
		return nil
	}
	hint := ""
	if near := suggest.Nearest(text, known); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return errorAt(at, "unknown-"+name, "unknown %s %s; it is one of %s%s", name, excerpt(text), strings.Join(known, ", "), hint)
}

// check refuses a document without the keys that its kind needs.
func (d *document) check() *Error {
	switch d.Kind {
	case Verify:
		return nil
	case Act:
		return d.checkAct()
	case Reflect:
		return d.checkReflect()
	default:
		return d.lacks(d.Pos, "action-required", "the step has neither thought nor action; write thought: and action:")
	}
}

func (d *document) checkAct() *Error {
	switch thought := strings.TrimSpace(d.Thought) != ""; {
	case !thought && d.Action != "":
		return d.lacks(d.seen["action"], "thought-required",
			fmt.Sprintf("the action %s has no thought; write thought: before it, and say what is known, "+
				"what is missing and why this action", excerpt(d.Action)))
	case !thought:
		return d.lacks(d.Pos, "thought-required", "the step has no thought; write thought: and then action:")
	case d.Action == "" && d.seen["action_input"].Line > 0:
		return d.lacks(d.seen["action_input"], "action-required", "action_input stands without an action; write action: before it")
	case d.Action == "" && d.Trigger == "":
		return d.lacks(d.Pos, "action-required", "the thought leads to no action; write action: behind it")
	}
	return nil
}

func (d *document) checkReflect() *Error {
	switch {
	case d.Decision == "":
		return d.lacks(d.Pos, "decision-required",
			"the reflection has no decision; write decision: and one of "+strings.Join(decisionNames, ", "))
	case d.Decision == Delegate && d.AgentID == "":
		return d.lacks(d.seen["decision"], "agent-required", "the decision is delegate, but not to whom; write agent_id:")
	case strings.TrimSpace(d.Reflection) == "" && (d.Decision == Continue || d.Decision == Done || d.Decision == DonePartial):
		return d.lacks(d.seen["decision"], "reflection-required",
			"the decision has no reflection; write reflection: before it, and say what the observation shows and what it does not")
	}
	return nil
}

// lacks returns the error for an incomplete document. If a line of prose ended the
// document, the missing key is often after it.
func (d *document) lacks(at Pos, rule, message string) *Error {
	if d.endedBy != "" {
		message += fmt.Sprintf(". (The document ends at line %d, because %s is neither indented nor a key", d.endLine, excerpt(d.endedBy))
		if name, _, ok := cutKey(d.endedBy); ok {
			if near := suggest.Nearest(name, keyNames); near != "" {
				message += fmt.Sprintf("; did you mean %q?", near)
			}
		}
		message += ".)"
	}
	return &Error{Pos: at, Rule: rule, Message: message}
}

// excerpt quotes a piece of the answer for a message.
func excerpt(text string) string { return strconv.Quote(sanitize.Line(text, 40)) }
