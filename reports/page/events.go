package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// happening is an event of an agent, or several equal ones in a row.
type happening struct {
	At, Kind, Name, Detail string
	Times                  int
	Attrs                  []fact
	// Tone is the outcome of a verdict; nil if unknown.
	Tone *tone
}

// tone is a good or a bad outcome, in the words of what was judged.
type tone struct{ Class, Sign, Word string }

// happenings joins equal events, and leaves out those beyond maxEvents. Untimed ones have no
// time.
func happenings(events []record.Event, untimed bool) []happening {
	var list []happening
	for i := range events {
		e := &events[i]
		h := newHappening(e)
		if untimed {
			h.At = ""
		}
		if last := len(list) - 1; last >= 0 && list[last].like(h) {
			list[last].Times++
			continue
		}
		if len(list) == maxEvents {
			return append(list, happening{Kind: "more", Detail: fmt.Sprintf("%d more events are in the recording", len(events)-i), Times: 1})
		}
		list = append(list, h)
	}
	return list
}

func newHappening(e *record.Event) happening {
	tone, by := toneOf(e.Event)
	h := happening{
		At: format.Seconds(e.At.Seconds()), Kind: line(string(e.Kind), 40), Name: line(e.Name, 80), Detail: line(e.Detail, 0),
		Times: 1, Tone: tone,
	}
	if c, ok := event.Read[record.ToolCall](&e.Event); ok {
		return h.ofTool(&c)
	}
	for _, key := range slices.Sorted(maps.Keys(e.Attrs)) {
		if value := attr(e.Attrs[key]); value != "" && key != by && !strings.HasPrefix(key, quoted) {
			h.Attrs = append(h.Attrs, fact{line(key, 60), value})
		}
	}
	return h
}

// ofTool describes a call of a tool.
func (h happening) ofTool(c *record.ToolCall) happening {
	h.Name = line(c.Server+"."+c.Tool, 120)
	if c.Error != "" {
		h.Detail, h.Tone = line(c.Error, 0), &tone{"fail", signs[gate.Fail], "failed"}
	}
	h.Attrs = []fact{{"arguments", line(c.Arguments, 2000)}}
	for _, f := range []fact{{"fault", c.Fault}, {"line", c.Line}} {
		if f.Value != "" {
			h.Attrs = append(h.Attrs, f)
		}
	}
	if c.Latency > 0 {
		h.Attrs = append(h.Attrs, fact{"latency", format.Seconds(c.Latency.Seconds())})
	}
	return h
}

// like reports whether two happenings differ only in time or attributes.
func (h happening) like(other happening) bool {
	return h.Kind == other.Kind && h.Name == other.Name && h.Detail == other.Detail && h.Kind != string(event.Verdict)
}

// tones are the attributes with the outcome of a verdict, and the words for yes and no.
var tones = []struct{ key, yes, no string }{
	{"allow", "may stop", "may not stop"}, {"valid", "valid", "not valid"}, {"passed", "passed", "not passed"}, {"kept", "kept", "broken"},
}

// toneOf returns the outcome of a verdict, and its attribute.
func toneOf(e event.Event) (t *tone, by string) {
	if e.Kind != event.Verdict {
		return nil, ""
	}
	for _, t := range tones {
		switch e.Attrs[t.key] {
		case true:
			return &tone{"pass", signs[gate.Pass], t.yes}, t.key
		case false:
			return &tone{"fail", signs[gate.Fail], t.no}, t.key
		}
	}
	switch e.Attrs["verdict"] {
	case string(gate.Pass):
		return &tone{"pass", signs[gate.Pass], "pass"}, "verdict"
	case string(gate.Fail):
		return &tone{"fail", signs[gate.Fail], "fail"}, "verdict"
	}
	return nil, ""
}

// quoted begins the attributes that quote an answer; a number and the category follow.
const quoted = "quote."

// marksOf returns the quotations in the verdicts on an answer.
func marksOf(events []record.Event) []mark {
	var list []mark
	for i := range events {
		e := &events[i]
		if e.Kind != event.Verdict {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(e.Attrs)) {
			rest, ok := strings.CutPrefix(key, quoted)
			quote, isText := e.Attrs[key].(string)
			if !ok || !isText {
				continue
			}
			_, category, _ := strings.Cut(rest, ".")
			list = append(list, mark{quote, line(words(category), 60)})
		}
	}
	return list
}
