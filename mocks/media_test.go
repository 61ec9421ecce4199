package mocks_test

import (
	"context"
	"encoding/base64"
	"io"
	"strings"
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	openai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
)

// openaiClient returns a client of another project for the rig.
func (r *rig) openaiClient() *openai.Client {
	c := openai.DefaultConfig("test")
	c.BaseURL, c.HTTPClient = r.base, r.client
	return openai.NewClientWithConfig(c)
}

const tinyGIF = "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="

var _ = Describe("images, speech and transcriptions", Label("H-02"), func() {
	ctx := context.Background()
	image := func(r *rig, prompt string, n int) ([]string, error) {
		got, err := r.openaiClient().CreateImage(ctx, openai.ImageRequest{Prompt: prompt, N: n, ResponseFormat: "b64_json"})
		var all []string
		for _, d := range got.Data {
			all = append(all, d.B64JSON)
		}
		return all, err
	}
	speak := func(r *rig, text string) (string, error) {
		stream, err := r.openaiClient().CreateSpeech(ctx, openai.CreateSpeechRequest{Model: "tts-1", Input: text, Voice: "alloy", ResponseFormat: "wav"})
		if err != nil {
			return "", err
		}
		defer stream.Close()
		data, err := io.ReadAll(stream)
		return string(data), err
	}
	transcribe := func(r *rig, sound string, format openai.AudioResponseFormat) (string, error) {
		got, err := r.openaiClient().CreateTranscription(ctx, openai.AudioRequest{
			Model: "whisper-1", FilePath: "a.wav", Reader: strings.NewReader(sound), Format: format,
		})
		return got.Text, err
	}

	for name, transport := range ways {
		It(name+": are answered by the lines for their kind", func() {
			r := transport(compile("rules:\n- {when: {user: a cat}, media: {base64: "+tinyGIF+"}}\n- {media: {generated: true}, when: {user: hello}}\n"+
				"- {text: Hello there, when: {attachment: audio audio/}}\n- {text: chat}"), mocks.EngineOptions{})
			Expect(image(r, "a cat", 2)).To(Equal([]string{tinyGIF, tinyGIF}))
			Expect(speak(r, "hello")).To(HavePrefix("RIFF"))
			Expect(transcribe(r, "RIFF", openai.AudioResponseFormatJSON)).To(Equal("Hello there"))
			Expect(r.ask("a cat").text()).To(Equal("chat"))
			r.settle()
			report := r.engine.Report()
			Expect(report.Unexpected).To(BeEmpty())
			Expect(report.Unused).To(BeEmpty())
			Expect(report.Calls).To(Equal(4))
		})

		It(name+": have the faults of any line, and the retry gets the answer", func() {
			r := transport(compile("replies:\n- {media: {generated: true}, fault: {kind: status, status: 503}}\n- {media: {generated: true}, fault: truncated-stream}\n"+
				"- {text: hi, fault: malformed-json}"), mocks.EngineOptions{})
			_, err := image(r, "x", 1)
			Expect(err).To(MatchError(ContainSubstring("503")))
			Expect(image(r, "x", 1)).To(HaveLen(1))
			_, err = speak(r, "x")
			Expect(err).To(MatchError(io.ErrUnexpectedEOF))
			Expect(speak(r, "x")).To(HaveLen(4844))
			_, err = transcribe(r, "x", "")
			Expect(err).To(HaveOccurred())
			Expect(transcribe(r, "x", "")).To(Equal("hi"))
			r.settle()
			report := r.engine.Report()
			Expect(report.Unfired).To(BeEmpty())
			Expect(report.Unused).To(BeEmpty())
		})
	}

	It("are transcribed in every form", func() {
		r := inProcess(compile("rules: [{text: Hello there}]"), mocks.EngineOptions{})
		for _, format := range []openai.AudioResponseFormat{"", "json", "text", "verbose_json"} {
			got, err := transcribe(r, "x", format)
			Expect(err).NotTo(HaveOccurred())
			Expect(strings.TrimSpace(got)).To(Equal("Hello there"), string(format))
		}
		Expect(transcribe(r, "x", "vtt")).To(ContainSubstring("00:00:00.000 --> 00:00:00.800\nHello there"))
	})

	DescribeTable("are unexpected where the script has another kind", func(script, call, problem string) {
		r := inProcess(compile(script), mocks.EngineOptions{})
		var err error
		switch call {
		case "image":
			_, err = image(r, "x", 1)
		case "speech":
			_, err = speak(r, "x")
		default:
			err = errorIf(r.ask("x").Status)
		}
		Expect(err).To(HaveOccurred())
		Expect(r.engine.Report().Unexpected).To(HaveExactElements(ContainSubstring(problem)))
	},
		Entry("an image for a text", "replies: [{text: hi}]", "image", `media: expected "text", got "image"`),
		Entry("a text for an image", "replies: [{media: {generated: true}}]", "chat", `media: expected "image or audio", got "text"`),
		Entry("speech for an image", "replies: [{media: {base64: "+tinyGIF+"}}]", "speech", `media: expected "image", got "audio"`),
		Entry("in rules", "rules: [{text: hi}]", "image", `media: expected "text", got "image"`),
		Entry("of choices", "rules: [{one_of: [{fault: timeout, chance: 0.1}, {media: {generated: true}}]}]", "chat", `media: expected "image or audio"`),
	)

	It("are unexpected in a form that cannot be generated", func() {
		r := inProcess(compile("replies: [{media: {generated: true}}]"), mocks.EngineOptions{})
		_, err := r.openaiClient().CreateSpeech(ctx, openai.CreateSpeechRequest{Model: "tts-1", Input: "x", Voice: "alloy", ResponseFormat: "opus"})
		Expect(err).To(HaveOccurred())
		Expect(r.engine.Report().Unexpected).To(HaveExactElements(ContainSubstring("replies[0].media: the request asks for opus")))
	})

	It("are recorded as a description, with usage of the text alone", func() {
		o := &observed{}
		r := inProcess(compile("{model: gpt-4.1-mini, replies: [{media: {base64: "+tinyGIF+"}}]}"), mocks.EngineOptions{Observer: o, Count: func(_, text string) int { return len(text) }})
		Expect(image(r, "a cat", 1)).To(HaveLen(1))
		Expect(o.protocol).To(Equal("openai-images"))
		Expect(o.request.Messages).To(HaveExactElements(HaveField("Content", "a cat")))
		Expect(o.reply.Text).To(HavePrefix("image image/gif 37 bytes sha256:"))
		Expect(o.reply.Model).To(Equal("dall-e-2"), "which has no price, unlike the script's")
		Expect(*o.reply.Usage).To(Equal(llm.Usage{Input: 5, Source: llm.UsageTextOnly}))
	})

	It("read a file beside the script", func() {
		s, err := parse("replies: [{media: {file: a.gif}}]")
		Expect(err).NotTo(HaveOccurred())
		_, err = mocks.Compile(s)
		Expect(err).To(MatchError(ContainSubstring("call Script.Load")))
		Expect(s.Load(fstest.MapFS{})).To(MatchError(ContainSubstring("replies[0].media.file: ")))
		data, err := base64.StdEncoding.DecodeString(tinyGIF)
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Load(fstest.MapFS{"a.gif": {Data: data}})).To(Succeed())
		p, err := mocks.Compile(s)
		Expect(err).NotTo(HaveOccurred())
		Expect(image(inProcess(p, mocks.EngineOptions{}), "x", 1)).To(Equal([]string{tinyGIF}))
	})

	DescribeTable("are validated", func(script, want string) {
		s, err := parse(script)
		Expect(err).NotTo(HaveOccurred())
		problems := s.Validate()
		Expect(problems).To(HaveLen(1))
		Expect(problems[0].String()).To(ContainSubstring(want))
	},
		Entry("nothing", "replies: [{media: {}}]", "replies[0].media: give exactly one"),
		Entry("two", "replies: [{media: {generated: true, file: a.png}}]", "not 2"),
		Entry("a path that leaves the folder", "replies: [{media: {file: ../a.png}}]", "replies[0].media.file: "),
		Entry("bytes that are not base64", "replies: [{media: {base64: '%'}}]", "replies[0].media.base64: must be base64"),
		Entry("with a refusal", "replies: [{media: {generated: true}, refusal: no}]", "cannot have refusal"),
		Entry("choices of two kinds", "rules: [{one_of: [{text: a, chance: 0.5}, {media: {generated: true}}]}]", "one kind of call"),
	)
})

// errorIf returns an error for the status of an error.
func errorIf(status int) error {
	if status < 400 {
		return nil
	}
	return io.ErrUnexpectedEOF
}

// observed is an Observer of the last call.
type observed struct {
	protocol string
	request  llm.Request
	reply    llm.Reply
}

func (o *observed) Begin(protocol string, request llm.Request) (func(llm.Reply, error), error) {
	o.protocol, o.request = protocol, request
	return func(r llm.Reply, _ error) { o.reply = r }, nil
}
