package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// sampleTrial is a trial to be written as a sample.
type sampleTrial struct {
	start    time.Time
	scenario *record.Scenario
	*record.Trial
	facts    *measure.Facts
	findings []gate.Finding
	uuid     string
	// functions are the names of tools by the id of the call; models are the models of replies
	// by the id of the message.
	functions map[string]string
	models    map[string]string
	// attachments are long texts that events refer to.
	attachments map[string]string
}

func (l *Log) sample(h Head, sc *record.Scenario, tr *record.Trial, f *measure.Facts, findings []gate.Finding) sample {
	t := &sampleTrial{
		start: h.Start, scenario: sc, Trial: tr, facts: f, findings: findings,
		uuid:      hashID(h.Run.ID, sc.Name, strconv.Itoa(tr.Head.N)),
		functions: map[string]string{}, models: map[string]string{}, attachments: map[string]string{},
	}
	for i := range tr.Messages {
		for _, c := range tr.Messages[i].ToolCalls {
			t.functions[c.ID] = c.Name
		}
	}
	for i := range tr.Calls {
		if c := &tr.Calls[i]; c.Reply != "" {
			t.models[c.Reply] = modelOf(sc, c)
		}
	}
	s := sample{
		ID: sampleID(sc.Name), Epoch: tr.Head.N, Input: t.input(), Target: t.target(), Messages: []message{},
		Metadata: t.metadata(), ModelUsage: map[string]usage{}, RoleUsage: map[string]usage{},
		StartedAt: stamp(h.Start), CompletedAt: stamp(h.Start.Add(tr.End.Duration)), UUID: t.uuid, Attachments: t.attachments,
	}
	if f.Run.DurationKnown {
		s.TotalTime = &f.Run.Duration
		busy := 0.0
		for _, seconds := range f.Latency.All {
			busy += seconds
		}
		s.WorkingTime = &busy
	}
	for i := range tr.Messages {
		s.Messages = append(s.Messages, t.message(&tr.Messages[i]))
	}
	addUsage(s.ModelUsage, s.RoleUsage, sc, tr.Calls)
	s.Output = t.lastOutput()
	if verdict, ok := t.score(); ok {
		s.Scores = map[string]sampleScore{verdictScore: verdict}
	}
	if why := t.broken(); why != "" {
		s.Error = &evalError{Message: why}
	}
	s.Events = t.events(s.Scores, s.Error)
	return s
}

// input returns the first question to the agent, or the description of the scenario.
func (t *sampleTrial) input() string {
	if len(t.facts.Turns) > 0 {
		return t.facts.Turns[0].User
	}
	for i := range t.Messages {
		if t.Messages[i].Role == llm.User {
			return t.Messages[i].Content
		}
	}
	return cmp.Or(t.scenario.About, t.scenario.Name)
}

// target returns the expected end.
func (t *sampleTrial) target() string {
	if len(t.scenario.Perturb) > 0 && t.scenario.Expect.Status == "" {
		return strings.Join(t.scenario.Invariants, "\n")
	}
	return t.scenario.Expect.Status
}

func (t *sampleTrial) metadata() map[string]any {
	sc, f := t.scenario, t.facts
	m := map[string]any{
		"agent": sc.Agent, "backend": sc.Backend, "seed": strconv.FormatUint(t.Head.Seed, 10), "digest": sc.Digest,
		"status": f.Run.Status, "exit_code": f.Run.ExitCode, "iterations": f.Run.Iterations,
		"calls": f.Calls.Total, "failed_calls": f.Calls.Failed, "retries": f.Calls.Retries,
	}
	for name, text := range map[string]string{
		"scenario": sc.Name, "file": sc.File, "about": sc.About, "details": f.Run.Details, "skipped": f.Run.Skipped,
		"proves": strings.Join(sc.Proves, ", "), "tags": strings.Join(sc.Tags, ", "), "perturb": strings.Join(sc.Perturb, " "),
	} {
		if text != "" {
			m[name] = text
		}
	}
	if f.Tokens.Known {
		m["tokens"] = f.Tokens.Total
	}
	if f.Cost.Known {
		m["cost_usd"], m["cost_eur"] = f.Cost.USD, f.Cost.EUR
	}
	return m
}

