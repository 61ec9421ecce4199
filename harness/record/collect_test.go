package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
)

// answering returns a backend that answers after d of virtual time.
func answering(clk clock.Clock, d time.Duration, reply llm.Reply, err error) llm.Backend {
	return llm.BackendFunc(func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
		if e := clk.Sleep(ctx, d); e != nil {
			return llm.Reply{}, e
		}
		return reply, err
	})
}

func user(text string) llm.Message { return llm.Message{Role: llm.User, Content: text} }

var _ = Describe("Collector", Label("H-04"), func() {
	var (
		clk *clock.Virtual
		c   *record.Collector
	)
	BeforeEach(func() {
		clk = clock.NewVirtual()
		c = record.NewCollector(record.CollectorOptions{
			Head: record.TrialHead{Scenario: "s", N: 2, Seed: 7}, Clock: clk, Backend: "openai",
			Redactor: redact.New([]string{secrets["secret"]}),
		})
	})

	It("records calls with their times, usage and retries", func(ctx SpecContext) {
		usd := 0.25
		reply := llm.Reply{
			Text: "hi", Finish: llm.FinishStop, Model: "gpt-4.1-mini-2025-04-14", Usage: &llm.Usage{Input: 5, Output: 1},
			ReportedUSD: &usd, Retries: []llm.Retry{{Kind: llm.RateLimited, Status: 429, Wait: time.Second}},
		}
		b := c.Wrap(answering(clk, 3*time.Second, reply, nil))
		Expect(clk.Sleep(ctx, time.Second)).To(Succeed())
		got, err := b.Complete(ctx, llm.Request{
			Purpose: "loop", Tags: map[string]string{"block": "1"}, Model: "gpt-4.1-mini", Messages: []llm.Message{user("hello")},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(got).To(Equal(reply))
		c.Emit(event.Event{Kind: event.Iteration, N: 1, Attrs: map[string]any{"n": 1}})
		trial := c.Finish(record.End{Status: "done", Duration: time.Hour}, record.Script{}, []record.Exchange{{N: 1}})

		Expect(cmp.Diff(record.Trial{
			Head: record.TrialHead{Scenario: "s", N: 2, Seed: 7},
			Messages: []record.Message{
				{ID: "m1", Message: user("hello")},
				{ID: "m2", Message: llm.Message{Role: llm.Assistant, Content: "hi"}},
			},
			Calls: []record.Call{{
				N: 1, At: time.Second, Latency: 3 * time.Second, Purpose: "loop", Tags: map[string]string{"block": "1"},
				Backend: "openai", Model: "gpt-4.1-mini-2025-04-14", Messages: []string{"m1"}, Reply: "m2",
				Finish: llm.FinishStop, Usage: reply.Usage, ReportedUSD: &usd, Retries: reply.Retries,
			}},
			Exchanges: []record.Exchange{{N: 1}},
			Events:    []record.Event{{At: 4 * time.Second, Event: event.Event{Kind: event.Iteration, N: 1, Attrs: map[string]any{"n": 1}}}},
			End:       record.End{Status: "done", Duration: 4 * time.Second},
		}, trial)).To(BeEmpty())
		Expect(c.Timings()).To(BeEmpty())
	})

	It("stores each message of a growing conversation once", func(ctx SpecContext) {
		var conversation []llm.Message
		for i := range 4 {
			b := c.Wrap(answering(clk, 0, llm.Reply{Text: fmt.Sprint("answer ", i)}, nil))
			conversation = append(conversation, user(fmt.Sprint("question ", i)))
			reply, err := b.Complete(ctx, llm.Request{Messages: conversation})
			Expect(err).NotTo(HaveOccurred())
			conversation = append(conversation, reply.Message())
		}
		trial := c.Finish(record.End{}, record.Script{}, nil)
		Expect(trial.Messages).To(HaveLen(8))
		Expect(trial.Calls[3].Messages).To(Equal([]string{"m1", "m2", "m3", "m4", "m5", "m6", "m7"}))
		Expect(trial.Calls[3].Reply).To(Equal("m8"))
	})

	It("forks into a record that continues under another head", func(ctx SpecContext) {
		ask := func(c *record.Collector, texts ...string) {
			var all []llm.Message
			for _, text := range texts {
				all = append(all, user(text))
			}
			_, err := c.Wrap(answering(clk, time.Second, llm.Reply{Text: "answer to " + texts[len(texts)-1]}, nil)).Complete(ctx, llm.Request{Messages: all})
			Expect(err).NotTo(HaveOccurred())
			c.Emit(event.Event{Kind: event.Iteration, Name: texts[len(texts)-1]})
		}
		ask(c, "a")
		later := clock.NewVirtual()
		Expect(later.Sleep(ctx, clk.Elapsed())).To(Succeed())
		forked := c.Fork(record.TrialHead{Scenario: "other", N: 2, Seed: 7}, later)
		Expect(forked.Head()).To(HaveField("Scenario", "other"))
		ask(c, "a", "b")
		ask(forked, "a", "c")
		ask(forked, "a", "c", "d")
		other, own := forked.Finish(record.End{}, record.Script{}, nil), c.Finish(record.End{}, record.Script{}, nil)
		Expect(own.Head.Scenario).To(Equal("s"))
		Expect(own.Messages).To(HaveExactElements(HaveField("Content", "a"), HaveField("Content", "answer to a"),
			HaveField("Content", "b"), HaveField("Content", "answer to b")))
		Expect(own.Calls).To(HaveLen(2))
		Expect(own.Events).To(HaveExactElements(HaveField("Name", "a"), HaveField("Name", "b")))
		Expect(other.Head.Scenario).To(Equal("other"))
		Expect(other.Calls).To(HaveExactElements(HaveField("Messages", []string{"m1"}), HaveField("Messages", []string{"m1", "m3"}),
			HaveField("Messages", []string{"m1", "m3", "m5"})))
		Expect(other.Events).To(HaveExactElements(HaveField("Name", "a"), HaveField("Name", "c"), HaveField("Name", "d")))
		Expect(other.Events[1].At).To(Equal(time.Second), "its clock is its own")
	})

	It("distinguishes messages by every field", func(ctx SpecContext) {
		call := func(id, name, args string) llm.Message {
			return llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: id, Name: name, Arguments: args}}}
		}
		messages := []llm.Message{
			user("a"),
			{Role: llm.System, Content: "a"},
			{Role: llm.User, Content: "a", Name: "n"},
			{Role: llm.ToolRole, Content: "a", ToolCallID: "1"},
			{Role: llm.ToolRole, Content: "a", ToolCallID: "2"},
			call("1", "f", "{}"), call("2", "f", "{}"), call("1", "g", "{}"), call("1", "f", "[]"), call("1f", "", "{}"),
			{Role: llm.Assistant, ToolCalls: append(call("1", "f", "{}").ToolCalls, call("1", "f", "{}").ToolCalls...)},
			{Role: llm.User, Content: "a", Attachments: []llm.Attachment{{Kind: "image", SHA256: "1"}}},
			{Role: llm.User, Content: "a", Attachments: []llm.Attachment{{Kind: "image", SHA256: "2"}}},
		}
		b := c.Wrap(answering(clk, 0, llm.Reply{Text: "x"}, nil))
		for _, batch := range [][]llm.Message{messages, append(messages[1:], messages[0]), messages} {
			_, err := b.Complete(ctx, llm.Request{Messages: batch})
			Expect(err).NotTo(HaveOccurred())
		}
		trial := c.Finish(record.End{}, record.Script{}, nil)
		Expect(trial.Messages).To(HaveLen(len(messages) + 1))
		Expect(trial.Calls[1].Messages).To(Equal([]string{"m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "m1"}))
		Expect(trial.Calls[2].Messages).To(Equal(trial.Calls[0].Messages))
	})

	It("is not affected if the agent changes its slices afterwards", func(ctx SpecContext) {
		tags := map[string]string{"a": "1"}
		messages := []llm.Message{{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "1"}}}}
		b := c.Wrap(answering(clk, 0, llm.Reply{}, nil))
		_, err := b.Complete(ctx, llm.Request{Messages: messages, Tags: tags})
		Expect(err).NotTo(HaveOccurred())
		tags["a"], messages[0].ToolCalls[0].ID = "2", "2"
		trial := c.Finish(record.End{}, record.Script{}, nil)
		Expect(trial.Calls[0].Tags).To(Equal(map[string]string{"a": "1"}))
		Expect(trial.Messages[0].ToolCalls[0].ID).To(Equal("1"))
	})

	DescribeTable("classifies failed calls",
		func(ctx SpecContext, err error, want record.CallError) {
			_, got := c.Wrap(answering(clk, time.Second, llm.Reply{}, err)).Complete(ctx, llm.Request{Model: "m"})
			Expect(got).To(BeIdenticalTo(err))
			call := c.Finish(record.End{}, record.Script{}, nil).Calls[0]
			Expect(*call.Error).To(Equal(want))
			Expect(call.Reply).To(BeEmpty())
			Expect(call.Model).To(Equal("m"))
			Expect(call.Latency).To(Equal(time.Second))
		},
		Entry("typed", &llm.Error{Kind: llm.Unavailable, Status: 503, Message: "busy"},
			record.CallError{Kind: llm.Unavailable, Status: 503, Message: "busy"}),
		Entry("typed without a message", &llm.Error{Kind: llm.Timeout, Backend: "b"},
			record.CallError{Kind: llm.Timeout, Message: "b: timeout"}),
		Entry("deadline", fmt.Errorf("call: %w", context.DeadlineExceeded),
			record.CallError{Kind: llm.Timeout, Message: "call: context deadline exceeded"}),
		Entry("anything else", errors.New("odd"), record.CallError{Kind: record.Unclassified, Message: "odd"}),
	)

	It("records the use of a failed call", func(ctx SpecContext) {
		failure := &llm.Error{Kind: llm.Truncated, Usage: &llm.Usage{Output: 9}, Retries: []llm.Retry{{Kind: llm.Timeout}}}
		_, err := c.Wrap(answering(clk, 0, llm.Reply{}, failure)).Complete(ctx, llm.Request{})
		Expect(err).To(HaveOccurred())
		call := c.Finish(record.End{}, record.Script{}, nil).Calls[0]
		Expect(call.Usage.Output).To(Equal(9))
		Expect(call.Retries).To(HaveLen(1))
	})

	It("records a cancelled call, and one that never returned", func(ctx SpecContext) {
		cancelled, cancel := context.WithCancelCause(ctx)
		cancel(errors.New("user pressed Ctrl-C"))
		_, err := c.Wrap(answering(clk, time.Second, llm.Reply{}, nil)).Complete(cancelled, llm.Request{})
		Expect(err).To(HaveOccurred())

		entered, release, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
		hanging := c.Wrap(llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) {
			close(entered)
			<-release
			return llm.Reply{Text: "late"}, nil
		}))
		go func() {
			defer close(left)
			_, _ = hanging.Complete(ctx, llm.Request{})
		}()
		<-entered
		trial := c.Finish(record.End{}, record.Script{}, nil)
		close(release)
		<-left
		c.Emit(event.Event{Kind: event.End})
		Expect(trial.Calls[0].Error).To(Equal(&record.CallError{Kind: record.Cancelled, Message: "user pressed Ctrl-C"}))
		Expect(trial.Calls[1].Error.Kind).To(Equal(record.Cancelled))
		Expect(trial.Calls[1].Error.Message).To(ContainSubstring("had not returned"))
		Expect(trial.Messages).To(BeEmpty())
		Expect(trial.Events).To(BeEmpty())
	})

	It("does not store times in a trial in real time", func(ctx SpecContext) {
		c = record.NewCollector(record.CollectorOptions{
			Head: record.TrialHead{Scenario: "s", N: 2}, Clock: clk, RealTime: true,
		})
		Expect(clk.Sleep(ctx, time.Second)).To(Succeed())
		_, err := c.Wrap(answering(clk, 3*time.Second, llm.Reply{}, nil)).Complete(ctx, llm.Request{})
		Expect(err).NotTo(HaveOccurred())
		c.Emit(event.Event{Kind: event.End})
		encoded, err := record.Encode(c.Finish(record.End{Duration: time.Hour}, record.Script{}, nil))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(encoded)).NotTo(ContainSubstring("_ns"))
		Expect(c.Timings()).To(Equal([]record.Timing{
			{Scenario: "s", Trial: 2, Call: 1, Latency: 3 * time.Second},
			{Scenario: "s", Trial: 2, Call: 0, Latency: 4 * time.Second},
		}))
	})

	It("redacts secrets in every field", func(ctx SpecContext) {
		for kind, secret := range secrets {
			c = record.NewCollector(record.CollectorOptions{Clock: clk, Redactor: redact.New([]string{secrets["secret"]})})
			var (
				req    llm.Request
				reply  llm.Reply
				failed = &llm.Error{}
				e      event.Event
				end    record.End
				script record.Script
			)
			req.OnText = nil
			for _, v := range []any{&req.Purpose, &req.Tags, &req.Model, &req.Messages, &reply.Text, &reply.ToolCalls, &reply.Model, &reply.Finish, &failed.Message, &e, &end, &script} {
				full(reflect.ValueOf(v).Elem(), "before "+secret+" after")
			}
			for _, err := range []error{nil, failed, errors.New("x " + secret)} {
				_, _ = c.Wrap(answering(clk, 0, reply, err)).Complete(ctx, req)
			}
			e.Attrs["more"] = []string{secret}
			c.Emit(e)
			encoded, err := record.Encode(c.Finish(end, script, []record.Exchange{{Problem: secret}}))
			Expect(err).NotTo(HaveOccurred())
			inJSON, err := json.Marshal(secret)
			Expect(err).NotTo(HaveOccurred())
			Expect(string(encoded)).NotTo(ContainSubstring(strings.Trim(string(inJSON), `"`)), kind)
			Expect(string(encoded)).To(ContainSubstring("[REDACTED:" + kind + "]"))
		}
	})

	It("truncates a long text with a note, after redacting it", func(ctx SpecContext) {
		// The secret straddles the limit: truncating first would leave half of it.
		long := strings.Repeat("é", (1<<20)/2-5) + secrets["api-key"] + strings.Repeat(".", 100)
		_, err := c.Wrap(answering(clk, 0, llm.Reply{Text: long}, nil)).Complete(ctx, llm.Request{})
		Expect(err).NotTo(HaveOccurred())
		text := c.Finish(record.End{}, record.Script{}, nil).Messages[0].Content
		Expect(len(text)).To(BeNumerically("<", 1<<20+200))
		Expect(text).To(MatchRegexp(`\n\[CUT: 10486\d\d bytes in all, SHA-256 [0-9a-f]{64}\]$`))
		Expect(text).NotTo(ContainSubstring("sk-"))
	})

	It("stores attributes that JSON cannot represent as text", func() {
		c.Emit(event.Event{Attrs: map[string]any{
			"nan": math.NaN(), "inf": math.Inf(1), "half": 0.5, "yes": true, "n": int64(3), "d": time.Second, "nil": nil, "names": []any{"a"}, "mixed": []any{1},
		}})
		trial := c.Finish(record.End{}, record.Script{}, nil)
		Expect(trial.Events[0].Attrs).To(Equal(map[string]any{
			"nan": "NaN", "inf": "+Inf", "half": 0.5, "yes": true, "n": int64(3), "d": "1s", "nil": "<nil>", "names": []any{"a"}, "mixed": "[1]",
		}))
		_, err := record.Encode(trial)
		Expect(err).NotTo(HaveOccurred())
	})

	It("can be used from many goroutines", func(ctx SpecContext) {
		b := c.Wrap(answering(clk, 0, llm.Reply{Text: "same"}, nil))
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				_, _ = b.Complete(ctx, llm.Request{Messages: []llm.Message{user("same"), user(fmt.Sprint(i % 4))}})
				c.Emit(event.Event{N: i})
			})
		}
		wg.Wait()
		trial := c.Finish(record.End{}, record.Script{}, nil)
		Expect(trial.Calls).To(HaveLen(20))
		Expect(trial.Events).To(HaveLen(20))
		Expect(trial.Messages).To(HaveLen(6)) // "same" by the user, four numbers, "same" by the assistant
	})
})
