package export

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// spanScope is the name of the instrumentation scope.
const spanScope = "github.com/rehearse-dev/rehearse/reports/spans" // stable, whatever the package is called

// Spans returns a function that writes the trace of each judged trial of a run. All trials begin at
// start. The spans of an altered recording are marked.
func Spans(out io.Writer, run record.Run, start time.Time, altered bool) Visit {
	resource := &resourcepb.Resource{Attributes: resourceAttributes(run, altered)}
	return func(sc record.Scenario, tr record.Trial, f measure.Facts, findings []gate.Finding) error {
		t := &spanTrial{start: start, run: run.ID, scenario: &sc, Trial: &tr, facts: &f, findings: findings}
		t.trace = t.id(16, "trace")
		if err := t.write(out, resource); err != nil {
			return fmt.Errorf("write the spans of trial %d of %s: %w", tr.Head.N, sc.Name, err)
		}
		return nil
	}
}

// write writes the trace as one line of JSON.
func (t *spanTrial) write(out io.Writer, resource *resourcepb.Resource) error {
	line, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: resource,
		ScopeSpans: []*tracepb.ScopeSpans{{
			Scope: &commonpb.InstrumentationScope{Name: spanScope}, Spans: t.spans(), SchemaUrl: semconv.SchemaURL,
		}},
		SchemaUrl: semconv.SchemaURL,
	}}})
	if err != nil {
		return err
	}
	compact := jsontext.Value(line) // protojson varies its spaces
	if err := compact.Compact(); err != nil {
		return err
	}
	_, err = out.Write(append(compact, '\n'))
	return err
}

// spanTrial is a trial to be written as a trace.
type spanTrial struct {
	start    time.Time
	run      string
	scenario *record.Scenario
	*record.Trial
	facts    *measure.Facts
	findings []gate.Finding
	trace    []byte
}

// id derives an id of n bytes.
//
// OTLP wants ids as hexadecimal digits where protojson writes base64. The digits of an id of 8
// or 16 bytes are valid base64, so the decoded bytes are stored: protojson then writes the
// digits.
func (t *spanTrial) id(n int, of ...string) []byte {
	parts := append([]string{t.run, t.scenario.Name, strconv.Itoa(t.Head.N)}, of...)
	hash := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	stored, _ := base64.StdEncoding.DecodeString(hex.EncodeToString(hash[:n])) // a multiple of 4 digits
	return stored
}

// at returns a time of the trial.
func (t *spanTrial) at(since time.Duration) uint64 {
	return uint64(max(0, t.start.Add(since).UnixNano())) //nolint:gosec // not negative
}

func (t *spanTrial) spans() []*tracepb.Span {
	root := &tracepb.Span{
		TraceId: t.trace, SpanId: t.id(8, "agent"), Kind: tracepb.Span_SPAN_KIND_INTERNAL,
		Name:              strings.TrimSpace("invoke_agent " + sanitize.Line(t.scenario.Agent, maxText)),
		StartTimeUnixNano: t.at(0), Attributes: t.agentAttributes(),
	}
	byCall, known := t.ByCall()
	list := []*tracepb.Span{root}
	end := t.End.Duration
	for i := range t.Calls {
		from, to := t.times(i, end)
		end = max(end, to)
		span := t.chat(i, root.SpanId, from, to)
		if known {
			span.Events = append(span.Events, t.faults(byCall[i], from)...)
		}
		list = append(list, span)
	}
	if !known {
		root.Events = append(root.Events, t.faults(t.Exchanges, 0)...)
	}
	for i := range t.Events {
		root.Events = append(root.Events, t.agentEvent(&t.Events[i]))
	}
	slices.SortStableFunc(root.Events, func(a, b *tracepb.Span_Event) int { return cmp.Compare(a.TimeUnixNano, b.TimeUnixNano) })
	if verdict, ok := t.evaluation(t.at(end)); ok {
		root.Events = append(root.Events, verdict)
	}
	root.EndTimeUnixNano, root.Status = t.at(end), t.status()
	return list
}

// times returns the start and end of a call. In real time only its latency may be known: it then
// follows the previous call, which ended at end.
func (t *spanTrial) times(i int, end time.Duration) (from, to time.Duration) {
	c := &t.Calls[i]
	if !t.scenario.RealTime {
		return c.At, c.At + c.Latency
	}
	if all := t.facts.Latency.All; len(all) == len(t.Calls) {
		return end, end + time.Duration(all[i]*float64(time.Second))
	}
	return end, end
}

// chat returns the span of a call.
func (t *spanTrial) chat(i int, parent []byte, from, to time.Duration) *tracepb.Span {
	c := &t.Calls[i]
	span := &tracepb.Span{
		TraceId: t.trace, SpanId: t.id(8, "call", strconv.Itoa(i)), ParentSpanId: parent, Kind: tracepb.Span_SPAN_KIND_CLIENT,
		Name: strings.TrimSpace("chat " + sanitize.Line(t.scenario.Model, maxText)), StartTimeUnixNano: t.at(from), EndTimeUnixNano: t.at(to),
		Attributes: callAttributes(t.scenario, c),
	}
	for k, r := range c.Retries {
		span.Events = append(span.Events, &tracepb.Span_Event{Name: "retry", TimeUnixNano: t.at(from), Attributes: retryAttributes(k, r)})
	}
	if c.Error != nil {
		span.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: sanitize.Line(c.Error.Message, maxText)}
	}
	return span
}

// faults returns events of the exchanges with a fault or a problem, which have no times.
func (t *spanTrial) faults(exchanges []record.Exchange, at time.Duration) (list []*tracepb.Span_Event) {
	for i := range exchanges {
		if x := &exchanges[i]; x.Fault != "" || x.Problem != "" {
			list = append(list, &tracepb.Span_Event{Name: "fault", TimeUnixNano: t.at(at), Attributes: faultAttributes(x)})
		}
	}
	return list
}

// agentEvent returns an event of the agent.
func (t *spanTrial) agentEvent(e *record.Event) *tracepb.Span_Event {
	name := string(e.Kind)
	if e.Kind == event.Verdict || e.Kind == event.Guard {
		name = strings.TrimSpace(name + " " + e.Name)
	}
	return &tracepb.Span_Event{Name: sanitize.Line(name, maxText), TimeUnixNano: t.at(e.At), Attributes: eventAttributes(&e.Event)}
}

// evaluation returns the verdict; false if the trial neither passed nor failed.
func (t *spanTrial) evaluation(at uint64) (*tracepb.Span_Event, bool) {
	verdict := gate.VerdictOf(t.findings)
	if verdict != gate.Pass && verdict != gate.Fail {
		return nil, false
	}
	return &tracepb.Span_Event{Name: evaluationEvent, TimeUnixNano: at, Attributes: evaluationAttributes(verdict, t.why(gate.Failing))}, true
}

// why returns the first finding of a severity.
func (t *spanTrial) why(severity gate.Severity) string {
	for _, f := range t.findings {
		if f.Severity == severity {
			return sanitize.Line(f.Rule+": "+f.Message, maxText)
		}
	}
	return ""
}

// status returns an error if the trial did not pass.
func (t *spanTrial) status() *tracepb.Status {
	switch gate.VerdictOf(t.findings) {
	case gate.Fail:
		return &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: t.why(gate.Failing)}
	case gate.Error:
		return &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: t.why(gate.Broken)}
	default:
		return nil
	}
}
