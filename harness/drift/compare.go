package drift

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
	"github.com/rehearse-dev/rehearse/redact"
)

// Tier is the severity of a difference.
type Tier string

// The tiers.
const (
	Error Tier = "error" // breaks clients: a missing member, another type, another order of events
	Warn  Tier = "warn"  // unnoticed by lenient clients: new members and events, another model
	Info  Tier = "info"  // differs from answer to answer: texts, lengths, usage
)

// Tiers returns all tiers, the most severe first.
func Tiers() []Tier { return []Tier{Error, Warn, Info} }

// Difference is a change since the capture.
type Difference struct {
	Tier Tier `json:"tier"`
	// Where names the part of the answer: "status", "finish", "events", "tool call search", or a
	// member such as "content_block_delta: delta.text".
	Where string `json:"where"`
	// Before is the captured value, Now the new one.
	Before string `json:"before,omitempty"`
	Now    string `json:"now,omitempty"`
}

// comparison collects differences.
type comparison struct{ found []Difference }

func (c *comparison) add(tier Tier, where, before, now string) {
	c.found = append(c.found, Difference{tier, where, before, now})
}

// differ adds a difference unless both values are equal.
func (c *comparison) differ(tier Tier, where, before, now string) {
	if before != now {
		c.add(tier, where, before, now)
	}
}

// compare returns the differences between an answer and the captured one, the most severe first. A
// missing answer is the only difference.
func compare(before, now *shape) []Difference {
	var c comparison
	switch {
	case before.status != now.status && now.unread != nil:
		c.add(Error, "status", fmt.Sprint(before.status), fmt.Sprintf("%d: %v", now.status, now.unread))
	case before.status != now.status:
		c.add(Error, "status", fmt.Sprint(before.status), fmt.Sprint(now.status))
	case before.media != now.media:
		c.add(Error, "content type", before.media, now.media)
	case now.unread != nil && before.unread == nil:
		c.add(Error, "answer", "whole", now.unread.Error())
	}
	if len(c.found) > 0 {
		return c.found
	}
	c.answers(before, now)
	c.events(before.kinds, now.kinds)
	c.order("order of chunks", before.parts, now.parts)
	c.members(before.members, now.members)
	slices.SortStableFunc(c.found, func(a, b Difference) int {
		return cmp.Compare(slices.Index(Tiers(), a.Tier), slices.Index(Tiers(), b.Tier))
	})
	return c.found
}

// answers compares the answers in neutral form.
func (c *comparison) answers(before, now *shape) {
	a, b := &before.answer, &now.answer
	c.differ(Error, "finish", string(a.FinishReason()), string(b.FinishReason()))
	c.toolCalls(a.ToolCalls, b.ToolCalls)
	c.differ(Warn, "model", a.Model, b.Model)
	c.differ(Error, "media type", mediaType(a.Media), mediaType(b.Media))
	c.differ(Info, "media", mediaLength(a.Media), mediaLength(b.Media))
	c.differ(Info, "text", length(a.Text), length(b.Text))
	c.differ(Info, "thinking", length(a.Thinking), length(b.Thinking))
	c.differ(Info, "usage", usage(a.Usage), usage(b.Usage))
}

// mediaType returns the type that the bytes show.
func mediaType(m *wire.Media) string {
	if m == nil {
		return "none"
	}
	return cmp.Or(m.Type, "unknown")
}

func mediaLength(m *wire.Media) string {
	if m == nil {
		return "none"
	}
	return fmt.Sprintf("%d bytes", len(m.Data))
}

// length describes a text without its secrets, which a capture does not have.
func length(s string) string { return fmt.Sprintf("%d bytes", len(redact.New(nil).Text(s))) }

func usage(u llm.Usage) string {
	if u.Source == "" {
		return "none"
	}
	return fmt.Sprintf("%d in, %d out", u.Input+u.CachedInput+u.CacheWrite, u.Output)
}

