package mocks

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// explain returns why no line matches a call: the closest line and the first difference. It
// compares all lines, at a cost that only unexpected calls have.
func (e *Engine) explain(v *view) (code, problem string) {
	e.mu.Lock()
	state, lines := e.state, slices.Clone(e.lines)
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
	closest := e.program.closest(v, state, lines)
	l := &e.program.lines[closest]
	return codeUnexpected, fmt.Sprintf("no rule answers this call (%s); the closest is %s: %s",
		call, l.name, l.obstacle(v, state, &lines[closest]))
}

// closest returns the rule that misses a call by the least. Among equals it prefers the rule with
// more conditions met, then the first.
func (p *Program) closest(v *view, state string, states []lineState) int {
	best, missing, met := 0, math.Inf(1), 0
	for i := range p.lines {
		if m, n := p.lines[i].misses(v, state, &states[i]); m < missing || m == missing && n > met {
			best, missing, met = i, m, n
		}
	}
	return best
}

// misses returns by how much a rule misses a call, and how many of its conditions are met. An unmet
// condition counts between 0 (nearly met) and 1; another state, or a used-up line, counts about
// one half.
func (l *line) misses(v *view, state string, s *lineState) (missing float64, met int) {
	for i := range l.conditions {
		c := &l.conditions[i]
		if got, ok := c.fits(v); ok {
			met++
		} else {
			missing += 1 - c.nearness(v, got)
		}
	}
	if l.In != "" && l.In != state {
		missing += 0.5
	}
	if l.usedUp(s) {
		missing += 0.6
	}
	return missing, met
}

// nearlySame is the nearness of texts that differ only in case.
const nearlySame = 0.95

// nearness returns how close a request comes to an unmet condition, from 0 to less than 1.
func (c *condition) nearness(v *view, got string) float64 {
	if c.onlyCase(v) {
		return nearlySame
	}
	switch {
	case strings.HasSuffix(c.field, ".matches"):
		return 0 // a pattern has no distance
	case c.field == turnField:
		want, _ := strconv.Atoi(c.want)
		return 1 / (2 + math.Abs(float64(want-v.turn)))
	}
	return nearlySame * resemblance(c.want, got)
}

// resemblance returns the share of the trigrams of want that occur in got, ignoring case.
func resemblance(want, got string) float64 {
	const most = 4 << 10 // bytes; enough to distinguish texts
	want, got = strings.ToLower(want[:min(len(want), most)]), strings.ToLower(got[:min(len(got), most)])
	const piece = 3
	if len(want) < piece {
		if want != "" && strings.Contains(got, want) {
			return 1
		}
		return 0
	}
	found, pieces := 0, 0
	for i := 0; i+piece <= len(want); i++ {
		pieces++
		if strings.Contains(got, want[i:i+piece]) {
			found++
		}
	}
	return float64(found) / float64(pieces)
}

func (l *line) usedUp(s *lineState) bool { return l.limit > 0 && s.used+s.reserved >= l.limit }

// obstacle describes why a rule does not answer a call.
func (l *line) obstacle(v *view, state string, s *lineState) string {
	switch {
	case l.differs(v) != nil:
		return l.difference(v)
	case l.In != "" && l.In != state:
		return "in: expected " + shorten(l.In) + ", got " + shorten(state)
	case l.usedUp(s):
		return "it is used up (times: " + strconv.Itoa(l.limit) + ")"
	}
	return "it matches now, because another call has just ended"
}

// difference describes the first condition that a request does not meet.
func (l *line) difference(v *view) string {
	c := l.differs(v)
	if c == nil {
		return "another call has just ended"
	}
	got, _ := c.fits(v)
	text := fmt.Sprintf("%s: expected %s, got %s", c.field, shorten(c.want), shorten(got))
	if c.onlyCase(v) {
		text += " (it differs only in case)"
	}
	return text
}

// shorten quotes a text and truncates it for a message.
func shorten(text string) string {
	const most = 80 // bytes
	if len(text) <= most {
		return strconv.Quote(text)
	}
	return strconv.Quote(sanitize.Prefix(text, most)) + "…"
}
