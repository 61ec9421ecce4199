package mocks_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing/fstest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/tape"
)

const (
	capturedStream = ": hello\n\n" + `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"Seen."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n"
	streamRequest  = `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`
)

// taped is a folder with a tape of one captured stream, an error and a lost answer.
func taped() fstest.MapFS {
	GinkgoHelper()
	file, err := tape.AppendHeader(nil, tape.Header{Date: clock.Epoch, Upstream: "api.example.com"})
	Expect(err).NotTo(HaveOccurred())
	stream := tape.Exchange{
		N: 1, Protocol: "openai-chat", Status: 200, ContentType: "text/event-stream; charset=utf-8", Body: []byte(capturedStream),
		Frames: []tape.Frame{{Gap: time.Second, Bytes: 4}, {Gap: 2 * time.Second, Bytes: 0}, {Gap: 3 * time.Second, Bytes: len(capturedStream) - 4}},
	}
	for _, x := range []tape.Exchange{
		stream,
		{N: 2, Protocol: "openai-chat", Lost: "cut"},
		{N: 3, Protocol: "openai-chat", Status: 429, Body: []byte("{}")},
		{N: 4, Protocol: "openai-chat", Status: 200, Body: []byte("{}")},
		{N: 5, Protocol: "other", Status: 200, Body: []byte("{}"), Frames: []tape.Frame{{Bytes: 2}}},
		{N: 6, Protocol: "openai-chat", Status: 200, Body: []byte("{}"), Frames: []tape.Frame{{Bytes: 2}}},
	} {
		file, err = tape.AppendExchange(file, x)
		Expect(err).NotTo(HaveOccurred())
	}
	return fstest.MapFS{"t/x.jsonl": {Data: file}, "bad.jsonl": {Data: []byte("no tape\n")}, "folder.jsonl/x": {}}
}

func withFrames(exchange string) mocks.Script {
	GinkgoHelper()
	script, err := parse("rules: [{frames: {file: t/x.jsonl, exchange: " + exchange + "}}]")
	Expect(err).NotTo(HaveOccurred())
	return script
}

var _ = Describe("a captured answer", Label("H-02"), func() {
	It("goes out byte for byte, in its pieces and with its gaps, and its text is recorded", func(ctx context.Context) {
		script := withFrames("1")
		Expect(script.LoadFrames(taped())).To(BeEmpty())
		program, err := mocks.Compile(script)
		Expect(err).NotTo(HaveOccurred())
		for _, rig := range []*rig{inProcess(program, mocks.EngineOptions{}), overSocket(program, mocks.EngineOptions{})} {
			began := rig.clock.Elapsed()
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, rig.base+"/chat/completions", strings.NewReader(streamRequest))
			Expect(err).NotTo(HaveOccurred())
			response, err := rig.client.Do(request)
			Expect(err).NotTo(HaveOccurred())
			body, err := io.ReadAll(response.Body)
			Expect(err).NotTo(HaveOccurred())
			Expect(response.Body.Close()).To(Succeed())
			Expect(string(body)).To(Equal(capturedStream))
			Expect(response.Header.Get("Content-Type")).To(Equal("text/event-stream; charset=utf-8"))
			Expect(rig.clock.Elapsed() - began).To(Equal(6 * time.Second))
			rig.settle()
			x := rig.engine.Report().Exchanges[0]
			Expect(x.Delivered).To(BeTrue())
			Expect(x.Frames).To(Equal(3))
			Expect(x.Usage.Input).To(Equal(3))
		}
	})

	DescribeTable("refuses calls of another kind",
		func(ctx context.Context, path, body, why string) {
			script := withFrames("1")
			Expect(script.LoadFrames(taped())).To(BeEmpty())
			program, err := mocks.Compile(script)
			Expect(err).NotTo(HaveOccurred())
			rig := inProcess(program, mocks.EngineOptions{})
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, rig.base+path, strings.NewReader(body))
			Expect(err).NotTo(HaveOccurred())
			request.Header.Set("Anthropic-Version", "2023-06-01")
			response, err := rig.client.Do(request)
			Expect(err).NotTo(HaveOccurred())
			defer response.Body.Close()
			Expect(response.StatusCode).To(BeNumerically(">=", 400))
			report := rig.engine.Report()
			Expect(report.Unexpected).To(ConsistOf(ContainSubstring("rules[0].frames: " + why)))
		},
		Entry("not streamed", "/chat/completions", strings.Replace(streamRequest, "true", "false", 1), "the captured answer is a stream, but the call asks for one document"),
		Entry("another protocol", "/messages", strings.Replace(streamRequest, "{", `{"max_tokens":9,`, 1), "the answer was captured from openai-chat, but the call uses anthropic-messages"),
	)

	DescribeTable("is refused if it is missing or not usable",
		func(file, exchange, want string) {
			script := withFrames(exchange)
			script.Rules[0].Frames.File = file
			problems := script.LoadFrames(taped())
			Expect(problems).To(HaveLen(1))
			Expect(problems[0].String()).To(ContainSubstring(want))
		},
		Entry("no file", "none.jsonl", "1", "rules[0].frames.file: read the captured answers: "),
		Entry("outside", "../x.jsonl", "1", "stays in the script's folder"),
		Entry("a folder", "folder.jsonl", "1", "is not a regular file"),
		Entry("no tape", "bad.jsonl", "1", "line 1: not a line of a capture"),
		Entry("no exchange", "t/x.jsonl", "9", `rules[0].frames.exchange: the tape "t/x.jsonl" has no exchange 9`),
		Entry("lost", "t/x.jsonl", "2", "has no answer: cut"),
		Entry("an error", "t/x.jsonl", "3", "has the status 429; write a fault instead"),
		Entry("no frames", "t/x.jsonl", "4", "has no frames; capture it with --frames"),
	)

	DescribeTable("is not compiled if it cannot be read",
		func(exchange string, load bool, want string) {
			script := withFrames(exchange)
			if load {
				Expect(script.LoadFrames(taped())).To(BeEmpty())
			}
			_, err := mocks.Compile(script)
			Expect(err).To(MatchError(ContainSubstring(want)))
		},
		Entry("not loaded", "1", false, "call Script.LoadFrames first"),
		Entry("another protocol", "5", true, `has the unknown protocol "other"`),
		Entry("no answer", "6", true, `exchange 6 of "t/x.jsonl": the answer is empty`),
	)

	It("excludes all other parts of an answer", func() {
		script, err := parse(`
rules:
  - frames: {file: ../t, exchange: 0}
    text: x
    thinking: x
    refusal: x
    finish: stop
    usage: {input: 1, output: 1}
    latency: 1s
    tool_calls: [{name: f}]
    fault: empty-text
`)
		Expect(err).NotTo(HaveOccurred())
		var problems []string
		for _, p := range script.Validate() {
			problems = append(problems, p.String())
		}
		for _, key := range []string{"tool_calls", "thinking", "refusal", "finish", "usage", "latency", "fault"} {
			Expect(problems).To(ContainElement("rules[0]." + key + ": a captured answer (frames) is sent unchanged; remove " + key + " or frames"))
		}
		Expect(problems).To(ContainElements("rules[0].frames.exchange: must be at least 1, not 0",
			ContainSubstring(`rules[0].frames.file: "../t" must be a relative path`), ContainSubstring("at most one of text, file, template and frames, not text and frames")))
	})
})
