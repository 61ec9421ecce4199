package export_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"time"
	"unicode"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/reports/export"
)

var spanStart = time.Date(2026, time.November, 21, 20, 0, 0, 0, time.UTC)

func spanScenario() record.Scenario {
	return record.Scenario{Name: "orders/golden", Trials: 2, Agent: "loop", Backend: "openai", Model: "m-1", Perturb: []string{"call=1:status"}}
}

// spanTrialOf has a call with a fault and a retry, and one that failed.
func spanTrialOf(n int) record.Trial {
	return record.Trial{
		Head: record.TrialHead{Scenario: "orders/golden", N: n},
		Messages: []record.Message{
			{ID: "m1", Message: llm.Message{Role: llm.User, Content: "a secret question"}},
			{ID: "m2", Message: llm.Message{Role: llm.Assistant, Content: "a secret answer"}},
		},
		Calls: []record.Call{
			{
				N: 1, Latency: 2 * time.Second, Purpose: "answer", Tags: map[string]string{"block": "1", "a": "b"}, Backend: "openai", Model: "m-1-2026",
				Messages: []string{"m1"}, Reply: "m2", Finish: llm.FinishStop, Usage: &llm.Usage{Input: 10, CachedInput: 2, CacheWrite: 1, Output: 5, Reasoning: 3},
				Retries: []llm.Retry{{Kind: llm.RateLimited, Status: 429, Wait: 1500 * time.Millisecond}},
			},
			{
				N: 2, At: 3 * time.Second, Latency: time.Second, Purpose: "check", Backend: "openai", Messages: []string{"m1"},
				Error: &record.CallError{Kind: llm.Unavailable, Status: 503, Message: "overloaded"},
			},
		},
		Exchanges: []record.Exchange{
			{N: 1, Line: "replies[0]", Status: 429, Fault: "status", Fired: true, Delivered: true},
			{N: 2, Line: "replies[0]", Status: 200, Delivered: true},
			{N: 3, Status: 503, Problem: "no line answers"},
		},
		Events: []record.Event{
			{At: 2 * time.Second, Event: event.Event{Kind: event.Verdict, Name: "stop", N: 1, Detail: "it may stop", Attrs: map[string]any{"allow": true, "score": 0.5, "why": "done", "odd": nil}}},
		},
		End: record.End{Status: "error", ExitCode: 1, Duration: 5 * time.Second},
	}
}

func spanRun() record.Run {
	return record.Run{Schema: record.Schema, ID: "5e1f", Tool: "rehearse 1.2.3", Labels: map[string]string{"branch": "main"}}
}

var failingFinding = gate.Finding{Severity: gate.Failing, Rule: "status", Message: `expected "done", got "error"`}

func writtenSpans(sc record.Scenario, tr record.Trial, findings ...gate.Finding) []byte {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(export.Spans(&b, spanRun(), spanStart, false)(sc, tr, measure.Trial(sc, tr, nil, kinds.Language().Extensions()), findings)).To(Succeed())
	return b.Bytes()
}

var spanIDs = regexp.MustCompile(`"(traceId|spanId|parentSpanId)":"([0-9a-f]+)"`)

// decode reads a line as a receiver does: ids are hexadecimal in OTLP, where protobuf's
// own JSON has base64.
func decode(line []byte) *collectorpb.ExportTraceServiceRequest {
	GinkgoHelper()
	line = spanIDs.ReplaceAllFunc(line, func(m []byte) []byte {
		parts := spanIDs.FindSubmatch(m)
		id, err := hex.DecodeString(string(parts[2]))
		Expect(err).NotTo(HaveOccurred())
		return []byte(`"` + string(parts[1]) + `":"` + base64.StdEncoding.EncodeToString(id) + `"`)
	})
	var request collectorpb.ExportTraceServiceRequest
	Expect(protojson.Unmarshal(line, &request)).To(Succeed())
	return &request
}

func spansOf(line []byte) []*tracepb.Span {
	GinkgoHelper()
	request := decode(line)
	Expect(request.ResourceSpans).To(HaveLen(1))
	Expect(request.ResourceSpans[0].ScopeSpans).To(HaveLen(1))
	return request.ResourceSpans[0].ScopeSpans[0].Spans
}

// attrs are attributes as text, by key.
func attrs(list []*commonpb.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range list {
		text, err := protojson.Marshal(a.Value)
		Expect(err).NotTo(HaveOccurred())
		_, value, _ := strings.Cut(strings.Trim(string(text), "{}"), ":")
		out[a.Key] = strings.Trim(strings.TrimSpace(value), `"`)
	}
	return out
}

