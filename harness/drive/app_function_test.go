package drive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind/function"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// post sends a request to the model and returns the response's body.
func post(ctx context.Context, site app.Site, path string, body any) (string, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, site.Backend+path, bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := site.Client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, text)
	}
	return string(text), err
}

// chat asks the model for a chat completion.
func chat(ctx context.Context, site app.Site, text string) (string, error) {
	answer, err := post(ctx, site, "/v1/chat/completions", map[string]any{
		"model": "gpt-4.1-mini", "messages": []any{map[string]string{"role": "user", "content": text}},
	})
	var reply struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err != nil || json.Unmarshal([]byte(answer), &reply) != nil {
		return "", err
	}
	return reply.Choices[0].Message.Content, nil
}

// talk runs a trial of a scenario that drives a function.
func talk(ctx context.Context, text string, maker app.Maker) record.Trial {
	GinkgoHelper()
	t, _ := talkDriver(newEnv(), text, maker).Trial(ctx, 1)
	return t
}

// talkDriver returns the driver of a scenario that drives a function.
func talkDriver(env *drive.Env, text string, maker app.Maker) drive.Driver {
	GinkgoHelper()
	sc, found := scenarios.Parse("spec.yaml", []byte(text), nil, scenarios.Options{Kinds: kinds.All().Formats()})
	Expect(found).To(BeEmpty())
	env.Makers["function"] = function.Kind(map[string]app.Maker{sc.Drive.Options.(*function.Options).Name: maker}).New
	d, err := drive.New(sc, env)
	Expect(err).NotTo(HaveOccurred())
	return d
}

