package incident_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/incident"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/capture"
)

// The files in testdata were written by real programs against a scripted backend; machine-specific parts
// were removed: @opentelemetry/instrumentation-openai 0.21 (events, and a call that failed),
// @traceloop/instrumentation-openai 0.27 (messages), ai 6.0.326, Claude Code 2.1.197, Codex 0.169.0,
// promptfoo 0.119.0. langfuse.json has the generations that the SDK langfuse sent, in the form of
// the API's ObservationsViews.
var _ = DescribeTable("scenarios of real files", func(file string, format incident.Format) {
	conversations, findings, err := incident.Read([]string{"testdata/" + file}, incident.Auto)
	Expect(err).NotTo(HaveOccurred())
	Expect(findings).To(BeEmpty())
	Expect(conversations).NotTo(BeEmpty())
	Expect(conversations[0].Format).To(Equal(format))
	sc := written(conversations[0], incident.Options{Version: "v0.0.0"})
	Expect(string(sc.Text)).NotTo(ContainSubstring("sk-proj-"))
	golden.Expect(strings.TrimSuffix(file, filepath.Ext(file))+".golden.yaml", sc.Text)
},
	Entry("events of OpenTelemetry before 1.37", "otlp-events.jsonl", incident.OTLP),
	Entry("messages of OpenTelemetry since 1.37", "otlp-messages.jsonl", incident.OTLP),
	Entry("the Vercel AI SDK", "otlp-aisdk.jsonl", incident.OTLP),
	Entry("a call that failed, and a secret", "otlp-failed.jsonl", incident.OTLP),
	Entry("Claude Code", "claude.jsonl", incident.Claude),
	Entry("Codex", "codex.jsonl", incident.Codex),
	Entry("a recording", "recording.jsonl", incident.Recording),
	Entry("Langfuse", "langfuse.json", incident.Langfuse),
	Entry("promptfoo", "promptfoo.json", incident.Promptfoo),
)

func written(c incident.Conversation, o incident.Options) incident.Scenario {
	GinkgoHelper()
	sc, err := incident.Write(c, o)
	Expect(err).NotTo(HaveOccurred())
	return sc
}

// read reads texts as files.
func read(format incident.Format, texts ...string) ([]incident.Conversation, []string, error) {
	GinkgoHelper()
	var files []string
	for i, text := range texts {
		name := filepath.Join(GinkgoT().TempDir(), string(rune('a'+i))+".jsonl")
		Expect(os.WriteFile(name, []byte(text), 0o600)).To(Succeed())
		files = append(files, name)
	}
	conversations, found, err := incident.Read(files, format)
	var findings []string
	for _, f := range found {
		findings = append(findings, strings.TrimPrefix(f.String(), filepath.Dir(f.File)+"/"))
	}
	return conversations, findings, err
}

// testdata returns a file of testdata.
func testdata(name string) string {
	GinkgoHelper()
	data, err := os.ReadFile("testdata/" + name)
	Expect(err).NotTo(HaveOccurred())
	return string(data)
}