var _ = Describe("the spans of a trial", Label("H-05"), func() {
	It("are what they were", func() {
		var indented bytes.Buffer
		Expect(json.Indent(&indented, writtenSpans(spanScenario(), spanTrialOf(1), failingFinding), "", " ")).To(Succeed())
		golden.Expect("trial.json", indented.Bytes())
	})
	It("are a trace of an agent's span with one below it for each call", func() {
		list := spansOf(writtenSpans(spanScenario(), spanTrialOf(1), failingFinding))
		Expect(list).To(HaveLen(3))
		agent := list[0]
		Expect(agent.Name).To(Equal("invoke_agent loop"))
		Expect(agent.ParentSpanId).To(BeEmpty())
		seen := map[string]bool{}
		for _, s := range list {
			Expect(s.TraceId).To(HaveLen(16))
			Expect(s.TraceId).To(Equal(agent.TraceId))
			Expect(s.SpanId).To(HaveLen(8))
			seen[string(s.SpanId)] = true
			Expect(s.EndTimeUnixNano).To(BeNumerically(">=", s.StartTimeUnixNano))
			Expect(s.EndTimeUnixNano).To(BeNumerically("<=", agent.EndTimeUnixNano))
		}
		Expect(seen).To(HaveLen(3))
		for _, call := range list[1:] {
			Expect(call.Name).To(Equal("chat m-1"))
			Expect(call.Kind).To(Equal(tracepb.Span_SPAN_KIND_CLIENT))
			Expect(call.ParentSpanId).To(Equal(agent.SpanId))
		}
	})
	It("stand at virtual times after the start that was named", func() {
		list := spansOf(writtenSpans(spanScenario(), spanTrialOf(1)))
		at := func(ns uint64) time.Duration { return time.Unix(0, int64(ns)).Sub(spanStart) } //nolint:gosec // a date
		Expect([]time.Duration{at(list[0].StartTimeUnixNano), at(list[0].EndTimeUnixNano)}).To(Equal([]time.Duration{0, 5 * time.Second}))
		Expect([]time.Duration{at(list[2].StartTimeUnixNano), at(list[2].EndTimeUnixNano)}).To(Equal([]time.Duration{3 * time.Second, 4 * time.Second}))
		Expect(at(list[0].Events[0].TimeUnixNano)).To(Equal(2 * time.Second))
	})
	It("follow the conventions for generative AI", func() {
		list := spansOf(writtenSpans(spanScenario(), spanTrialOf(1), failingFinding))
		agent, call, lost := attrs(list[0].Attributes), attrs(list[1].Attributes), attrs(list[2].Attributes)
		Expect(agent).To(And(HaveKeyWithValue("gen_ai.operation.name", "invoke_agent"), HaveKeyWithValue("gen_ai.agent.name", "loop"),
			HaveKeyWithValue("rehearse.verdict", "fail"), HaveKeyWithValue("rehearse.trial", "1"), HaveKey("rehearse.perturb")))
		Expect(call).To(And(HaveKeyWithValue("gen_ai.operation.name", "chat"), HaveKeyWithValue("gen_ai.provider.name", "openai"),
			HaveKeyWithValue("gen_ai.request.model", "m-1"), HaveKeyWithValue("gen_ai.response.model", "m-1-2026"),
			HaveKeyWithValue("gen_ai.usage.input_tokens", "13"), HaveKeyWithValue("gen_ai.usage.output_tokens", "5"),
			HaveKeyWithValue("gen_ai.usage.cache_read.input_tokens", "2"), HaveKeyWithValue("gen_ai.usage.cache_creation.input_tokens", "1"),
			HaveKeyWithValue("gen_ai.usage.reasoning.output_tokens", "3"), HaveKey("gen_ai.response.finish_reasons"),
			HaveKeyWithValue("rehearse.call.purpose", "answer"), HaveKeyWithValue("rehearse.call.tag.block", "1")))
		Expect(lost).To(And(HaveKeyWithValue("error.type", "unavailable"), HaveKeyWithValue("http.response.status_code", "503"), Not(HaveKey("gen_ai.usage.input_tokens"))))
		Expect(list[2].Status.Code).To(Equal(tracepb.Status_STATUS_CODE_ERROR))
		Expect(list[2].Status.Message).To(Equal("overloaded"))
	})
	It("name the version of the conventions", func() {
		of := decode(writtenSpans(spanScenario(), spanTrialOf(1))).ResourceSpans[0]
		Expect(of.SchemaUrl).To(Equal("https://opentelemetry.io/schemas/1.41.0"))
		Expect(of.ScopeSpans[0].SchemaUrl).To(Equal(of.SchemaUrl))
	})
	It("leave out unknown values", func() {
		tr := spanTrialOf(1)
		tr.Calls[0].Usage, tr.Calls[1].Error.Status = nil, 0
		list := spansOf(writtenSpans(spanScenario(), tr))
		for _, s := range list {
			Expect(attrs(s.Attributes)).NotTo(Or(HaveKey(HavePrefix("gen_ai.usage.")), HaveKey("http.response.status_code")))
		}
		Expect(attrs(list[1].Attributes)).NotTo(HaveKey("rehearse.cost.usd"))
		Expect(attrs(list[2].Attributes)).To(HaveKeyWithValue("error.type", "unavailable"))
	})
	It("have faults and retries at their calls, and the agent's decisions and the verdict", func() {
		list := spansOf(writtenSpans(spanScenario(), spanTrialOf(1), failingFinding))
		names := func(s *tracepb.Span) (out []string) {
			for _, e := range s.Events {
				out = append(out, e.Name)
			}
			return out
		}
		Expect(names(list[0])).To(Equal([]string{"verdict stop", "gen_ai.evaluation.result"}))
		Expect(names(list[1])).To(Equal([]string{"retry", "fault"}))
		Expect(names(list[2])).To(Equal([]string{"fault"}))
		Expect(attrs(list[0].Events[0].Attributes)).To(Equal(map[string]string{
			"rehearse.event.name": "stop", "rehearse.event.n": "1", "rehearse.event.detail": "it may stop",
			"rehearse.event.allow": "true", "rehearse.event.score": "0.5", "rehearse.event.why": "done",
		}))
		Expect(attrs(list[0].Events[1].Attributes)).To(And(HaveKeyWithValue("gen_ai.evaluation.score.label", "fail"), HaveKeyWithValue("gen_ai.evaluation.score.value", "0")))
		Expect(attrs(list[1].Events[1].Attributes)).To(And(HaveKeyWithValue("rehearse.fault.kind", "status"), HaveKeyWithValue("rehearse.fault.fired", "true")))
		Expect(attrs(list[1].Events[0].Attributes)).To(And(HaveKeyWithValue("error.type", "rate-limited"), HaveKeyWithValue("rehearse.retry.wait_seconds", "1.5")))
	})
	It("have faults at the agent's span if their call is unknown", func() {
		tr := spanTrialOf(1)
		tr.Exchanges = append(tr.Exchanges, record.Exchange{N: 4})
		list := spansOf(writtenSpans(spanScenario(), tr))
		Expect(list[0].Events[0].Name).To(Equal("fault"))
		Expect(list[1].Events).To(HaveLen(1))
	})
	DescribeTable("have a status for what did not pass", func(code tracepb.Status_StatusCode, evaluated bool, findings ...gate.Finding) {
		agent := spansOf(writtenSpans(spanScenario(), spanTrialOf(1), findings...))[0]
		Expect(agent.Status.GetCode()).To(Equal(code))
		last := agent.Events[len(agent.Events)-1].Name
		if evaluated {
			Expect(last).To(Equal("gen_ai.evaluation.result"))
		} else {
			Expect(last).To(Equal("verdict stop"))
		}
	},
		Entry("pass", tracepb.Status_STATUS_CODE_UNSET, true),
		Entry("fail", tracepb.Status_STATUS_CODE_ERROR, true, failingFinding),
		Entry("error", tracepb.Status_STATUS_CODE_ERROR, false, gate.Finding{Severity: gate.Broken, Rule: "x", Message: "y"}),
		Entry("skip", tracepb.Status_STATUS_CODE_UNSET, false, gate.Finding{Severity: gate.Skipped, Rule: "x", Message: "y"}),
	)
	It("follow one another where the trial ran in real time", func() {
		sc, tr := spanScenario(), spanTrialOf(1)
		sc.RealTime = true
		tr.Calls[1].At, tr.End.Duration = 0, 0
		facts := measure.Trial(sc, tr, []record.Timing{{Scenario: sc.Name, Trial: 1, Call: 1, Latency: time.Second}, {Scenario: sc.Name, Trial: 1, Call: 2, Latency: 2 * time.Second}}, kinds.Language().Extensions())
		var b bytes.Buffer
		Expect(export.Spans(&b, spanRun(), spanStart, false)(sc, tr, facts, nil)).To(Succeed())
		list := spansOf(b.Bytes())
		Expect(list[1].EndTimeUnixNano - list[1].StartTimeUnixNano).To(BeEquivalentTo(time.Second))
		Expect(list[2].StartTimeUnixNano).To(Equal(list[1].EndTimeUnixNano))
		Expect(list[0].EndTimeUnixNano - list[0].StartTimeUnixNano).To(BeEquivalentTo(3 * time.Second))
	})
	It("contain neither prompts nor answers", func() {
		Expect(string(writtenSpans(spanScenario(), spanTrialOf(1)))).NotTo(ContainSubstring("secret"))
	})
	It("contain only the form of a conversation with an external agent", func() {
		tr := spanTrialOf(1)
		tell := func(name, attr string) {
			tr.Events = append(tr.Events, record.Event{Event: event.Event{
				Kind: event.State, Name: name, N: 3, Detail: "a secret", Attrs: map[string]any{attr: "a secret", "calls": 2.0},
			}})
		}
		tell("turn", "user")
		tell("file", "user")
		tell("log", "user")
		line := string(writtenSpans(spanScenario(), tr))
		Expect(line).NotTo(ContainSubstring("secret"))
		Expect(strings.Count(line, `"rehearse.event.calls"`)).To(Equal(3))
	})
	It("are one line of the same bytes each time, and other ids for another trial", func() {
		one := writtenSpans(spanScenario(), spanTrialOf(1))
		Expect(one).To(Equal(writtenSpans(spanScenario(), spanTrialOf(1))))
		Expect(bytes.Count(one, []byte("\n"))).To(Equal(1))
		Expect(spansOf(one)[0].TraceId).NotTo(Equal(spansOf(writtenSpans(spanScenario(), spanTrialOf(2)))[0].TraceId))
	})
	It("let no control character through, and stay short", func() {
		evil := "\x1b[31m\u202e\x00\n" + strings.Repeat("x", 100_000)
		sc, tr := spanScenario(), spanTrialOf(1)
		sc.Name, sc.Agent, sc.Model, sc.Perturb = evil, evil, evil, []string{evil}
		tr.Calls[0].Purpose, tr.Calls[0].Tags, tr.Calls[1].Error.Message = evil, map[string]string{evil: evil}, evil
		tr.Events[0].Name, tr.Events[0].Detail, tr.Events[0].Attrs = evil, evil, map[string]any{evil: evil}
		tr.Exchanges[0].Fault, tr.Exchanges[2].Problem = evil, evil
		line := writtenSpans(sc, tr, gate.Finding{Severity: gate.Failing, Rule: evil, Message: evil})
		Expect(len(line)).To(BeNumerically("<", 60_000))
		for _, s := range spansOf(line) {
			Expect(strings.ContainsFunc(s.String(), unicode.IsControl)).To(BeFalse())
		}
	})
	It("are taken by a receiver over HTTP, line by line", func() {
		var got []*collectorpb.ExportTraceServiceRequest
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body bytes.Buffer
			_, err := body.ReadFrom(r.Body)
			Expect(err).NotTo(HaveOccurred())
			got = append(got, decode(body.Bytes()))
		}))
		defer receiver.Close()
		for n := 1; n <= 2; n++ {
			response, err := http.Post(receiver.URL+"/v1/traces", "application/json", bytes.NewReader(writtenSpans(spanScenario(), spanTrialOf(n)))) //nolint:noctx // loopback
			Expect(err).NotTo(HaveOccurred())
			Expect(response.Body.Close()).To(Succeed())
		}
		Expect(got).To(HaveLen(2))
		Expect(attrs(got[1].ResourceSpans[0].Resource.Attributes)).To(Equal(map[string]string{
			"service.name": "rehearse", "rehearse.run": "5e1f", "rehearse.tool": "rehearse 1.2.3", "rehearse.label.branch": "main",
		}))
	})
	It("are reported if they cannot be written", func() {
		full := errors.New("disk full")
		sc, tr := spanScenario(), spanTrialOf(1)
		Expect(export.Spans(brokenWriter{full}, spanRun(), spanStart, false)(sc, tr, measure.Trial(sc, tr, nil, kinds.Language().Extensions()), nil)).To(MatchError(full))
	})
})

type brokenWriter struct{ err error }

func (f brokenWriter) Write([]byte) (int, error) { return 0, f.err }
