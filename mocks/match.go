package mocks

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// view is a request with the parts that conditions read.
type view struct {
	call *wire.Call
	// user is the text of the last user message, after what follows it.
	user  string
	after []llm.Message
	// turn is the number of assistant messages.
	turn int
}

func newView(call *wire.Call) view {
	v := view{call: call}
	for i, m := range call.Messages {
		switch m.Role {
		case llm.User:
			v.user, v.after = m.Content, call.Messages[i+1:]
		case llm.Assistant:
			v.turn++
		}
	}
	return v
}

// Position returns what the conditions turn and user of a line compare: the number of
// assistant messages, and the text of the last user message.
func Position(messages []llm.Message) (turn int, user string) {
	v := newView(&wire.Call{Request: llm.Request{Messages: messages}})
	return v.turn, v.user
}

// recent returns the last user message and what follows it.
func (v *view) recent() []llm.Message {
	all := v.call.Messages
	return all[max(0, len(all)-len(v.after)-1):]
}

// system returns the text of the system and developer messages, a line for each.
func (v *view) system() string {
	text := ""
	for _, m := range v.call.Messages {
		if m.Role == llm.System || m.Role == llm.Developer {
			if text != "" {
				text += "\n"
			}
			text += m.Content
		}
	}
	return text
}

// turnField is the field of the condition on the number of the turn.
const turnField = "when.turn"

// condition is one compiled condition of a line.
type condition struct {
	// field is the key of the condition, such as "when.user.contains", want its value.
	field, want string
	// fits returns what the request has there and whether it meets the condition.
	fits func(*view) (got string, ok bool)
	// folded reports whether the request meets the condition regardless of case; nil where
	// that makes no difference. It is slow, for explanations only.
	folded func(*view) bool
}

// conditions compiles w in the order in which differences are reported: the most
// selective conditions come first.
func (w *When) conditions() ([]condition, error) {
	if w == nil {
		return nil, nil
	}
	c := equals(nil, "when.purpose", w.Purpose, func(v *view) string { return v.call.Purpose })
	for _, key := range slices.Sorted(maps.Keys(w.Metadata)) {
		c = append(c, same("when.metadata."+key, w.Metadata[key], func(v *view) string {
			if key == "purpose" {
				return v.call.Purpose
			}
			return v.call.Tags[key]
		}))
	}
	c = equals(c, "when.model", w.Model, func(v *view) string { return v.call.Model })
	c, err := w.attachment(c)
	if err != nil {
		return nil, err
	}
	texts := []struct {
		field string
		match *Match
		text  func(fits func(string) bool) func(*view) (string, bool)
	}{
		{"when.system", w.System, func(fits func(string) bool) func(*view) (string, bool) {
			return func(v *view) (string, bool) { got := v.system(); return got, fits(got) }
		}},
		{"when.user", w.User, func(fits func(string) bool) func(*view) (string, bool) {
			return func(v *view) (string, bool) { return v.user, fits(v.user) }
		}},
		{"when.any", w.Any, func(fits func(string) bool) func(*view) (string, bool) {
			return func(v *view) (string, bool) { return anyText(v.call.Messages, "", fits) }
		}},
		{"when.tool_result", w.ToolResult, func(fits func(string) bool) func(*view) (string, bool) {
			return func(v *view) (string, bool) { return anyText(v.after, llm.ToolRole, fits) }
		}},
	}
	for _, t := range texts {
		if t.match == nil {
			continue
		}
		kind, want, fits, err := t.match.compile()
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t.field, kind, err)
		}
		c = append(c, condition{t.field + "." + kind, want, t.text(fits), func(v *view) bool {
			_, ok := t.text(t.match.folded)(v)
			return ok
		}})
	}
	return append(c, w.others()...), nil
}

// attachment adds the condition on the attachments of the last user message and of the
// results after it.
func (w *When) attachment(c []condition) ([]condition, error) {
	if w.Attachment == nil {
		return c, nil
	}
	kind, want, fits, err := w.Attachment.compile()
	if err != nil {
		return nil, fmt.Errorf("when.attachment.%s: %w", kind, err)
	}
	return append(c, condition{"when.attachment." + kind, want, func(v *view) (got string, ok bool) {
		for _, m := range v.recent() {
			for _, a := range m.Attachments {
				if got = a.String(); fits(got) {
					return got, true
				}
			}
		}
		return got, false
	}, nil}), nil
}

// others are the conditions that are not on texts.
func (w *When) others() []condition {
	var c []condition
	if w.ToolOffered != "" {
		c = append(c, condition{"when.tool_offered", w.ToolOffered, func(v *view) (string, bool) {
			return toolNames(v.call.Tools), slices.ContainsFunc(v.call.Tools, func(t llm.Tool) bool { return t.Name == w.ToolOffered })
		}, func(v *view) bool {
			return slices.ContainsFunc(v.call.Tools, func(t llm.Tool) bool { return strings.EqualFold(t.Name, w.ToolOffered) })
		}})
	}
	for _, name := range slices.Sorted(maps.Keys(w.Header)) {
		c = append(c, same("when.header."+name, w.Header[name], func(v *view) string { return v.call.Header.Get(name) }))
	}
	if w.Turn != nil {
		c = append(c, condition{turnField, strconv.Itoa(*w.Turn), func(v *view) (string, bool) {
			return strconv.Itoa(v.turn), v.turn == *w.Turn
		}, nil})
	}
	return c
}

func toolNames(tools []llm.Tool) string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// equals appends a condition on equality unless nothing is wanted.
func equals(c []condition, field, want string, got func(*view) string) []condition {
	if want == "" {
		return c
	}
	return append(c, same(field, want, got))
}

func same(field, want string, got func(*view) string) condition {
	return condition{field, want, func(v *view) (string, bool) {
		g := got(v)
		return g, g == want
	}, func(v *view) bool { return strings.EqualFold(got(v), want) }}
}

// anyText looks for a message of a role ("" means all) whose text fits; got is
// the last one looked at.
func anyText(messages []llm.Message, role llm.Role, fits func(string) bool) (got string, ok bool) {
	for _, m := range messages {
		if role != "" && m.Role != role {
			continue
		}
		if got = m.Content; fits(got) {
			return got, true
		}
	}
	return got, false
}

// compile returns the kind of the condition ("contains", ...), its value and a
// function that reports whether a text fits.
func (m *Match) compile() (kind, want string, fits func(string) bool, err error) {
	switch {
	case m.Equals != "":
		return "equals", m.Equals, func(s string) bool { return s == m.Equals }, nil
	case m.Matches != "":
		re, err := regexp.Compile(m.Matches)
		if err != nil {
			return "matches", m.Matches, nil, err
		}
		return "matches", m.Matches, re.MatchString, nil
	default:
		return "contains", m.Contains, func(s string) bool { return strings.Contains(s, m.Contains) }, nil
	}
}

// folded reports whether a text would fit if upper and lower case were the same.
func (m *Match) folded(s string) bool {
	switch {
	case m.Equals != "":
		return strings.EqualFold(s, m.Equals)
	case m.Matches != "":
		re, err := regexp.Compile("(?i:" + m.Matches + ")")
		return err == nil && re.MatchString(s)
	default:
		return strings.Contains(strings.ToLower(s), strings.ToLower(m.Contains))
	}
}
