package page

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// call is one call of a transcript.
type call struct {
	ID      string
	Link    template.URL
	N       int
	Purpose string
	// Facts are tokens, cost, latency and the like.
	Facts []fact
	// Earlier are messages of the request that an earlier call had.
	Earlier []reference
	// Total counts the messages of the request. New are the new ones, of which the first Left
	// are left out.
	Total    int
	New      []message
	Left     int
	Reply    *message
	Error    string
	Troubles []trouble
	After    []happening
}

// reference is a link to one or more messages.
type reference struct {
	Link template.URL
	Text string
}

// message is one message of a conversation.
type message struct {
	ID    string
	Name  string // m1
	Role  string
	By    string // the participant, or the call that it answers
	Text  *text
	Tools []tool
	// Changed links to the message of the previous call that this one replaces, and Diff shows
	// the difference.
	Changed *reference
	Diff    template.HTML
}

type tool struct {
	Name      string
	Arguments text
}

// trouble is a fault or a retry.
type trouble struct{ Kind, Text string }

// exchange is a request as the scripted backend received it.
type exchange struct{ N, Line, Status, Fault, Delivered, What string }

// maxNew limits the new messages of a request; the last ones are shown.
const maxNew = 30

// call prepares call number i with the messages of its request that are not in seen. seen has
// whether each message was shown.
func (v view) call(i int, s steps, seen map[string]bool) call {
	c := &v.trial.Calls[i]
	out := call{
		ID: callID(v.id, c.N), N: c.N, Purpose: line(c.Purpose, 60), Total: len(c.Messages), Facts: v.withoutRepeated(v.callFacts(i, c), i),
		After: happenings(s.calls[i].after, v.scenario.RealTime), Troubles: troubles(c, s.calls[i].exchanges),
	}
	out.Link = link(out.ID)
	var earlier, fresh []string
	for _, id := range c.Messages {
		if shown, ok := seen[id]; shown {
			earlier = append(earlier, id)
		} else if !ok {
			seen[id] = false
			fresh = append(fresh, id)
		}
	}
	out.Earlier = v.references(earlier)
	out.Left = max(0, len(fresh)-maxNew)
	for _, id := range fresh[out.Left:] {
		if m, ok := v.message(id, nil); ok {
			seen[id] = true
			v.compare(&m, i)
			out.New = append(out.New, m)
		}
	}
	if m, ok := v.message(c.Reply, marksOf(s.calls[i].after)); ok {
		out.Reply = &m
		seen[c.Reply] = true
	}
	if e := c.Error; e != nil {
		out.Error = string(e.Kind)
		if e.Status > 0 {
			out.Error += fmt.Sprintf(" (%d)", e.Status)
		}
		out.Error = line(out.Error+": "+e.Message, 2000)
	}
	return out
}

func (v view) callFacts(i int, c *record.Call) []fact {
	facts := []fact{{"model", line(c.Model, 80)}}
	if len(v.facts.Turns) > 0 { // an external agent, which may use several
		facts = append(facts, fact{"protocol", line(c.Backend, 40)})
	}
	if n := v.turnOf(i); n > 0 {
		facts = append(facts, fact{"turn", strconv.Itoa(n)})
	}
	if u := c.Usage; u != nil {
		in := format.Number(float64(u.Input + u.CacheWrite + u.CachedInput))
		if u.CachedInput > 0 {
			in += " (" + format.Number(float64(u.CachedInput)) + " cached)"
		}
		out := format.Number(float64(u.Output))
		if u.Reasoning > 0 {
			out += " (" + format.Number(float64(u.Reasoning)) + " reasoning)"
		}
		facts = append(facts, fact{"tokens in", in}, fact{"tokens out", out})
	} else if c.Error == nil {
		facts = append(facts, fact{"tokens", "unknown"})
	}
	if eur, why := measure.CallCost(v.scenario, c); why == "" {
		facts = append(facts, fact{"cost", format.Money(eur) + " EUR"})
	} else {
		facts = append(facts, fact{"cost", "unknown: " + line(why, 200)})
	}
	if v.scenario.RealTime {
		// The list has an entry for each call unless one is missing.
		if all := v.facts.Latency.All; len(all) == len(v.trial.Calls) {
			facts = append(facts, fact{"latency", format.Seconds(all[i])})
		}
	} else {
		facts = append(facts, fact{"began at", format.Seconds(c.At.Seconds())}, fact{"latency", format.Seconds(c.Latency.Seconds())})
	}
	if c.Finish != "" && c.Finish != llm.FinishStop {
		facts = append(facts, fact{"finish", line(string(c.Finish), 40)})
	}
	for _, key := range slices.Sorted(maps.Keys(c.Tags)) {
		facts = append(facts, fact{line(key, 40), line(c.Tags[key], 80)})
	}
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Value == "" })
}

// withoutRepeated leaves out the facts that describe every call and are those of the call before.
func (v view) withoutRepeated(facts []fact, i int) []fact {
	if i == 0 {
		return facts
	}
	before := v.callFacts(i-1, &v.trial.Calls[i-1])
	return slices.DeleteFunc(facts, func(f fact) bool {
		_, tag := v.trial.Calls[i].Tags[f.Name]
		return (tag || f.Name == "model" || f.Name == "protocol" || f.Name == "turn") && slices.Contains(before, f)
	})
}

