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
}

// spanEvent is an event of a span, or a log record that refers to the span.
type spanEvent struct {
	name  string
	at    int
	attrs map[string]*value
	body  *value
}

// readOTLP reads calls of models from spans, with the attributes and events of the semantic conventions
// for generative AI, from version 1.27 to 1.41, of OpenLLMetry, and of the Vercel AI SDK.
func readOTLP(s *source) []Conversation {
	spans := s.spans()
	byTrace := map[string][]*span{}
	for _, sp := range spans {
		byTrace[sp.trace] = append(byTrace[sp.trace], sp)
	}
	conversation := map[string]string{}
	for trace, spans := range byTrace {
		conversation[trace] = conversationOf(spans)
	}
	group := map[string][]*span{}
	var order []string
	for _, sp := range spans {
		id := conversation[sp.trace]
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
	return all
}

// conversationOf returns the id of the conversation that a trace belongs to, by default the trace's own.
func conversationOf(trace []*span) string {
	for _, sp := range trace {
		if id := sp.attr("gen_ai.conversation.id").text(); id != "" {
			return id
		}
	}
	return trace[0].trace
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
					sp := spanOf(v, service, d)
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

func spanOf(v *value, service string, d document) *span {
	sp := &span{
		trace: v.at("traceId").text(), id: v.at("spanId").text(), parent: v.at("parentSpanId").text(), name: v.at("name").text(),
		service: service, attrs: attributes(v.at("attributes")), from: d,
		began: time.Unix(0, int64(v.at("startTimeUnixNano").int())), ended: time.Unix(0, int64(v.at("endTimeUnixNano").int())),
		failed: v.at("status", "code").int() == 2 || v.at("status", "code").text() == "STATUS_CODE_ERROR",
		status: v.at("status", "message").text(),
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
	switch sp.attr("gen_ai.operation.name").text() {
	case "chat", "text_completion", "generate_content":
		return true
	case "":
		operation := sp.attr("ai.operationId").text() // of the Vercel AI SDK
		return strings.HasSuffix(operation, ".doGenerate") || strings.HasSuffix(operation, ".doStream") ||
			slices.Contains([]string{"chat", "completion"}, sp.attr("llm.request.type").text()) // of older versions of OpenLLMetry
	}
	return false
}

// traced returns the conversation of spans.
func (s *source) traced(id string, spans []*span) (Conversation, bool) {
	c := Conversation{ID: id, File: spans[0].from.file, Began: spans[0].began, Derived: true}
	byID := map[string]*span{}
	for _, sp := range spans {
		byID[sp.id] = sp
		if name := sp.attr("gen_ai.agent.name", "ai.telemetry.functionId").text(); c.Agent == "" && name != "" {
			c.Agent = name
		}
	}
	if service := spans[0].service; c.Agent == "" && !strings.HasPrefix(service, "unknown_service") {
		c.Agent = service
	}
	last := spans[0]
	missing := 0
	for _, sp := range spans {
		if !sp.isCall() || insideCall(sp, byID) {
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
		s.report(last.from, "trace %s has %s without prompts and answers, which instrumentations leave out by default; "+
			"record it with OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, or the option of your instrumentation",
			id, format.Plural(missing, "call"))
		return c, false
	}
	c.finish(root(spans))
	return c, true
}

// maxParents limits the search for a call around another one.
const maxParents = 100

// insideCall reports whether a span is inside another call: two instrumentations recorded the same one.
func insideCall(sp *span, byID map[string]*span) bool {
	for range maxParents { // a cycle ends, too
		parent := byID[sp.parent]
		if parent == nil {
			return false
		}
		if parent.isCall() {
			return true
		}
		sp = parent
	}
	return false
}

// root returns the first span without a parent among spans.
func root(spans []*span) *span {
	for _, sp := range spans {
		if sp.parent == "" {
			return sp
		}
	}
	return nil
}

// finish derives what the spans together reveal.
func (c *Conversation) finish(root *span) {
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
		var others int
		c.Users, others = usersOf(c.Turns)
		c.Derived = true
		if others > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%d of %d calls have other prompts than the user's messages below.", others, len(c.Turns)))
		}
	}
	if n := len(c.Turns); n > 0 {
		last := &c.Turns[n-1]
		c.Done = last.Failure == nil && !last.Missing && len(last.Reply.ToolCalls) == 0
		if !c.Done {
			c.Notes = append(c.Notes, "The last call has no final answer, so how the agent ended is not known.")
		}
	}
}
