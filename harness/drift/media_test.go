package drift_test

import (
	"context"
	"encoding/base64"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/drift"
	"github.com/rehearse-dev/rehearse/mocks/tape"
)

// mediaTaped returns an exchange of a protocol for media.
func mediaTaped(protocol, path, request string, a answer) tape.Exchange {
	x := tape.Exchange{N: 1, Protocol: protocol, Path: path, Status: a.status, ContentType: a.kind, Body: []byte(a.body), At: clock.Epoch}
	if request[0] == '{' {
		x.Request = []byte(request)
	} else {
		x.Form = []byte(request)
	}
	return x
}

var _ = Describe("drift of images, speech and transcriptions", Label("H-02"), func() {
	image := func(bytes, members string) answer {
		return answer{200, "application/json", `{"created":1,"data":[{"b64_json":"` + base64.StdEncoding.EncodeToString([]byte(bytes)) + `"}]` + members + `}`}
	}
	const png, gif = "\x89PNG\r\n\x1a\n", "GIF89a"

	DescribeTable("is found", func(protocol, path, request string, before, now answer, want ...string) {
		Expect(run(context.Background(), tapeOf(mediaTaped(protocol, path, request, before)), now)).To(HaveExactElements(want))
	},
		Entry("another picture", "openai-images", "/images/generations", `{"prompt":"a"}`, image(png+"1", ""), image(png+"234", ""), "info media: 9 bytes -> 11 bytes"),
		Entry("another kind of picture", "openai-images", "/images/generations", `{"prompt":"a"}`, image(png, ""), image(gif, ""),
			"error media type: image/png -> image/gif", "info media: 8 bytes -> 6 bytes"),
		Entry("a new member", "openai-images", "/images/generations", `{"prompt":"a"}`, image(png, ""), image(png, `,"size":"1x1"`), "warn document: size:  -> new: text"),
		Entry("another content type of speech", "openai-speech", "/audio/speech", `{"model":"m","input":"a","voice":"v"}`,
			answer{200, "audio/mpeg", "\xff\xf3\x84"}, answer{200, "audio/wav", "RIFF"}, "error content type: audio/mpeg -> audio/wav"),
		Entry("no speech", "openai-speech", "/audio/speech", `{"model":"m","input":"a","voice":"v"}`,
			answer{200, "audio/mpeg", "\xff\xf3\x84"}, answer{200, "audio/mpeg", ""}, "error answer: whole -> the answer is empty"),
	)

	It("repeats a multipart request as it was sent", func() {
		const form = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\nRIFF\xff\r\n--x\r\n" +
			"Content-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n--x--\r\n"
		text := answer{200, "application/json", `{"text":"hi"}`}
		b := &backend{answers: []answer{{200, "application/json", `{"text":"hello"}`}}}
		result, err := drift.Run(context.Background(), tapeOf(mediaTaped("openai-transcriptions", "/audio/transcriptions", form, text)),
			drift.Options{Upstream: "https://api.example.com", Transport: b})
		Expect(err).NotTo(HaveOccurred())
		Expect(b.bodies).To(HaveExactElements(form))
		Expect(b.asked[0].URL.Path).To(Equal("/v1/audio/transcriptions"))
		Expect(b.asked[0].Header.Get("Content-Type")).To(Equal("multipart/form-data; boundary=x"))
		Expect(result.Exchanges[0].Differences).To(HaveExactElements(HaveField("Where", "text")))
	})
})