func (v view) message(id string, marks []mark) (message, bool) {
	m, ok := v.trial.Message(id)
	if !ok {
		return message{}, false
	}
	out := message{ID: messageID(v.id, id), Name: id, Role: line(string(m.Role), 40), By: line(m.Name, 80)}
	if m.ToolCallID != "" {
		out.By = strings.TrimSpace(out.By + " answers " + line(m.ToolCallID, 80))
	}
	if m.Content != "" || len(m.ToolCalls) == 0 {
		content := newText(m.Content, marks)
		out.Text = &content
	}
	for _, t := range m.ToolCalls[:min(len(m.ToolCalls), maxListed)] {
		out.Tools = append(out.Tools, tool{line(t.Name, 120), newText(t.Arguments, nil)})
	}
	return out, true
}

// compare shows a message of call i as a difference to the message that it replaces: the similar
// one in the same place of the previous call with the same purpose, counted from either end.
func (v view) compare(m *message, i int) {
	calls := v.trial.Calls
	previous := i - 1
	for j := previous; j >= max(0, i-maxBack); j-- {
		if calls[j].Purpose == calls[i].Purpose {
			previous = j
			break
		}
	}
	if previous < 0 || m.Text == nil {
		return
	}
	now, before := calls[i].Messages, calls[previous].Messages
	at := slices.Index(now, m.Name)
	text, _ := v.trial.Message(m.Name)
	for _, place := range []int{at, len(before) - (len(now) - at)} {
		if place < 0 || place >= len(before) || before[place] == m.Name {
			continue
		}
		old, ok := v.trial.Message(before[place])
		if !ok || old.Role != text.Role || !similar(old.Content, text.Content) {
			continue
		}
		d := doc.NewDiff(before[place], m.Name, old.Content, text.Content)
		m.Changed = &reference{link(messageID(v.id, before[place])), before[place]}
		m.Diff = doc.Fragment([]doc.Block{d}, 3)
		m.Text.Folded, m.Text.Opening, m.Text.Size = true, "whole text", format.Number(float64(len(text.Content)))+" bytes"
		return
	}
}

// maxBack limits the calls among which a previous one is looked for.
const maxBack = 50

// similar reports whether two different texts share at least half of their lines.
func similar(a, b string) bool {
	if a == b || len(a) > maxText || len(b) > maxText {
		return false
	}
	lines := func(text string) []string {
		return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	}
	before, after := lines(a), lines(b)
	shared := 0
	for _, l := range after {
		if slices.Contains(before, l) {
			shared++
		}
	}
	return 2*shared >= max(len(before), len(after)) && shared > 0
}

// references joins consecutive ids: m1 to m7.
func (v view) references(list []string) []reference {
	var out []reference
	number := func(id string) int { n, _ := strconv.Atoi(strings.TrimPrefix(id, "m")); return n }
	for from := 0; from < len(list); {
		to := from
		for to+1 < len(list) && number(list[to+1]) == number(list[to])+1 {
			to++
		}
		r := reference{link(messageID(v.id, list[from])), list[from]}
		if to > from {
			r.Text += " to " + list[to]
		}
		if out = append(out, r); len(out) == maxEvents {
			break
		}
		from = to + 1
	}
	return out
}

// troubles returns the faults and retries of a call.
func troubles(c *record.Call, exchanges []record.Exchange) []trouble {
	var list []trouble
	for _, x := range exchanges {
		if x.Fault == "" {
			continue
		}
		text := x.Fault + " did not take effect"
		if x.Fired {
			text = x.Fault + " took effect"
		}
		if x.Line != "" {
			text += " at " + x.Line
		}
		list = append(list, trouble{"fault", line(text, 200)})
	}
	for i, r := range c.Retries[:min(len(c.Retries), maxEvents)] {
		text := fmt.Sprintf("attempt %d failed: %s", i+1, r.Kind)
		if r.Status > 0 {
			text += fmt.Sprintf(" (%d)", r.Status)
		}
		list = append(list, trouble{"retry", line(text, 200) + "; again after " + format.Seconds(r.Wait.Seconds())})
	}
	return list
}

func newExchange(x record.Exchange) exchange {
	out := exchange{N: strconv.Itoa(x.N), Line: line(x.Line, 60), What: line(x.Problem, 0), Fault: line(x.Fault, 60)}
	switch {
	case x.Fault == "":
	case x.Fired:
		out.Fault += ", fired"
	default:
		out.Fault += ", did not fire"
	}
	if x.Attempt > 1 {
		out.Line += fmt.Sprintf(", attempt %d", x.Attempt)
	}
	if x.Status != 0 {
		out.Status = strconv.Itoa(x.Status)
	}
	switch {
	case x.HungUp:
		out.Delivered = "the client left after "
	case x.Delivered:
		out.Delivered = "all of it, "
	default:
		out.Delivered = "cut off after "
	}
	out.Delivered += format.Count(x.Bytes, "byte") + " in " + format.Count(x.Frames, "frame")
	return out
}
