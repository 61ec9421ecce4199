package capture_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// sound is a request for a transcription, with bytes that are not UTF-8 and a prompt that may have a secret.
func sound(prompt string) string {
	return "--frontier\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\nContent-Type: audio/wav\r\n\r\nRIFF\xff\xfe\r\n" +
		"--frontier\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n" +
		"--frontier\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\n" + prompt + "\r\n--frontier--\r\n"
}

var _ = Describe("captured images, speech and transcriptions", Label("H-02"), func() {
	long := base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte("\xff\x00"), 20_000)...))
	upstream := "rules:\n- {when: {user: small}, media: {generated: true}, usage: {input: 3, output: 5}}\n- {when: {user: long}, media: {base64: " + long + "}}\n" +
		"- {when: {user: hello}, media: {generated: true}}\n- {text: 'Heard " + apiKey + ".'}"
	requests := []struct{ path, body string }{
		{"/v1/images/generations", `{"model":"gpt-image-1","prompt":"small"}`},
		{"/v1/images/generations", `{"model":"gpt-image-1","prompt":"small","n":2}`},
		{"/v1/images/generations", `{"model":"gpt-image-1","prompt":"long","stream":true}`},
		{"/v1/audio/speech", `{"model":"tts-1","input":"hello ` + ghKey + `","voice":"alloy"}`},
		{"/v1/audio/transcriptions", sound("from " + ghKey)},
	}
	ask := func(r *rig, root string) (answers []string) {
		GinkgoHelper()
		for _, q := range requests {
			status, body := r.ask(context.Background(), root, q.path, q.body)
			Expect(status).To(Equal(http.StatusOK), body)
			answers = append(answers, body)
		}
		return answers
	}

	for _, frames := range []bool{false, true} {
		It("are recorded without secrets and replay", func() {
			handler, _ := scripted(parse(upstream))
			r := capturing(handler, capture.Options{Frames: frames})
			live := ask(r, r.url)
			t := r.tape(5)
			for _, x := range t.Exchanges {
				Expect(x.Lost).To(BeEmpty())
				Expect(string(x.Sent()) + string(x.Body)).NotTo(Or(ContainSubstring(ghKey), ContainSubstring(apiKey)))
			}
			Expect(string(t.Exchanges[3].Body)).To(Equal(live[3]), "bytes are kept as they are")
			Expect(string(t.Exchanges[4].Form)).To(And(ContainSubstring("RIFF\xff\xfe"), ContainSubstring("from [REDACTED:")))

			o := capture.ScriptOptions{Media: "x.capture.jsonl"}
			if frames {
				o.Tape = o.Media
			}
			script, skipped := capture.Script(t, o)
			Expect(skipped).To(BeEmpty())
			written, err := capture.Write(script, t, o.Media)
			Expect(err).NotTo(HaveOccurred())
			Expect(len(written)).To(BeNumerically("<", 10_000), "long media stay on the tape")
			Expect(string(written)).To(ContainSubstring("openai-images (3), openai-speech (1)"))
			if !frames {
				Expect(script.Rules[0].Media.Base64).NotTo(BeEmpty())
				Expect(script.Rules[4].When.Attachment.Matches).To(Equal("^audio "))
			}

			file, err := tape.AppendHeader(nil, t.Headers[0])
			Expect(err).NotTo(HaveOccurred())
			for _, x := range t.Exchanges {
				file, err = tape.AppendExchange(file, x)
				Expect(err).NotTo(HaveOccurred())
			}
			Expect(script.LoadFrames(folderOf(file))).To(BeEmpty())
			again, engine := scripted(script)
			replay := capturing(again, capture.Options{})
			replayed := ask(replay, replay.direct)
			for i, q := range requests {
				codec, ok := wire.ForPath(http.MethodPost, q.path)
				Expect(ok).To(BeTrue())
				stream := wire.Streamed(t.Exchanges[i].ContentType)
				want, err := codec.ReadAnswer(stream, []byte(strings.ReplaceAll(live[i], apiKey, "[REDACTED:OpenAI key]")))
				Expect(err).NotTo(HaveOccurred())
				got, err := codec.ReadAnswer(stream, []byte(replayed[i]))
				Expect(err).NotTo(HaveOccurred())
				Expect(got.Media).To(Equal(want.Media), q.path)
				Expect(got.More).To(HaveLen(len(want.More)))
			}
			Expect(replayed[4]).To(ContainSubstring("Heard [REDACTED:"))
			report := engine.Report()
			Expect(report.Unexpected).To(BeEmpty())
			Expect(report.Unused).To(BeEmpty())
		})
	}

	It("are left out without a tape, and as an address", func() {
		png := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 20_000))
		image := func(n int, data string) tape.Exchange {
			x := chat(n, `{"prompt":"a"}`, `{"created":1,"data":[`+data+`]}`)
			x.Protocol, x.Path = "openai-images", "/images/generations"
			return x
		}
		_, skipped := capture.Script(taped(image(1, `{"b64_json":"`+png+`"}`), image(2, `{"url":"https://x.example/a.png"}`)), capture.ScriptOptions{})
		Expect(skipped).To(HaveExactElements(HaveField("Why", ContainSubstring("20000 bytes")), HaveField("Why", ContainSubstring("address of an image"))))
	})
})
