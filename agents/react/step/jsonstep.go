package step

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// outputKey is a key of JSON documents only: the final output.
const outputKey = "output"

// jsonKeys are the keys of a JSON document.
var jsonKeys = append(slices.Clone(keyNames), outputKey)

// jsonStep matches the beginning of a JSON object that is meant as a step.
var jsonStep = lazyregexp.New(
	`^\{\s*"(?:step|thought|action|action_input|observation|reflection|decision|reason|verification)"\s*:`)

// maxJSONLead is the part of a text that is examined for such a beginning, in bytes.
const maxJSONLead = 1 << 10

func beginsJSON(text string) bool { return jsonStep().MatchString(text[:min(len(text), maxJSONLead)]) }

// json parses the JSON document at the current line.
func (p *parser) json() *Error {
	l := p.line(p.i)
	begin := Pos{Line: p.i + 1, Column: l.lead + 1}
	from := l.start + l.lead
	members, end, bad := readMembers(p.text[from:])
	if bad != nil {
		p.work += len(p.text) - from
		bad.Pos = begin.inText(bad.Pos)
		return bad
	}
	p.work += end
	for i := range members {
		members[i].key, members[i].at = begin.inText(members[i].key), begin.inText(members[i].at)
	}
	docs, bad := documents(members, begin)
	if bad != nil {
		return bad
	}
	for p.i++; !p.eof() && p.line(p.i).start < from+end; p.i++ {
	}
	if len(p.found)+len(docs) > maxDocuments {
		return p.tooMany(begin)
	}
	p.found = append(p.found, docs...)
	if last := docs[len(docs)-1]; last.Kind == Verify {
		p.output()
	}
	return nil
}

// inText converts a position in a piece of a text that begins at p. Unlike In, it is for a piece
// whose further lines begin at the margin of the text.
func (p Pos) inText(inner Pos) Pos {
	if inner.Line <= 1 {
		return p.In(inner)
	}
	return Pos{Line: p.Line + inner.Line - 1, Column: inner.Column}
}

// documents converts the members of a JSON object to documents: a reflection, a step, a verification
// and an output, as far as the object has them. With a step, a reflection needs no decision.
func documents(members []member, begin Pos) ([]Document, *Error) {
	act := document{Document: Document{Kind: Act, Pos: begin, generated: true}, seen: map[string]Pos{}}
	reflection := document{Document: Document{Kind: Reflect, Pos: begin, generated: true}, seen: map[string]Pos{}}
	var ends []Document
	var number *member
	for i := range members {
		m := &members[i]
		at := slices.Index(keyNames, m.name)
		switch {
		case m.isNull():
		case m.name == "verification" || m.name == outputKey:
			end, bad := m.end()
			if bad != nil {
				return nil, bad
			}
			ends = append(ends, end)
		case at < 0:
			return nil, errorAt(m.key, "unknown-key", "unknown key %s; %s", excerpt(m.name), hintAmong(m.name, "keys", jsonKeys))
		case m.name == "step":
			number = m
		case m.name == "trigger" && !hasAny(members, Reflect), keys[at].kind == Act:
			if bad := act.setMember(m, &keys[at]); bad != nil {
				return nil, bad
			}
		default:
			if bad := reflection.setMember(m, &keys[at]); bad != nil {
				return nil, bad
			}
		}
	}
	if number != nil {
		if bad := act.number(strings.Trim(string(number.value), `"`), number.at); bad != nil {
			return nil, bad
		}
	}
	return joined(&reflection, &act, ends)
}

// hasAny reports whether an object has a key of a kind of documents.
func hasAny(members []member, kind Kind) bool {
	return slices.ContainsFunc(members, func(m member) bool {
		at := slices.Index(keyNames, m.name)
		return at >= 0 && keys[at].kind == kind && !m.isNull()
	})
}

// joined returns the documents of an object, complete and in the order in which the engine uses them.
func joined(reflection, act *document, ends []Document) ([]Document, *Error) {
	var docs []Document
	acts := len(act.seen) > 0
	if len(reflection.seen) > 0 {
		if reflection.Decision == "" && acts {
			reflection.Decision = Continue
		}
		if bad := reflection.check(); bad != nil {
			return nil, bad
		}
		docs = append(docs, reflection.Document)
	}
	if acts || len(docs)+len(ends) == 0 {
		if bad := act.check(); bad != nil {
			return nil, bad
		}
		docs = append(docs, act.Document)
	}
	slices.SortStableFunc(ends, func(a, b Document) int { return -strings.Compare(string(a.Kind), string(b.Kind)) }) // verify, output
	return append(docs, ends...), nil
}

func (d *document) setMember(m *member, k *key) *Error {
	d.seen[k.name] = m.key
	if k.name == "action_input" {
		d.InputPos = m.at
		if text, ok := m.text(); ok {
			d.Input = text
		} else {
			d.Input = asYAML(m.value)
		}
		return nil
	}
	text, ok := m.text()
	if k.name == "missing" {
		text, ok = m.list()
	}
	if !ok {
		return errorAt(m.at, "not-text", "%s must be a string", k.name)
	}
	switch word := strings.TrimSpace(text); k.name {
	case "action", "agent_id":
		text = word
	case "decision":
		text = word
		if bad := oneOf("decision", word, decisionNames, m.at); bad != nil {
			return bad
		}
	case "trigger":
		text = word
		if bad := oneOf("trigger", word, triggers, m.at); bad != nil {
			return bad
		}
	}
	*k.field(&d.Document) = strings.TrimRight(text, "\n")
	return nil
}

// end returns the document of a verification or an output.
func (m member) end() (Document, *Error) {
	d := Document{Kind: Output, Pos: m.at, generated: true}
	if m.name == outputKey {
		d.Text = indentedJSON(m.value)
		return d, nil
	}
	d.Kind = Verify
	text, isText := m.text()
	switch {
	case m.value[0] == '{':
		d.Text = "verification: " + asYAML(m.value)
	case isText && strings.HasPrefix(text, "verification:"):
		d.Text = text
	default:
		return d, errorAt(m.at, "no-verification", "the verification must be an object with the parts %s", partNames())
	}
	return d, nil
}