var _ = Describe("A Go function", func() {
	const one = `
name: spec/function
drive: {function: {name: f, turns: [What is it?], timeout: 30s}}
backend: {model: gpt-4.1-mini, replies: [{text: It is this., latency: 10s}]}
expect: {status: done}
`
	const quick = `
name: spec/function
drive: {function: {name: f, turns: [What is it?], timeout: 50ms}}
backend: {model: gpt-4.1-mini, replies: [{text: It is this.}]}
expect: {status: done}
`
	run := func(text string, f app.Function) record.Trial {
		GinkgoHelper()
		return talk(context.Background(), text, func(site app.Site) func(context.Context, string) (string, error) {
			return func(ctx context.Context, text string) (string, error) { return f(ctx, site, text) }
		})
	}

	It("is refused calls beyond its limit, of which the first is recorded", func() {
		t := run(strings.Replace(one, "timeout: 30s", "timeout: 30s, max_calls: 1", 1), func(ctx context.Context, site app.Site, text string) (string, error) {
			for range 3 { // ctx ends at the first refusal
				_, _ = chat(context.WithoutCancel(ctx), site, text)
			}
			return chat(context.WithoutCancel(ctx), site, text)
		})
		Expect(t.Exchanges).To(HaveExactElements(
			And(HaveField("Line", "replies[0]"), HaveField("Refused", false)),
			And(HaveField("Problem", HavePrefix("refused: ")), HaveField("Refused", true))))
	})

	DescribeTable("reaches its model by all three protocols, in virtual time",
		func(path, protocol string, body map[string]any) {
			body["model"] = "gpt-4.1-mini"
			t := run(one, func(ctx context.Context, site app.Site, _ string) (string, error) {
				return post(ctx, site, path, body)
			})
			Expect(t.End.Status).To(Equal("done"), t.End.Details)
			Expect(t.End.Text).To(ContainSubstring("It is this."))
			Expect(t.End.Duration).To(Equal(10 * time.Second))
			Expect(t.Calls).To(HaveLen(1))
			Expect(t.Calls[0].Backend).To(Equal(protocol))
			Expect(t.Calls[0].Latency).To(Equal(10 * time.Second))
		},
		Entry("OpenAI's chat completions", "/v1/chat/completions", "openai-chat",
			map[string]any{"messages": []any{map[string]string{"role": "user", "content": "What is it?"}}}),
		Entry("OpenAI's responses", "/v1/responses", "openai-responses", map[string]any{"input": "What is it?"}),
		Entry("Anthropic's messages", "/v1/messages", "anthropic-messages",
			map[string]any{"max_tokens": 100, "messages": []any{map[string]string{"role": "user", "content": "What is it?"}}}),
	)

	It("reaches the same model over a real socket, if the scenario asks for it", func() {
		text := strings.NewReplacer("backend: {", "backend: {as: socket, ", "10s", "1ms").Replace(one)
		t := run(text, func(ctx context.Context, site app.Site, text string) (string, error) {
			Expect(site.Backend).To(MatchRegexp(`^http://127\.0\.0\.1:\d+/`))
			return chat(ctx, site, text)
		})
		Expect(t.End.Status).To(Equal("done"), t.End.Details+t.End.HarnessError)
		Expect(t.Calls).To(HaveLen(1))
	})

	for as, how := range map[string]string{"openai": "in virtual time", "socket": "over a real socket"} {
		It("that ignores Retry-After is recorded as too early, "+how, func() {
			text := strings.Replace(one, "backend: {model: gpt-4.1-mini, replies: [{text: It is this., latency: 10s}]}", "backend: {as: "+as+
				", model: gpt-4.1-mini, replies: [{text: It is this., fault: {kind: status, status: 429, retry_after: 1h, times: 2}}]}", 1)
			t := run(text, func(ctx context.Context, site app.Site, text string) (answer string, err error) {
				for range 3 {
					if answer, err = chat(ctx, site, text); err == nil {
						break
					}
				}
				return answer, err
			})
			Expect(t.End.Text).To(Equal("It is this."))
			Expect(t.Exchanges).To(HaveExactElements(HaveField("Early", false), HaveField("Early", true), HaveField("Early", true)))
		})
	}

	It("is recorded with its requests about files and batches, if the script has faults for them", func() {
		text := strings.Replace(one, "backend: {", "backend: {storage: [{request: POST /v1/batches, fault: {kind: status, status: 429, retry_after: 1h}}], ", 1)
		t := run(text, func(ctx context.Context, site app.Site, text string) (string, error) {
			for range 2 {
				_, _ = post(ctx, site, "/v1/batches", map[string]any{"input_file_id": "f"})
			}
			return chat(ctx, site, text)
		})
		Expect(t.Script.Storage).To(HaveExactElements(
			record.StorageRequest{Request: "POST /v1/batches", Status: 429, Line: "storage[0]", Fault: "status", Fired: true},
			record.StorageRequest{Request: "POST /v1/batches", Status: 400, Early: true},
		))
		Expect(t.Exchanges).To(HaveLen(1))
	})

	It("that panics has crashed, and the reported position has no path of this machine", func() {
		t := run(one, func(ctx context.Context, site app.Site, text string) (string, error) {
			_, _ = chat(ctx, site, text)
			return text[len(text)+1:], nil
		})
		Expect(t.End.Status).To(Equal("crashed"))
		Expect(t.End.Details).To(MatchRegexp(`^the function panicked in drive_test\.\S+ \(app_function_test\.go:\d+\): runtime error: slice bounds out of range`))
	})

	It("that ends its goroutine has crashed", func() {
		t := run(one, func(ctx context.Context, site app.Site, text string) (string, error) {
			_, _ = chat(ctx, site, text)
			runtime.Goexit()
			return "", nil
		})
		Expect(t.End.Status).To(Equal("crashed"))
		Expect(t.End.Details).To(ContainSubstring("runtime.Goexit"))
	})

	It("whose answer comes after the timeout has timed out", func() {
		t := run(strings.Replace(one, "10s", "40s", 1), func(ctx context.Context, site app.Site, text string) (string, error) {
			_, _ = chat(ctx, site, text)
			return "never mind", nil
		})
		Expect(t.End.Status).To(Equal("timeout"))
		Expect(t.End.Duration).To(Equal(30 * time.Second))
	})

	It("that waits for something outside the trial's clock times out in real time", func() {
		t := run(quick, func(ctx context.Context, site app.Site, text string) (string, error) {
			_, _ = chat(ctx, site, text)
			<-ctx.Done()
			return "", ctx.Err()
		})
		Expect(t.End.Status).To(Equal("timeout"), t.End.HarnessError)
		Expect(t.End.Details).To(ContainSubstring("waits for something that is not on the trial's clock"))
	})

	It("that does not return when its context ends is abandoned, and the trial is an error", func() {
		release := make(chan struct{})
		t := run(quick, func(ctx context.Context, site app.Site, text string) (string, error) {
			_, _ = chat(ctx, site, text)
			<-release
			return "", nil
		})
		close(release)
		Expect(t.End.HarnessError).To(ContainSubstring("did not return within 2s after its context had ended, and still runs"))
	})

	It("has a workspace, whose files are recorded", func() {
		t := run(strings.Replace(one, "timeout: 30s", "files: {notes/a.txt: hello}", 1), func(ctx context.Context, site app.Site, text string) (string, error) {
			Expect(site.Folder + "/notes/a.txt").To(BeAnExistingFile())
			return chat(ctx, site, text)
		})
		Expect(t.Events).To(ContainElement(HaveField("Detail", "hello")))
	})

	DescribeTable("is rejected", func(maker app.Maker, message string) {
		t := talk(context.Background(), one, maker)
		Expect(t.End.HarnessError + t.End.Details).To(ContainSubstring(message))
		Expect(t.End.Status).NotTo(Equal("done"))
	},
		Entry("if the maker returns nil", func(app.Site) func(context.Context, string) (string, error) { return nil }, "it returned nil"),
		Entry("if the maker panics", func(app.Site) func(context.Context, string) (string, error) { panic("no") }, "the function's maker panicked in drive_test."),
	)

	It("is skipped by a program without functions, and is an error if it is required", func() {
		sc, found := scenarios.Parse("spec.yaml", []byte(one), nil, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		env := newEnv()
		d, err := drive.New(sc, env)
		Expect(err).NotTo(HaveOccurred())
		t, _ := d.Trial(context.Background(), 1)
		Expect(t.End.Skipped).To(ContainSubstring(`the Go function "f"`))
		env.Required = true
		t, _ = d.Trial(context.Background(), 1)
		Expect(t.End.HarnessError).To(ContainSubstring(`the Go function "f"`))
	})
})
