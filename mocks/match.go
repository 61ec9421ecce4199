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

// view is a request with the parts for conditions.
type view struct {
	call *wire.Call
	// user is the text of the last user message; after has the messages after it.
	user  string
	after []llm.Message
	// turn is the number of assistant messages.
	turn int
}

func newView(call *wire.Call) view {
	v := view{call: call}
	for i, m := range call.Messages {
		if m.Role == llm.User {
			v.user, v.after = m.Content, call.Messages[i+1:]
		}
		if m.Role == llm.Assistant {
			v.turn++
		}
	}
	return v
}

// Position returns the values for the conditions turn and user: the number of assistant messages
// and the text of the last user message.
func Position(messages []llm.Message) (turn int, user string) {
	v := newView(&wire.Call{Request: llm.Request{Messages: messages}})
	return v.turn, v.user
}

// recent returns the last user message and the messages after it.
func (v *view) recent() []llm.Message {
	all := v.call.Messages
	return all[max(0, len(all)-len(v.after)-1):]
}

// system returns the texts of the system and developer messages, separated by line breaks.
func (v *view) system() string {
	var texts []string
	for _, m := range v.call.Messages {
		if m.Role == llm.System || m.Role == llm.Developer {
			texts = append(texts, m.Content)
		}
	}
	return strings.Join(texts, "\n")
}

// turnField is the field of the condition on the number of the turn.
const turnField = "when.turn"

// look passes texts of a request to fits until one matches. It returns that text, or the last one.
type look func(v *view, fits func(text string) bool) (got string, ok bool)

func one(text func(*view) string) look {
	return func(v *view, fits func(string) bool) (string, bool) {
		got := text(v)
		return got, fits(got)
	}
}

// condition is one compiled condition of a line.
type condition struct {
	// field is the key of the condition, such as "when.user.contains"; want is its value.
	field, want string
	look        look
	accepts     func(text string) bool
	// folded is accepts ignoring case, for explanations.
	folded func(text string) bool
}

// fits reports whether the request meets the condition, and returns its value.
func (c *condition) fits(v *view) (got string, ok bool) { return c.look(v, c.accepts) }

// onlyCase reports whether a request meets the condition if case is ignored.
func (c *condition) onlyCase(v *view) bool {
	_, ok := c.look(v, c.folded)
	return ok
}

// conditions compiles w, most selective conditions first, which is the order of reported
// differences.
func (w *When) conditions() ([]condition, error) {
	if w == nil {
		return nil, nil
	}
	var c []condition
	equals := func(field, want string, look look) {
		c = append(c, condition{
			field, want, look,
			func(text string) bool { return text == want }, func(text string) bool { return strings.EqualFold(text, want) },
		})
	}
	if w.Purpose != "" {
		equals("when.purpose", w.Purpose, one(func(v *view) string { return v.call.Purpose }))
	}
	for _, key := range slices.Sorted(maps.Keys(w.Metadata)) {
		equals("when.metadata."+key, w.Metadata[key], one(func(v *view) string {
			if key == "purpose" {
				return v.call.Purpose
			}
			return v.call.Tags[key]
		}))
	}
	if w.Model != "" {
		equals("when.model", w.Model, one(func(v *view) string { return v.call.Model }))
	}
	for _, t := range w.matches() {
		kind, want, accepts, err := t.match.compile()
		if err != nil {
			return nil, fmt.Errorf("when.%s.%s: %w", t.key, kind, err)
		}
		c = append(c, condition{"when." + t.key + "." + kind, want, t.look, accepts, t.match.folded})
	}
	if w.ToolOffered != "" {
		equals("when.tool_offered", w.ToolOffered, toolsOffered)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Header)) {
		equals("when.header."+name, w.Header[name], one(func(v *view) string { return v.call.Header.Get(name) }))
	}
	if w.Turn != nil {
		equals(turnField, strconv.Itoa(*w.Turn), one(func(v *view) string { return strconv.Itoa(v.turn) }))
	}
	return c, nil
}

// textMatch is a condition of a When on texts.
type textMatch struct {
	key   string
	match *Match
	look  look
}

func (w *When) matches() []textMatch {
	all := []textMatch{
		{"attachment", w.Attachment, lookAtAttachments},
		{"system", w.System, one((*view).system)},
		{"user", w.User, one(func(v *view) string { return v.user })},
		{"any", w.Any, func(v *view, fits func(string) bool) (string, bool) { return anyText(v.call.Messages, "", fits) }},
		{"tool_result", w.ToolResult, func(v *view, fits func(string) bool) (string, bool) { return anyText(v.after, llm.ToolRole, fits) }},
	}
	return slices.DeleteFunc(all, func(t textMatch) bool { return t.match == nil })
}

// lookAtAttachments is the look of the attachments of the last user message and the results after
// it.
func lookAtAttachments(v *view, fits func(string) bool) (got string, ok bool) {
	for _, m := range v.recent() {
		for _, a := range m.Attachments {
			if got = a.String(); fits(got) {
				return got, true
			}
		}
	}
	return got, false
}

// toolsOffered is the look of the names of the tools; got has all of them.
func toolsOffered(v *view, fits func(string) bool) (got string, ok bool) {
	names := make([]string, len(v.call.Tools))
	for i, t := range v.call.Tools {
		names[i] = t.Name
	}
	return strings.Join(names, ", "), slices.ContainsFunc(names, fits)
}

// anyText passes the texts of the messages of a role ("" means all) to fits until one matches; got
// is the last one.
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

// compile returns the kind of the condition, such as "contains", its value and its predicate.
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

// folded reports whether a text meets the condition if case is ignored.
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
