package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// span is a span of OTLP's JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
type span struct {
	trace, id, parent, name string
	service                 string
	began, ended            time.Time
	attrs                   map[string]*value
	events                  []spanEvent
	failed                  bool
	status                  string // its message
	from                    document
	around                  *span // the parent; nil if the files do not have it
}

// spanEvent is an event of a span, or a log record that refers to the span.
type spanEvent struct {
	name  string
	at    int
	attrs map[string]*value
	body  *value
}

// readOTLP reads calls of models from spans, with the attributes and events of the semantic conventions
// for generative AI, from version 1.27 to 1.41, of OpenLLMetry, OpenInference, Langfuse, and the Vercel AI SDK.
func readOTLP(s *source) []Conversation {
	spans := s.spans()
	ids := map[string][]string{} // of the conversations of a trace
	for _, sp := range spans {
		if id := sp.conversation(); id != "" && !slices.Contains(ids[sp.trace], id) {
			ids[sp.trace] = append(ids[sp.trace], id)
		}
	}
	group := map[string][]*span{}
	var order []string
	for _, sp := range spans {
		id := conversationOf(sp, ids[sp.trace])
		if group[id] == nil {
			order = append(order, id)
		}
		group[id] = append(group[id], sp)
	}
	var all []Conversation
	for _, id := range order {
		if c, ok := s.traced(id, group[id]); ok {
			all = append(all, c)
		}
	}
	if len(spans) > 0 && !slices.ContainsFunc(spans, (*span).isCall) {
		s.report(s.docs[0], "none of %s is a call of a model in a known convention, which has the attribute gen_ai.operation.name (%s), "+
			"openinference.span.kind (LLM), langfuse.observation.type (generation), ai.operationId or llm.request.type%s",
			format.Plural(len(spans), "span"), strings.Join(operations, ", "), otherOperations(spans))
	}
	if i := slices.IndexFunc(s.docs, func(d document) bool { return d.at("resourceLogs") != nil }); i >= 0 && len(spans) == 0 {
		s.report(s.docs[i], "the files have log records but no spans; import both together")
	}
	return all
}

