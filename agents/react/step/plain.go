package step

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// labelPattern matches the label of a line in the plain form, such as "Thought:", "**action:**" or
// "Action Input:".
var labelPattern = lazyregexp.New(`(?i)^(?:#{1,4} |[*_]{1,2})?` +
	`(thought|action[ _]input|action|observation|reflection|decision|reason|trigger|agent[ _]id|task|missing)` +
	`[*_]{0,2}[ \t]*:[*_]{0,2}(?:[ \t]+|$)`)

// label returns the key that a line of the plain form begins with, and the offset of its value.
// A key of the YAML form is not a label.
func (p *parser) label(l line) (k *key, value int, ok bool) {
	if p.indent(l) > 0 || l.text == "" || !strings.ContainsAny(l.text[:1], "*_#TAORDMtaordm") || keyOf(l) != nil {
		return nil, 0, false
	}
	m := labelPattern().FindStringSubmatchIndex(l.text)
	if m == nil {
		return nil, 0, false
	}
	name := strings.ReplaceAll(strings.ToLower(l.text[m[2]:m[3]]), " ", "_")
	return &keys[slices.Index(keyNames, name)], m[1], true
}

// plain parses a document in the plain form, which begins at the current line: labels with texts that
// need neither quotes nor indentation. A second label of the same name and a label of another kind begin
// another document. An incomplete document is prose, unless it follows an action.
func (p *parser) plain() *Error {
	d := document{Document: Document{Pos: p.pos(p.i, 0)}, seen: map[string]Pos{}}
	var bad *Error
	for !p.eof() {
		l := p.line(p.i)
		k, off, ok := p.label(l)
		if !ok || d.seen[k.name].Line > 0 || k.kind != "" && d.Kind != "" && k.kind != d.Kind {
			break
		}
		if d.Kind == "" {
			d.Kind = k.kind
		}
		d.seen[k.name] = p.pos(p.i, 0)
		if wrong := p.plainField(&d, k, off); bad == nil {
			bad = wrong
		}
	}
	if bad == nil {
		bad = d.check()
	}
	afterAct := len(p.found) > 0 && p.found[len(p.found)-1].Kind == Act
	switch {
	case bad != nil && (!afterAct || d.Kind == ""):
		p.incomplete = cmp.Or(p.incomplete, bad)
	case len(p.found) == maxDocuments:
		return p.tooMany(d.Pos)
	default:
		p.found = append(p.found, d.Document)
	}
	return nil
}

// plainField sets the field of a label, and moves behind its value.
func (p *parser) plainField(d *document, k *key, off int) *Error {
	value, at := p.plainValue(off, k.name == "action_input")
	word := strings.Trim(firstLine(value), " \t`\"'*_.")
	switch k.name {
	case "action_input":
		d.Input, d.InputPos = plainInput(value), at
		return nil
	case "action", "agent_id":
		value = word
	case "decision":
		value = strings.ToLower(word)
		if bad := oneOf("decision", value, decisionNames, at); bad != nil {
			return bad
		}
	case "trigger":
		value = strings.ToLower(word)
		if bad := oneOf("trigger", value, triggers, at); bad != nil {
			return bad
		}
	}
	*k.field(&d.Document) = value
	return nil
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// plainValue returns the text behind a label up to the next one, and its position. The value of an input
// may be in a fence. Afterwards the current line is the one behind the value.
func (p *parser) plainValue(off int, input bool) (string, Pos) {
	l := p.line(p.i)
	from, at := l.start+l.lead+off, p.pos(p.i, off)
	to := l.end()
	begun := strings.TrimSpace(l.text[min(off, len(l.text)):]) != ""
	for p.i++; !p.eof(); p.i++ {
		l, c := p.current()
		if c == separator || c == ending || c == closing || c == keyLine && keyOf(l) != nil && keyOf(l).begins {
			break
		}
		if _, _, ok := p.label(l); ok {
			break
		}
		if c == opening && (begun || !input) {
			break
		}
		if c == opening {
			return p.fencedValue()
		}
		if !begun && !l.blank() {
			begun, from, at = true, l.start+l.lead, p.pos(p.i, 0)
		}
		to = l.end()
	}
	return strings.TrimSpace(p.cut(from, to, 0)), at
}

// fencedValue returns the content of the fence that the current line opens.
func (p *parser) fencedValue() (string, Pos) {
	f, _ := fenceOf(p.line(p.i).text)
	p.i++
	first, begin := p.i, p.line(p.i)
	to := begin.start
	for ; !p.eof() && !f.closes(p.line(p.i).text); p.i++ {
		to = p.line(p.i).end()
		p.work += to - p.line(p.i).start
	}
	p.i++
	return strings.TrimSpace(p.cut(begin.start, to, 0)), Pos{Line: first + 1, Column: 1}
}

// plainInput returns an input without the prose behind its JSON.
func plainInput(value string) string {
	if !strings.HasPrefix(value, "{") {
		return value
	}
	d := jsontext.NewDecoder(strings.NewReader(value))
	if found, err := d.ReadValue(); err == nil {
		return asYAML(found)
	}
	return value
}