// score returns the verdict; false without one.
func (t *sampleTrial) score() (sampleScore, bool) {
	s := sampleScore{Answer: t.End.Status, History: []struct{}{}}
	switch gate.VerdictOf(t.findings) {
	case gate.Pass:
		s.Value = "C"
	case gate.Fail:
		s.Value = "I"
	default:
		return s, false
	}
	s.Explanation = t.explain(gate.Failing)
	return s, true
}

// broken returns why the trial has no verdict; empty if it has one.
func (t *sampleTrial) broken() string {
	if gate.VerdictOf(t.findings) != gate.Error {
		return ""
	}
	return cmp.Or(t.explain(gate.Broken), "no finding explains the verdict")
}

// maxExplained limits the findings in an explanation.
const maxExplained = 20

func (t *sampleTrial) explain(severity gate.Severity) string {
	var lines []string
	for _, f := range t.findings {
		if f.Severity != severity || len(lines) >= maxExplained {
			continue
		}
		line := f.Rule + ": " + f.Message
		if f.Evidence != "" {
			line += "\n    " + sanitize.Line(f.Evidence, 500)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (t *sampleTrial) message(m *record.Message) message {
	out := message{ID: m.ID, Role: string(m.Role), Content: m.Content}
	model, generated := t.models[m.ID]
	switch m.Role {
	case llm.Assistant:
		out.Model, out.ToolCalls = model, toolCalls(m.ToolCalls)
		if generated {
			out.Source = "generate"
		}
	case llm.ToolRole:
		out.ToolCallID, out.Function = m.ToolCallID, t.functions[m.ToolCallID]
	case llm.User:
		out.Source = "input"
	default:
		out.Role = string(llm.System)
	}
	return out
}

func toolCalls(calls []llm.ToolCall) []toolCall {
	var out []toolCall
	for _, c := range calls {
		tc := toolCall{ID: c.ID, Function: c.Name, Arguments: json.RawMessage("{}"), Type: "function"}
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.Arguments), &object); err == nil && object != nil {
			tc.Arguments = json.RawMessage(c.Arguments)
		} else {
			tc.ParseError = "the arguments are not a JSON object: " + sanitize.Line(c.Arguments, 1000)
		}
		out = append(out, tc)
	}
	return out
}

// lastOutput returns the output of the last answered call.
func (t *sampleTrial) lastOutput() output {
	for i := len(t.Calls) - 1; i >= 0; i-- {
		if t.Calls[i].Reply != "" {
			return t.output(i)
		}
	}
	return output{Model: cmp.Or(t.scenario.Model, "none"), Choices: []choice{}}
}

func (t *sampleTrial) output(i int) output {
	c := &t.Calls[i]
	out := output{Model: modelOf(t.scenario, c), Choices: []choice{}, Usage: usageOf(t.scenario, c), Time: t.seconds(i)}
	if m, ok := t.Message(c.Reply); ok {
		reason := cmp.Or(stopReasons[c.Finish], "unknown")
		out.Choices = append(out.Choices, choice{Message: t.message(m), StopReason: reason})
		out.Completion = m.Content
	}
	return out
}

// seconds returns the duration of a call; nil if unknown.
func (t *sampleTrial) seconds(i int) *float64 {
	var seconds float64
	switch all := t.facts.Latency.All; {
	case !t.scenario.RealTime:
		seconds = t.Calls[i].Latency.Seconds()
	case len(all) == len(t.Calls):
		seconds = all[i]
	default:
		return nil
	}
	return &seconds
}

// events returns the faults, the calls and the agent's events in order of time. At the same
// time, faults precede their call, and calls precede their consequences.
func (t *sampleTrial) events(scores map[string]sampleScore, broken *evalError) []any {
	type timed struct {
		at    time.Duration
		after int // the call that it comes after, among what happens at one time
		event any
	}
	var list []timed
	struck := func(exchanges []record.Exchange, at time.Duration, after int) {
		for i := range exchanges {
			if x := &exchanges[i]; x.Fault != "" || x.Problem != "" {
				list = append(list, timed{at, after, t.exchange(x, at)})
			}
		}
	}
	byCall, known := t.ByCall()
	if !known { // then only their order is
		struck(t.Exchanges, 0, 0)
	}
	for i := range t.Calls {
		if known {
			struck(byCall[i], t.Calls[i].At, i)
		}
		list = append(list, timed{t.Calls[i].At, i, t.modelEvent(i)})
	}
	turns, made := t.facts.Turns, 0
	for i := range t.Events {
		e := &t.Events[i]
		after := len(t.Calls)
		if len(turns) > 0 && e.N == turns[0].N && measure.IsConversation(e.Event) {
			made += turns[0].Calls
			after, turns = made-1, turns[1:]
		}
		data := map[string]any{"kind": string(e.Kind)}
		for name, value := range e.Attrs {
			data["attr "+name] = value
		}
		put(data, "name", e.Name)
		put(data, "detail", e.Detail)
		if e.N > 0 {
			data["n"] = e.N
		}
		list = append(list, timed{e.At, after, infoEvent{t.event("event", i, "info", e.At), "agent", data}})
	}
	slices.SortStableFunc(list, func(a, b timed) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.after, b.after)) })
	out := make([]any, 0, len(list)+2)
	for _, e := range list {
		out = append(out, e.event)
	}
	if s, ok := scores[verdictScore]; ok {
		out = append(out, scoreEvent{t.event("score", 0, "score", t.End.Duration), s, false})
	}
	if broken != nil {
		out = append(out, errorEvent{t.event("error", 0, "error", t.End.Duration), *broken})
	}
	return out
}