// otherOperations describes the operations of spans, none of which is a call; "" if they name none.
func otherOperations(spans []*span) string {
	var names []string
	for _, sp := range spans {
		if name := sp.attr("gen_ai.operation.name").text(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		return ""
	}
	return "; gen_ai.operation.name has only other values: " + joined(names)
}

// operations are the names of operations that are calls of a model.
var operations = []string{"chat", "text_completion", "generate_content"}

// conversation returns the id of the conversation that the span names; empty if it names none.
func (sp *span) conversation() string {
	id := sp.attr("gen_ai.conversation.id").text()
	if id == "" && sp.attr(spanKind) != nil {
		id = sp.attr("session.id").text()
	}
	return id
}

// conversationOf returns the id of the conversation that a span belongs to: its own, that of a span around
// it, the only one of the trace, or the trace's id.
func conversationOf(sp *span, ofTrace []string) string {
	if len(ofTrace) == 1 {
		return ofTrace[0]
	}
	for at, n := sp, 0; at != nil && n < maxParents; at, n = at.around, n+1 { // a cycle ends, too
		if id := at.conversation(); id != "" {
			return id
		}
	}
	return sp.trace
}

// spans reads all spans, each once and in the order of their beginnings.
func (s *source) spans() []*span {
	known := map[string]*span{}
	var spans []*span
	twice := 0
	for _, d := range s.docs {
		for _, resource := range d.at("resourceSpans").list() {
			service := attributes(resource.at("resource", "attributes"))["service.name"].text()
			for _, scope := range resource.at("scopeSpans").list() {
				for _, v := range scope.at("spans").list() {
					sp := s.spanOf(v, service, d)
					if known[sp.trace+sp.id] != nil {
						twice++
						continue
					}
					known[sp.trace+sp.id] = sp
					spans = append(spans, sp)
				}
			}
		}
	}
	if twice > 0 {
		s.report(s.docs[0], "%d spans occur more than once; each is read once", twice)
	}
	for _, sp := range spans {
		sp.around = known[sp.trace+sp.parent]
	}
	s.logs(known)
	slices.SortStableFunc(spans, func(a, b *span) int { return a.began.Compare(b.began) })
	return spans
}

// logs adds the log records to their spans.
func (s *source) logs(spans map[string]*span) {
	for _, d := range s.docs {
		for _, resource := range d.at("resourceLogs").list() {
			for _, scope := range resource.at("scopeLogs").list() {
				for _, v := range scope.at("logRecords").list() {
					sp := spans[v.at("traceId").text()+v.at("spanId").text()]
					if sp == nil {
						continue
					}
					e := spanEvent{
						name: v.at("eventName").text(), at: v.first("timeUnixNano", "observedTimeUnixNano").int(),
						attrs: attributes(v.at("attributes")), body: plain(v.at("body"), 0),
					}
					e.name = cmp.Or(e.name, e.attrs["event.name"].text())
					sp.events = append(sp.events, e)
				}
			}
		}
	}
}

func (s *source) spanOf(v *value, service string, d document) *span {
	sp := &span{
		trace: v.at("traceId").text(), id: v.at("spanId").text(), parent: v.at("parentSpanId").text(), name: v.at("name").text(),
		service: service, attrs: attributes(v.at("attributes")), from: d,
		ended:  time.Unix(0, int64(v.at("endTimeUnixNano").int())),
		failed: v.at("status", "code").int() == 2 || v.at("status", "code").text() == "STATUS_CODE_ERROR",
		status: v.at("status", "message").text(),
	}
	sp.began = sp.ended
	if start := v.at("startTimeUnixNano"); start != nil {
		if at, ok := start.number(); ok {
			sp.began = time.Unix(0, int64(at))
		} else {
			s.report(d, "span %s: startTimeUnixNano is not a number: %s; the span is ordered by its end", sp.id, start.words())
		}
	}
	for _, e := range v.at("events").list() {
		sp.events = append(sp.events, spanEvent{
			name: e.at("name").text(), at: e.at("timeUnixNano").int(), attrs: attributes(e.at("attributes")),
		})
	}
	return sp
}

// attr returns the first of the attributes that exists, of the span or of an event with the details of
// its call.
func (sp *span) attr(names ...string) *value {
	for _, name := range names {
		if v := sp.attrs[name]; v != nil {
			return v
		}
		for _, e := range sp.events {
			if v := e.attrs[name]; v != nil && e.name == "gen_ai.client.inference.operation.details" {
				return v
			}
		}
	}
	return nil
}

// isCall reports whether the span is a call of a model.
func (sp *span) isCall() bool {
	switch name := sp.attr("gen_ai.operation.name").text(); {
	case slices.Contains(operations, name), sp.attr(spanKind).text() == "LLM", sp.attr(observation+"type").text() == "generation":
		return true
	case name == "":
		operation := sp.attr("ai.operationId").text() // of the Vercel AI SDK
		return strings.HasSuffix(operation, ".doGenerate") || strings.HasSuffix(operation, ".doStream") ||
			slices.Contains([]string{"chat", "completion"}, sp.attr("llm.request.type").text()) // of older versions of OpenLLMetry
	}
	return false
}

// traced returns the conversation of spans.
func (s *source) traced(id string, spans []*span) (Conversation, bool) {
	c := Conversation{ID: id, File: spans[0].from.file, Began: spans[0].began, Derived: true}
	for _, sp := range spans {
		if sp.trace != id && !slices.Contains(c.Traces, sp.trace) {
			c.Traces = append(c.Traces, sp.trace)
		}
		if name := sp.attr("gen_ai.agent.name", "ai.telemetry.functionId", "agent.name").text(); c.Agent == "" && name != "" {
			c.Agent = name
		}
	}
	if service := spans[0].service; c.Agent == "" && !strings.HasPrefix(service, "unknown_service") {
		c.Agent = service
	}
	last := spans[0]
	missing := 0
	for _, sp := range spans {
		if !sp.isCall() || insideCall(sp) {
			continue
		}
		t := s.turnOf(sp)
		if t.Missing && t.Failure == nil {
			missing++
		}
		c.Turns = append(c.Turns, t)
		last = sp
	}
	if len(c.Turns) == 0 {
		return c, false
	}
	if missing == len(c.Turns) {
		s.report(last.from, "%s", withoutAnswers(id, c.Turns))
		return c, false
	}
	c.finish(root(spans))
	return c, true
}

// maxParents limits the search for a call around another one.
const maxParents = 100

// withoutAnswers describes a conversation without any answer.
func withoutAnswers(id string, turns []Turn) string {
	calls := format.Plural(len(turns), "call")
	for i := range turns {
		if unread := turns[i].Unread; len(unread) > 0 {
			return fmt.Sprintf("trace %s has %s and no answer that import reads: that of call %d has only parts of the type %s",
				id, calls, i+1, joined(unread))
		}
	}
	const hint = ", which instrumentations leave out by default; " +
		"record it with OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, or the option of your instrumentation"
	if slices.ContainsFunc(turns, func(t Turn) bool { return len(t.Messages) > 0 }) {
		return fmt.Sprintf("trace %s has %s without answers%s", id, calls, hint)
	}
	return fmt.Sprintf("trace %s has %s without prompts and answers%s", id, calls, hint)
}

// insideCall reports whether a span is inside another call: two instrumentations recorded the same one.
func insideCall(sp *span) bool {
	for range maxParents { // a cycle ends, too
		if sp = sp.around; sp == nil {
			return false
		}
		if sp.isCall() {
			return true
		}
	}
	return false
}

// root returns the first span of a conversation that has no parent, or whose parent belongs to another one.
func root(spans []*span) *span {
	own := map[*span]bool{}
	for _, sp := range spans {
		own[sp] = true
	}
	for _, sp := range spans {
		if sp.parent == "" || sp.around != nil && !own[sp.around] {
			return sp
		}
	}
	return nil
}

// finish derives what the spans together reveal.
func (c *Conversation) finish(root *span) {
	c.recall()
	c.derive()
	switch {
	case root == nil:
		c.Notes = append(c.Notes, "The trace has no root span, so it may be incomplete and how the agent ended is not known.")
		c.Done = false
	case root.failed:
		c.Notes = append(c.Notes, fmt.Sprintf("The trace ended with an error: %s", cmp.Or(root.status, "no message")))
		c.Done = false
	}
}

// derive sets the user's messages from the prompts, and whether the last turn is an answer.
func (c *Conversation) derive() {
	if len(c.Users) == 0 {
		var d dialogue
		for i := range c.Turns {
			d.follow(&c.Turns[i])
		}
		c.takeUsers(&d)
	}
	if n := len(c.Turns); n > 0 {
		last := &c.Turns[n-1]
		c.Done = last.Failure == nil && !last.Missing && len(last.Reply.ToolCalls) == 0
		if !c.Done {
			c.Notes = append(c.Notes, "The last call has no final answer, so how the agent ended is not known.")
		}
	}
}

// takeUsers sets the user's messages to those of the prompts.
func (c *Conversation) takeUsers(d *dialogue) {
	c.Users, c.Derived = d.users, true
	if d.others > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d of %d calls have other prompts than the user's messages below.", d.others, len(c.Turns)))
	}
	if d.unclear > 0 {
		c.Partial = true
		c.Notes = append(c.Notes, fmt.Sprintf("The prompts of %d of %d calls have only parts of the conversation, so turns may be missing; "+
			"add them below turns.", d.unclear, len(c.Turns)))
	}
}