var _ = Describe("damaged and mixed files", func() {
	It("leaves out malformed lines, with their positions", func() {
		conversations, findings, err := read(incident.Auto, "{broken\n"+testdata("otlp-messages.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations).To(HaveLen(1))
		Expect(findings).To(Equal([]string{"a.jsonl:1: the line is not JSON and is left out"}))
	})

	It("reports ten malformed lines and counts the rest", func() {
		_, findings, err := read(incident.Claude, testdata("claude.jsonl")+strings.Repeat("{\n", 15))
		Expect(err).NotTo(HaveOccurred())
		Expect(findings).To(HaveLen(11))
		Expect(findings[10]).To(Equal("a.jsonl: 5 further lines are not JSON"))
	})

	It("rejects a file of another format", func() {
		_, _, err := read(incident.Auto, "hello\nworld\n")
		Expect(err).To(MatchError(MatchRegexp(`is in none of the formats otlp, claude, codex.*which are JSON \(line 1: invalid character 'h'`)))
		_, _, err = read(incident.Auto, `{"hello":1}`)
		Expect(err).To(MatchError(ContainSubstring("is in none of the formats otlp, claude, codex")))
	})

	It("reports that a trace has no contents", func() {
		var spans []string
		for line := range strings.Lines(testdata("otlp-events.jsonl")) {
			if strings.Contains(line, "resourceSpans") {
				spans = append(spans, line)
			}
		}
		conversations, findings, err := read(incident.OTLP, strings.Join(spans, ""))
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations).To(BeEmpty())
		Expect(findings).To(ConsistOf(ContainSubstring("has 2 calls without prompts and answers")))
	})

	It("joins spans and logs of different files", func() {
		var spans, logs string
		for line := range strings.Lines(testdata("otlp-events.jsonl")) {
			if strings.Contains(line, "resourceSpans") {
				spans += line
			} else {
				logs += line
			}
		}
		conversations, findings, err := read(incident.Auto, logs, spans)
		Expect(err).NotTo(HaveOccurred())
		Expect(findings).To(BeEmpty())
		Expect(conversations).To(HaveLen(1))
		Expect(conversations[0].Turns).To(HaveLen(2))
	})

	It("reads each span once", func() {
		text := testdata("otlp-messages.jsonl")
		conversations, findings, err := read(incident.OTLP, text+text)
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations[0].Turns).To(HaveLen(2))
		Expect(findings).To(ConsistOf(ContainSubstring("3 spans occur more than once")))
	})

	It("reads a list of exports like lines", func() {
		conversations, _, err := read(incident.Auto, "["+strings.TrimSpace(testdata("otlp-messages.jsonl"))+"]")
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations).To(HaveLen(1))
	})

	It("makes a conversation of each trace, unless they have the same conversation id", func() {
		text := testdata("otlp-messages.jsonl")
		other := strings.ReplaceAll(text, `"traceId":"`, `"traceId":"f`)
		conversations, _, err := read(incident.OTLP, text+other)
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations).To(HaveLen(2))
		id := `{"key":"gen_ai.conversation.id","value":{"stringValue":"c1"}},{"key":"gen_ai.operation.name"`
		one := strings.ReplaceAll(text+other, `{"key":"gen_ai.operation.name"`, id)
		conversations, _, err = read(incident.OTLP, one)
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations).To(HaveLen(1))
		Expect(conversations[0].ID).To(Equal("c1"))
		Expect(conversations[0].Turns).To(HaveLen(4))
	})

	It("reads a call once that two instrumentations recorded, one inside the other", func() {
		text := testdata("otlp-messages.jsonl")
		inner := strings.ReplaceAll(text, `"parentSpanId":"b0ad1fe55403a3b3"`, `"parentSpanId":"1935d95a8d6fb303"`)
		inner = strings.ReplaceAll(inner, `"spanId":"1935d95a8d6fb303","parentSpanId":"1935d95a8d6fb303"`, `"spanId":"1935d95a8d6fb303"`)
		conversations, _, err := read(incident.OTLP, inner)
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations[0].Turns).To(HaveLen(1))
	})

	It("does not expect the end done of a trace that failed", func() {
		text := testdata("otlp-messages.jsonl")
		at := strings.LastIndex(text, `"status":{"code":0}`) // of the root span
		text = text[:at] + `"status":{"code":2,"message":"out of stock"}` + text[at+len(`"status":{"code":0}`):]
		conversations, _, err := read(incident.OTLP, text)
		Expect(err).NotTo(HaveOccurred())
		sc := written(conversations[0], incident.Options{})
		Expect(string(sc.Text)).NotTo(ContainSubstring("status: done"))
		Expect(sc.Notes).To(ContainElement("The trace ended with an error: out of stock"))
	})

	It("reports an attribute that was cut off", func() {
		text := strings.Replace(testdata("otlp-messages.jsonl"), `\"finish_reason\":\"stop\"`, "", 1)
		conversations, findings, err := read(incident.OTLP, text)
		Expect(err).NotTo(HaveOccurred())
		Expect(findings).To(ConsistOf(ContainSubstring("gen_ai.output.messages is not JSON; was it cut off")))
		sc := written(conversations[0], incident.Options{})
		Expect(sc.Incomplete).To(BeTrue())
		Expect(sc.Notes).To(ContainElement("The script ends before call 2 of 2: its answer is not in the file."))
		Expect(string(sc.Text)).To(ContainSubstring("at_least: 1"))
	})

	It("reads the blocks of a resumed session once", func() {
		text := testdata("claude.jsonl")
		conversations, _, err := read(incident.Claude, text+text)
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations).To(HaveLen(1))
		Expect(conversations[0].Turns).To(HaveLen(3))
		Expect(conversations[0].Users).To(HaveLen(1))
	})

	DescribeTable("reports token counts that are not numbers, whose calls then have no tokens",
		func(format incident.Format, file, count string, finding string) {
			whole, _, err := read(format, testdata(file))
			Expect(err).NotTo(HaveOccurred())
			text := regexp.MustCompile(count).ReplaceAllString(testdata(file), `$1"many"`)
			conversations, findings, err := read(format, text)
			Expect(err).NotTo(HaveOccurred())
			Expect(findings).To(ContainElement(MatchRegexp(finding)))
			without := func(turns []incident.Turn) (n int) {
				for i := range turns {
					if turns[i].Reply.Usage == nil {
						n++
					}
				}
				return n
			}
			Expect(without(conversations[0].Turns)).To(BeNumerically(">", without(whole[0].Turns)))
		},
		Entry("in a session of Claude Code", incident.Claude, "claude.jsonl", `("output_tokens":)\d+`,
			`^a\.jsonl:\d+: output_tokens is not a number: many; the tokens of this call are unknown$`),
		Entry("in a rollout of Codex", incident.Codex, "codex.jsonl", `("cached_input_tokens":)\d+`,
			`^a\.jsonl:\d+: cached_input_tokens is not a number: many; the tokens of this call are unknown$`),
		Entry("in an export of Langfuse", incident.Langfuse, "langfuse.json", `("input": ?)\d+`,
			`^a\.jsonl: generation \S+: input is not a number: many; the tokens of this call are unknown$`),
		Entry("in results of promptfoo", incident.Promptfoo, "promptfoo.json", `("prompt": ?)\d+`,
			`^a\.jsonl: result 1: prompt is not a number: many; the tokens of this call are unknown$`),
	)

	DescribeTable("takes the tokens of older observations of Langfuse", func(usage string, want *llm.Usage) {
		conversations, _, err := read(incident.Langfuse, `[{"id":"o","traceId":"t","type":"GENERATION","startTime":"2026-11-01T10:00:02.000Z",`+
			`"model":"gpt-4.1-mini","input":[{"role":"user","content":"q"}],"output":{"role":"assistant","content":"a"},"usage":`+usage+`}]`)
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations[0].Turns[0].Reply.Usage).To(Equal(want))
	},
		Entry("as they are", `{"input":80,"output":11,"total":91,"unit":"TOKENS"}`, &llm.Usage{Input: 80, Output: 11, Source: llm.UsageReported}),
		Entry("as unknown if they are 0", `{"input":0,"output":0,"total":0,"unit":"TOKENS"}`, nil),
	)

	It("does not take a configuration of promptfoo for results", func() {
		conversations, findings, err := read(incident.Auto, `{"prompts":["hi"],"providers":["openai:gpt-4.1-mini"],"tests":[]}`)
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations).To(BeEmpty())
		Expect(findings).To(ConsistOf(ContainSubstring("promptfoo eval -o results.json")))
	})
})

