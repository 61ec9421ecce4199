package mcp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// explain returns why no line answers a call: the closest line and the first difference.
func (t *tool) explain(server, arguments string, args map[string]any, states []progress) string {
	call := fmt.Sprintf("%s at the MCP server %s with %s", t.Name, server, sanitize.Line(arguments, maxShown))
	if len(t.lines) == 0 {
		return fmt.Sprintf("the script has no line for this call (%s)", call)
	}
	usedUp := func(i int) bool { return t.lines[i].limit > 0 && states[i].used+states[i].reserved >= t.lines[i].limit }
	if t.sequence {
		for i := range t.lines {
			if !usedUp(i) {
				return fmt.Sprintf("this call (%s) is not the one that %s expects: %s", call, t.lines[i].name, t.lines[i].difference(args))
			}
		}
		return fmt.Sprintf("the script has no line left for this call (%s): all replies up to %s are used", call, t.lines[len(t.lines)-1].name)
	}
	best, most := 0, -1
	for i := range t.lines {
		if met := t.lines[i].met(args); met > most {
			best, most = i, met
		}
	}
	l := &t.lines[best]
	why := l.difference(args)
	if l.differs(args) == nil {
		why = "it is used up (times: " + strconv.Itoa(l.limit) + ")"
	}
	return fmt.Sprintf("no rule answers this call (%s); the closest is %s: %s", call, l.name, why)
}

// met counts the conditions that arguments meet.
func (l *line) met(args map[string]any) (n int) {
	for i := range l.conditions {
		if l.conditions[i].Fits(textOf(args, l.conditions[i].argument)) {
			n++
		}
	}
	return n
}

// difference describes the first condition that arguments do not meet.
func (l *line) difference(args map[string]any) string {
	c := l.differs(args)
	if c == nil {
		return "another call has just ended"
	}
	got := "nothing"
	if _, ok := args[c.argument]; ok {
		got = shorten(textOf(args, c.argument))
	}
	return fmt.Sprintf("when.arguments.%s.%s: expected %s, got %s", c.argument, c.Kind, shorten(c.Want), got)
}

// unknown describes the call of a tool that a server does not offer.
func (e *Engine) unknown(server int, name string) string {
	var names []string
	for i := range e.program.tools[server] {
		if t := &e.program.tools[server][i]; !t.Later || e.appeared[server] {
			names = append(names, t.Name)
		}
	}
	text := fmt.Sprintf("the MCP server %s has no tool %s", e.program.servers[server].Name, shorten(name))
	if len(names) > 0 {
		text += "; it has " + strings.Join(names, ", ")
	}
	return text + suggest.Hint(name, names)
}

// Report returns the findings so far. It is complete after Close.
func (e *Engine) Report() Report {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := Report{Unexpected: e.unexpected, Invalid: e.invalid, Unfired: e.unfired()}
	for _, in := range e.injections {
		if in.fired {
			if r.Injected == nil {
				r.Injected = map[string]int{}
			}
			r.Injected[in.Name]++
		}
	}
	for i, tools := range e.program.tools {
		for k := range tools {
			t := &tools[k]
			for n := range t.lines {
				l, s := &t.lines[n], e.progress[i][k][n]
				switch {
				case t.sequence && s.used < l.limit:
					r.Unused = append(r.Unused, fmt.Sprintf("%s: %d of %d left%s", l.name, l.limit-s.used, l.limit, s.undelivered()))
				case !t.sequence && s.used == 0 && !l.Optional:
					r.Unused = append(r.Unused, l.name+": never used"+s.undelivered())
				}
				if planned := l.faultTimes(); s.fired < planned {
					r.Unfired = append(r.Unfired, fmt.Sprintf("%s: %s (fired %d of %d)", l.name, l.Fault, s.fired, planned))
				}
			}
		}
	}
	return r
}

// undelivered returns a hint if a line was requested and its result was never delivered.
func (s progress) undelivered() string {
	switch {
	case s.used > 0 || s.fired+s.left == 0:
		return ""
	case s.fired == 0:
		return "; it was requested, but the client did not wait for the result"
	}
	return "; its fault was injected, but no call after it took its result: the agent did not try again"
}

// maxShown is the length of a text in a message, in bytes.
const maxShown = 80

// shorten quotes a text and truncates it for a message.
func shorten(text string) string {
	if len(text) <= maxShown {
		return strconv.Quote(text)
	}
	return strconv.Quote(sanitize.Prefix(text, maxShown)) + "…"
}

// recorded limits a text for the record of a call.
func recorded(text string) string { return sanitize.Prefix(text, MaxRecorded) }