// toolCalls compares the first call of each tool.
func (c *comparison) toolCalls(before, now []llm.ToolCall) {
	called := map[string]llm.ToolCall{}
	for _, call := range slices.Backward(now) {
		called[call.Name] = call
	}
	seen := map[string]bool{}
	for _, call := range before {
		if seen[call.Name] {
			continue
		}
		seen[call.Name] = true
		where := "tool call " + call.Name
		again, ok := called[call.Name]
		if !ok {
			c.add(Error, where, "called", "not called")
			continue
		}
		was, invalid := arguments(call) // the captured arguments may be invalid as well
		is, err := arguments(again)
		switch {
		case invalid != nil:
		case err != nil:
			c.add(Error, where, "a JSON object as arguments", err.Error())
		default:
			c.kinds(where+": ", was, is)
		}
	}
	for name := range called {
		if !seen[name] {
			c.add(Warn, "tool call "+name, "not called", "called")
		}
	}
}

// keepAlive are events that may occur anywhere.
var keepAlive = map[string]bool{"ping": true, "keepalive": true}

// events compares the kinds of events, and the order of their first occurrences.
func (c *comparison) events(before, now []string) {
	was, is := firsts(before), firsts(now)
	for _, kind := range was {
		if !slices.Contains(is, kind) {
			c.add(Error, "event "+kind, "present", "missing")
		}
	}
	for _, kind := range is {
		if !slices.Contains(was, kind) {
			c.add(Warn, "event "+kind, "", "new")
		}
	}
	c.order("order of events", was, is)
}

// order compares the order of those elements that both lists have.
func (c *comparison) order(where string, before, now []string) {
	both := func(list, other []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(list), func(k string) bool { return !slices.Contains(other, k) }), ", ")
	}
	c.differ(Error, where, both(before, now), both(now, before))
}

// firsts returns the distinct kinds in the order of their first occurrences.
func firsts(kinds []string) []string {
	var first []string
	for _, k := range kinds {
		if !slices.Contains(first, k) && !keepAlive[k] {
			first = append(first, k)
		}
	}
	return first
}

// members compares the members of events that both have.
func (c *comparison) members(before, now map[string]values) {
	kinds := map[string]bool{}
	for at := range now {
		kinds[kindAt(at)] = true
	}
	known := map[string]bool{}
	for at := range before {
		known[kindAt(at)] = true
	}
	shared := func(members map[string]values, with map[string]bool) map[string]values {
		out := maps.Clone(members)
		maps.DeleteFunc(out, func(at string, _ values) bool { return !with[kindAt(at)] || keepAlive[kindAt(at)] })
		return out
	}
	c.kinds("", shared(before, kinds), shared(now, known))
}

// kindAt returns the event kind of a member.
func kindAt(at string) string {
	kind, _, _ := strings.Cut(at, ": ")
	return kind
}

// kinds compares the kinds of values at each place. A missing value is reported once, at its
// outermost place, and not at all if it was null. Null matches every kind.
func (c *comparison) kinds(prefix string, before, now map[string]values) {
	for _, at := range slices.Sorted(maps.Keys(before)) {
		was, is := before[at], now[at]
		switch {
		case is == 0 && below(before, now, at):
		case is == 0 && was == null:
			c.add(Warn, prefix+at, "null", "missing")
		case is == 0:
			c.add(Error, prefix+at, was.String(), "missing")
		case was&is == 0 && (was|is)&null == 0:
			c.add(Error, prefix+at, was.String(), is.String())
		}
	}
	for _, at := range slices.Sorted(maps.Keys(now)) {
		if before[at] == 0 && !below(now, before, at) {
			c.add(Warn, prefix+at, "", "new: "+now[at].String())
		}
	}
}

// below reports whether a place is inside one that these have and the others do not.
func below(these, others map[string]values, at string) bool {
	for i := len(at) - 1; i > 0; i-- {
		if at[i] != '.' && at[i] != '[' {
			continue
		}
		outer := at[:i]
		if these[outer] != 0 && (others[outer] == 0 || others[outer]&(list|object) == 0 || empty(others, outer)) {
			return true
		}
	}
	return false
}

// empty reports whether a list or an object is empty, so that the kinds of its members are unknown.
func empty(members map[string]values, outer string) bool {
	for at := range members {
		if rest, ok := strings.CutPrefix(at, outer); ok && rest != "" && (rest[0] == '.' || rest[0] == '[') {
			return false
		}
	}
	return true
}