var _ = Describe("written scenarios", func() {
	messages := func() incident.Conversation {
		conversations, _, err := read(incident.OTLP, testdata("otlp-messages.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		return conversations[0]
	}

	It("takes the drive that is given, with the turns of the conversation", func() {
		sc := written(messages(), incident.Options{Drive: map[string]any{"command": map[string]any{"run": []string{"my-agent"}}}})
		Expect(string(sc.Text)).To(ContainSubstring("run:\n      - my-agent\n    turns:\n      - Where is my order A-17?\n"))
		Expect(string(sc.Text)).NotTo(ContainSubstring("TODO"))
	})

	It("matches by the position alone if that is asked for", func() {
		sc := written(messages(), incident.Options{Match: capture.InOrder})
		Expect(string(sc.Text)).NotTo(ContainSubstring("when:"))
	})

	It("makes rules of calls that overlapped", func() {
		c := messages()
		c.Turns[0].Ended = c.Turns[1].Ended
		sc := written(c, incident.Options{})
		Expect(string(sc.Text)).To(ContainSubstring("  rules:\n"))
		Expect(string(sc.Text)).To(ContainSubstring("        turn: 1\n"))
	})

	It("orders turns by their times", func() {
		c := messages()
		c.Turns[0], c.Turns[1] = c.Turns[1], c.Turns[0]
		Expect(string(written(c, incident.Options{}).Text)).To(Equal(string(written(messages(), incident.Options{}).Text)))
	})

	It("marks a model without a price", func() {
		sc := written(messages(), incident.Options{Priced: func(string) bool { return false }})
		Expect(string(sc.Text)).To(ContainSubstring("unpriced: true"))
	})

	It("does not look for the price of a model that is not known", func() {
		c := messages()
		for i := range c.Turns {
			c.Turns[i].Reply.Model = ""
		}
		sc := written(c, incident.Options{Priced: func(string) bool { return false }})
		Expect(string(sc.Text)).To(ContainSubstring("# The model is not known, and so its cost is not, either.\n"))
		Expect(string(sc.Text)).NotTo(ContainSubstring("in the table"))
	})

	It("is not written with a secret that cannot be replaced", func() {
		c := messages()
		c.Turns[0].Reply.ToolCalls[0].Name = "sk-proj-abcdefgh12345678"
		_, err := incident.Write(c, incident.Options{Name: "x"})
		Expect(err).To(MatchError(ContainSubstring("a secret (api-key) would be left in it")))
	})

	It("has no cost and no latency", func() {
		Expect(string(written(messages(), incident.Options{}).Text)).NotTo(MatchRegexp("cost:|latency:|duration:"))
	})

	It("writes line breaks of a foreign name as spaces, so that it cannot leave its comment", func() {
		c := messages()
		c.ID = "x\nexpect: {}\n"
		sc := written(c, incident.Options{Name: "x"})
		Expect(string(sc.Text)).To(ContainSubstring("from x expect: {} (otlp)"))
	})
})

var _ = It("does not compare requests that a session does not have", func() {
	for _, format := range []incident.Format{incident.Claude, incident.Codex} {
		conversations, _, err := read(format, testdata(string(format)+".jsonl"))
		Expect(err).NotTo(HaveOccurred())
		for _, m := range []capture.Matching{capture.ByText, capture.ByTurn} {
			_, err := incident.Write(conversations[0], incident.Options{Match: m})
			Expect(err).To(MatchError(MatchRegexp(`is a session of C.*, which has no requests to compare; match by order, the default$`)))
		}
		Expect(incident.CheckMatch(conversations, capture.InOrder)).To(Succeed())
		Expect(incident.CheckMatch(conversations, "")).To(Succeed())
	}
})

var _ = DescribeTable("a conversation that is too large for a scenario", func(match capture.Matching, hint string) {
	conversations, _, err := read(incident.Langfuse, generations(said("u1", strings.Repeat("a", 2<<20))))
	Expect(err).NotTo(HaveOccurred())
	_, err = incident.Write(conversations[0], incident.Options{Match: match})
	Expect(err).To(MatchError(HaveSuffix("(1 MiB) are allowed; " + hint)))
},
	Entry("by text", capture.ByText, "try --match order, which leaves out conditions, or import a shorter conversation"),
	Entry("by order", capture.InOrder, "import a shorter conversation"),
)
