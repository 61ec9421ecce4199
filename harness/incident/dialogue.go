package incident

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
)

// dialogue follows the user's messages of a conversation from prompt to prompt. A prompt may have the whole history, or
// only its last messages: a sliding window.
type dialogue struct {
	users   []string // of all prompts
	lines   []line   // of the last prompt, and of those before it
	answers []line   // of the calls with these lines

	others  int // prompts that do not continue the conversation
	unclear int // prompts that have parts of the conversation, but may lack messages
}

// line is a message of the user, or an answer without tool calls.
type line struct {
	role llm.Role
	text string
}

// follow adds the new messages of a call's prompt, which users then has, and its answer. It reports whether the prompt
// continues the conversation.
func (d *dialogue) follow(t *Turn) bool {
	said, lines := userTexts(t.Messages), linesOf(t.Messages)
	before, known, ambiguous := d.overlap(lines)
	users := slices.Concat(d.users, userLines(lines[known:])) // if the prompt is a window
	whole := hasPrefix(said, d.users)
	switch {
	case len(said) == 0:
		return false
	case hasPrefix(lines, d.lines), whole && (known == 0 || slices.Equal(users, said)):
		d.advance(said, lines)
	case whole || ambiguous:
		d.unclear++
		return false
	case known > 0 && (known == len(lines) || lines[known].role == llm.Assistant || lines[known-1].role == llm.Assistant):
		d.advance(users, slices.Concat(before, lines[known:]))
	case hasPrefix(d.users, said):
		return false
	case d.shares(lines):
		d.unclear++
		return false
	default:
		d.others++
		return false
	}
	if text := strings.TrimSpace(t.Reply.Text); text != "" && len(t.Reply.ToolCalls) == 0 && t.Failure == nil {
		d.answers = append(d.answers, line{llm.Assistant, text})
	}
	return true
}

func (d *dialogue) advance(users []string, lines []line) {
	if !slices.Equal(lines, d.lines) {
		d.answers = nil
	}
	d.users, d.lines = users, lines
}

// overlap returns how many lines at the start of a prompt are the last ones of the dialogue, which is returned with or
// without one of its answers. It is ambiguous if these leave different new messages of the user, as when messages repeat.
func (d *dialogue) overlap(lines []line) (before []line, known int, ambiguous bool) {
	ends := [][]line{d.lines}
	for _, a := range d.answers {
		ends = append(ends, slices.Concat(d.lines, []line{a}))
	}
	for _, end := range ends {
		n := min(len(end), len(lines))
		for n > 0 && !slices.Equal(end[len(end)-n:], lines[:n]) {
			n--
		}
		if n > 0 && known > 0 && !slices.Equal(userLines(lines[n:]), userLines(lines[known:])) {
			ambiguous = true
		}
		if n > known {
			before, known = end, n
		}
	}
	return before, known, ambiguous
}

// shares reports whether a prompt with a history has lines of the dialogue.
func (d *dialogue) shares(lines []line) bool {
	return slices.ContainsFunc(lines, func(l line) bool { return l.role == llm.Assistant }) &&
		slices.ContainsFunc(lines, func(l line) bool { return slices.Contains(d.lines, l) || slices.Contains(d.answers, l) })
}

// linesOf returns the lines of a prompt. An answer in several messages is one line.
func linesOf(messages []llm.Message) []line {
	var all []line
	for _, m := range messages {
		text := strings.TrimSpace(m.Content)
		last := len(all) - 1
		switch {
		case m.Role == llm.User:
			all = append(all, line{llm.User, m.Content})
		case m.Role != llm.Assistant || text == "" || len(m.ToolCalls) > 0:
		case last >= 0 && all[last].role == llm.Assistant:
			all[last].text += "\n" + text
		default:
			all = append(all, line{llm.Assistant, text})
		}
	}
	return all
}

func userLines(lines []line) []string {
	var said []string
	for _, l := range lines {
		if l.role == llm.User {
			said = append(said, l.text)
		}
	}
	return said
}

// hasPrefix reports whether a list begins with all items of another one.
func hasPrefix[T comparable](list, prefix []T) bool {
	return len(list) >= len(prefix) && slices.Equal(list[:len(prefix)], prefix)
}