// event returns the common fields of an event; what and i determine its id.
func (t *sampleTrial) event(what string, i int, kind string, at time.Duration) logEvent {
	return logEvent{
		UUID: hashID(t.uuid, what, strconv.Itoa(i)), Timestamp: stamp(t.start.Add(at)), WorkingStart: at.Seconds(), Event: kind,
	}
}

func (t *sampleTrial) modelEvent(i int) modelEvent {
	c := &t.Calls[i]
	e := modelEvent{
		logEvent: t.event("call", i, "model", c.At), Model: modelOf(t.scenario, c), Role: c.Purpose, Input: []message{},
		Tools: []struct{}{}, ToolChoice: "auto", Output: t.output(i), Retries: len(c.Retries),
		Completed: stamp(t.start.Add(c.At + c.Latency)), WorkingTime: t.seconds(i),
	}
	e.Metadata = map[string]any{"call": c.N}
	for name, value := range c.Tags {
		e.Metadata["tag "+name] = value
	}
	for k, r := range c.Retries {
		e.Metadata[fmt.Sprintf("retry %d", k+1)] = fmt.Sprintf("%s, waited %s", r.Kind, r.Wait)
	}
	for _, id := range c.Messages {
		if m, ok := t.Message(id); ok {
			in := t.message(m)
			in.Content = t.attach(in.Content)
			e.Input = append(e.Input, in)
		}
	}
	for k := range e.Output.Choices {
		e.Output.Choices[k].Message.Content = t.attach(e.Output.Choices[k].Message.Content)
	}
	e.Output.Completion = t.attach(e.Output.Completion)
	if c.Error != nil {
		e.Error = fmt.Sprintf("%s: %s", c.Error.Kind, c.Error.Message)
		e.Output.Error = e.Error
	}
	return e
}

// exchange returns a request with a fault, or an unexpected one.
func (t *sampleTrial) exchange(x *record.Exchange, at time.Duration) infoEvent {
	data := map[string]any{
		"exchange": x.N, "attempt": x.Attempt, "status": x.Status, "fired": x.Fired, "delivered": x.Delivered, "bytes": x.Bytes,
	}
	put(data, "fault", x.Fault)
	put(data, "line", x.Line)
	put(data, "problem", x.Problem)
	return infoEvent{t.event("exchange", x.N, "info", at), "backend", data}
}

func put(data map[string]any, name, text string) {
	if text != "" {
		data[name] = text
	}
}

// maxInline limits the texts of an event; each call repeats earlier messages, so longer texts
// are stored once.
const maxInline = 100

// attach returns text, or a reference to it.
func (t *sampleTrial) attach(text string) string {
	if len(text) <= maxInline {
		return text
	}
	key := hashID(text)
	t.attachments[key] = text
	return "attachment://" + key
}
