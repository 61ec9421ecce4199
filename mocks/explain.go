package mocks

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// explain says why no line answers a call: the nearest line and the first field
// that differs. It looks at every line, which only an unexpected call pays for.
func (e *Engine) explain(v *view) (code, problem string) {
	e.mu.Lock()
	state, lines := e.state, append([]lineState(nil), e.lines...)
	cursor := e.cursor
	e.mu.Unlock()

	call := fmt.Sprintf("turn %d, user %s", v.turn, shorten(v.user))
	if v.call.Purpose != "" {
		call = "purpose " + v.call.Purpose + ", " + call
	}
	switch {
	case e.program.sequence && cursor >= len(lines):
		return codeExhausted, fmt.Sprintf("the script has no line left for this call (%s): all replies up to %s are used",
			call, e.program.lines[len(lines)-1].name)
	case e.program.sequence:
		return codeUnexpected, fmt.Sprintf("this call (%s) is not the one that %s expects: %s",
			call, e.program.lines[cursor].name, e.program.lines[cursor].difference(v))
	}
	nearest, best := 0, -1
	for i := range e.program.lines {
		if score := e.program.lines[i].score(v, state); score > best {
			nearest, best = i, score
		}
	}
	l := &e.program.lines[nearest]
	return codeUnexpected, fmt.Sprintf("no rule answers this call (%s); the nearest is %s: %s",
		call, l.name, l.obstacle(v, state, &lines[nearest]))
}

// score counts in how many conditions a rule fits; the state counts half as much.
func (l *line) score(v *view, state string) int {
	score := 0
	for i := range l.conditions {
		if _, ok := l.conditions[i].fits(v); ok {
			score += 2
		}
	}
	if l.In == "" || l.In == state {
		score++
	}
	return score
}

// obstacle says why a rule does not answer a call.
func (l *line) obstacle(v *view, state string, s *lineState) string {
	switch {
	case l.differs(v) != nil:
		return l.difference(v)
	case l.In != "" && l.In != state:
		return "in: expected " + shorten(l.In) + ", got " + shorten(state)
	case l.limit > 0 && s.used+s.reserved >= l.limit:
		return "it is used up (times: " + strconv.Itoa(l.limit) + ")"
	}
	return "it fits by now, for another call has just ended"
}

// difference describes the first condition that a request does not meet.
func (l *line) difference(v *view) string {
	c := l.differs(v)
	if c == nil {
		return "another call has just ended"
	}
	got, _ := c.fits(v)
	return fmt.Sprintf("%s: expected %s, got %s", c.field, shorten(c.want), shorten(got))
}

// shorten quotes a text and cuts it to a length that fits a message.
func shorten(text string) string {
	const most = 80 // bytes
	if len(text) <= most {
		return strconv.Quote(text)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.Quote(text[:cut]) + "…"
}
