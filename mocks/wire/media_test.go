package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/png"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// form returns a multipart body with fields in pairs; a name with a @ is a file.
func form(pairs ...string) []byte {
	var b bytes.Buffer
	for i := 0; i < len(pairs); i += 2 {
		name, file := strings.CutPrefix(pairs[i], "@")
		b.WriteString("--frontier\r\nContent-Disposition: form-data; name=\"" + name + `"`)
		if file {
			b.WriteString("; filename=\"a.wav\"\r\nContent-Type: audio/wav")
		}
		b.WriteString("\r\n\r\n" + pairs[i+1] + "\r\n")
	}
	return append(b.Bytes(), "--frontier--\r\n"...)
}

// mediaCase is a call of a protocol for media or a transcription.
type mediaCase struct {
	name  string
	codec wire.Reader
	body  []byte
}

func mediaCases() []mediaCase {
	return []mediaCase{
		{"image", wire.Images{}, []byte(`{"model":"gpt-image-1","prompt":"a cat","size":"1024x1536","quality":"low"}`)},
		{"image-stream", wire.Images{}, []byte(`{"model":"gpt-image-1","prompt":"a cat","stream":true,"partial_images":1}`)},
		{"image-url", wire.Images{}, []byte(`{"model":"dall-e-3","prompt":"a cat"}`)},
		{"image-edit", wire.Images{Edit: true}, form("@image[]", "RIFF", "prompt", "a cat", "model", "gpt-image-1", "stream", "true")},
		{"speech", wire.Speech{}, []byte(`{"model":"tts-1","input":"hi","voice":"alloy","response_format":"wav"}`)},
		{"speech-events", wire.Speech{}, []byte(`{"model":"gpt-4o-mini-tts","input":"hi","voice":"alloy","stream_format":"sse"}`)},
		{"transcription", wire.Transcriptions{}, form("@file", "RIFF", "model", "gpt-4o-transcribe")},
		{"transcription-stream", wire.Transcriptions{}, form("@file", "RIFF", "model", "gpt-4o-transcribe", "stream", "true")},
		{"transcription-verbose", wire.Transcriptions{}, form("@file", "RIFF", "model", "whisper-1", "response_format", "verbose_json", "timestamp_granularities[]", "word")},
		{"transcription-srt", wire.Transcriptions{}, form("@file", "RIFF", "model", "whisper-1", "response_format", "srt")},
		{"transcription-vtt", wire.Transcriptions{}, form("@file", "RIFF", "model", "whisper-1", "response_format", "vtt")},
		{"translation-text", wire.Transcriptions{Translate: true}, form("@file", "RIFF", "model", "whisper-1", "response_format", "text")},
	}
}

// decode returns the case's call, and an answer to it.
func (c mediaCase) decode() (wire.Call, wire.Completion) {
	call, err := c.codec.Decode(c.body)
	if err != nil {
		panic(err)
	}
	answer := wire.Completion{
		ID: "x-1", Model: call.Model, Created: time.Unix(1_700_000_000, 0), Text: "Grüße an die Welt",
		Usage: llm.Usage{Input: 20, Output: 100}, First: time.Second, PerToken: 10 * time.Millisecond,
	}
	if call.Output != wire.TextOutput {
		answer.Media = &wire.Media{Kind: call.Output, Data: []byte("\x89PNG\r\n\x1a\nnot a whole image")}
	}
	return call, answer
}

var _ = Describe("images, speech and transcriptions", Label("H-02"), func() {
	for _, c := range mediaCases() {
		It("have the provider's frames: "+c.name, func() {
			call, answer := c.decode()
			expectGolden("media-"+c.name, render(c.codec.Encode(call, answer)))
		})

		It("take as long as their tokens: "+c.name, func() {
			call, answer := c.decode()
			var total time.Duration
			for _, f := range c.codec.Encode(call, answer) {
				total += f.Delay
			}
			Expect(total).To(Equal(2 * time.Second))
		})

		It("are read back: "+c.name, func() {
			call, answer := c.decode()
			frames := c.codec.Encode(call, answer)
			got, err := c.codec.ReadAnswer(wire.Streamed(frames[0].Header.Get("Content-Type")), bodyOf(frames))
			Expect(err).NotTo(HaveOccurred())
			Expect(wire.Streamed(frames[0].Header.Get("Content-Type"))).To(Equal(call.Stream))
			if call.Output == wire.TextOutput {
				Expect(got.Text).To(Equal(answer.Text))
			} else {
				Expect(got.Media.Data).To(Equal(answer.Media.Data))
				Expect(got.Media.Kind).To(Equal(call.Output))
			}
			if call.IncludeUsage {
				Expect(got.Usage).To(Equal(llm.Usage{Input: 20, Output: 100, Source: llm.UsageReported}))
			} else {
				Expect(got.Usage).To(BeZero())
			}
		})

		It("are found at their path: "+c.name, func() {
			again, ok := wire.ForProtocol(c.codec.Protocol())
			Expect(ok).To(BeTrue())
			Expect(again).To(Equal(c.codec))
		})

		It("have all faults that can show: "+c.name, func() {
			call, answer := c.decode()
			unharmed := c.codec.Encode(call, answer)
			var b strings.Builder
			for _, kind := range wire.FaultKinds() {
				frames, ok := newFault(wire.FaultSpec{Kind: kind})(c.codec, call, answer)
				fmt.Fprintf(&b, "== %s: fired %t\n", kind, ok)
				if ok {
					Expect(render(frames)).NotTo(Equal(render(unharmed)), "%s fired and nothing changed", kind)
					b.WriteString(changes(unharmed, frames))
				} else {
					Expect(render(frames)).To(Equal(render(unharmed)), "%s did not fire and something changed", kind)
				}
			}
			expectGolden("faults-media-"+c.name, b.String())
		})
	}

	DescribeTable("refuse what cannot be answered",
		func(codec wire.Reader, body []byte, param, message string) {
			_, err := codec.Decode(body)
			Expect(err).To(HaveOccurred())
			Expect(err.Status).To(Equal(400))
			Expect(err.Param).To(Equal(param))
			Expect(err.Message).To(ContainSubstring(message))
		},
		Entry("no prompt", wire.Images{}, []byte(`{"model":"dall-e-3"}`), "prompt", "Missing"),
		Entry("an empty prompt", wire.Images{}, []byte(`{"prompt":""}`), "prompt", "empty"),
		Entry("too many images", wire.Images{}, []byte(`{"prompt":"a","n":11}`), "n", "1 to 10"),
		Entry("a number for a prompt", wire.Images{}, []byte(`{"prompt":7}`), "prompt", "expected a string"),
		Entry("an edit without an image", wire.Images{Edit: true}, form("prompt", "a"), "image", "Missing"),
		Entry("an edit in JSON", wire.Images{Edit: true}, []byte(`{"prompt":"a"}`), "", "multipart"),
		Entry("an edit of x images", wire.Images{Edit: true}, form("@image", "x", "prompt", "a", "n", "x"), "n", "integer"),
		Entry("no voice", wire.Speech{}, []byte(`{"model":"tts-1","input":"a"}`), "voice", "Missing"),
		Entry("nothing to speak", wire.Speech{}, []byte(`{"model":"tts-1","input":"","voice":"alloy"}`), "input", "empty"),
		Entry("no file", wire.Transcriptions{}, form("model", "whisper-1"), "file", "Missing"),
		Entry("an empty file", wire.Transcriptions{}, form("@file", "", "model", "whisper-1"), "file", "corrupted"),
		Entry("no model", wire.Transcriptions{}, form("@file", "x"), "model", "Missing"),
		Entry("words without verbose_json", wire.Transcriptions{}, form("@file", "x", "model", "whisper-1", "timestamp_granularities[]", "word"), "timestamp_granularities", "verbose_json"),
		Entry("a cut form", wire.Transcriptions{}, form("@file", "x", "model", "whisper-1")[:170], "", "multipart form"),
		Entry("no boundary", wire.Transcriptions{}, []byte("--\r\n"), "", "boundary"),
	)

	DescribeTable("follow the provider's rules, which a script can turn off",
		func(codec wire.Reader, body []byte, rule, param, message string) {
			call, err := codec.Decode(body)
			Expect(err).NotTo(HaveOccurred())
			err = wire.Rules{}.Check(codec, &call, nil, body)
			Expect(err).To(HaveOccurred())
			Expect([]any{err.Rule, err.Status, err.Param}).To(Equal([]any{rule, 400, param}))
			Expect(err.Message).To(ContainSubstring(message))
			Expect(wire.Rules{Relax: []string{rule}}.Check(codec, &call, nil, body)).To(Succeed())
			for _, model := range []string{"dall-e-2", "dall-e-3", "gpt-image-1", "tts-1", "gpt-4o-transcribe", "whisper-1"} {
				body = bytes.ReplaceAll(body, []byte(model), []byte("local"))
			}
			if call, err = codec.Decode(body); err == nil && call.Model == "local" {
				Expect(wire.Rules{}.Check(codec, &call, nil, body)).To(Succeed(), "of another service")
			}
		},
		Entry("a long prompt", wire.Images{}, []byte(`{"prompt":"`+strings.Repeat("ä", 1001)+`"}`), "ranges", "prompt", "at most 1000, but got 1001"),
		Entry("two of DALL·E 3", wire.Images{}, []byte(`{"model":"dall-e-3","prompt":"a","n":2}`), "ranges", "n", "<= 1, but got 2"),
		Entry("a size of another model", wire.Images{}, []byte(`{"model":"dall-e-2","prompt":"a","size":"1792x1024"}`), "unknown-value", "size", "256x256"),
		Entry("a URL of gpt-image-1", wire.Images{}, []byte(`{"model":"gpt-image-1","prompt":"a","response_format":"url"}`), "unknown-value", "response_format", "Unknown"),
		Entry("an unknown format", wire.Images{}, []byte(`{"model":"gpt-image-1","prompt":"a","output_format":"gif"}`), "unknown-value", "output_format", "webp"),
		Entry("a stream of DALL·E", wire.Images{}, []byte(`{"prompt":"a","stream":true}`), "unknown-value", "stream", "not supported"),
		Entry("too much to speak", wire.Speech{}, []byte(`{"model":"tts-1","input":"`+strings.Repeat("a", 4097)+`","voice":"alloy"}`), "ranges", "input", "4096"),
		Entry("too fast", wire.Speech{}, []byte(`{"model":"tts-1","input":"a","voice":"alloy","speed":5}`), "ranges", "speed", "<= 4, but got 5"),
		Entry("another format", wire.Speech{}, []byte(`{"model":"tts-1","input":"a","voice":"alloy","response_format":"ogg"}`), "unknown-value", "response_format", "opus"),
		Entry("events of tts-1", wire.Speech{}, []byte(`{"model":"tts-1","input":"a","voice":"alloy","stream_format":"sse"}`), "unknown-value", "stream_format", "not supported"),
		Entry("subtitles of gpt-4o", wire.Transcriptions{}, form("@file", "x", "model", "gpt-4o-transcribe", "response_format", "srt"), "unknown-value", "response_format", "json"),
		Entry("an unknown voice", wire.Speech{}, []byte(`{"model":"tts-1","input":"a","voice":"hal"}`), "unknown-value", "voice", "'alloy'"),
		Entry("an unknown member of speech", wire.Speech{}, []byte(`{"model":"tts-1","input":"a","voice":"alloy","pitch":1}`), "unknown-parameter", "pitch", "Unknown parameter: 'pitch'."),
		Entry("the quality of another model", wire.Images{}, []byte(`{"model":"gpt-image-1","prompt":"a","quality":"hd"}`), "unknown-value", "quality", "'low', 'medium', 'high'"),
		Entry("an unknown style", wire.Images{}, []byte(`{"model":"dall-e-3","prompt":"a","style":"oil"}`), "unknown-value", "style", "'vivid', 'natural'"),
		Entry("too much compression", wire.Images{}, []byte(`{"model":"gpt-image-1","prompt":"a","output_compression":101}`), "ranges", "output_compression", "<= 100"),
		Entry("an unknown field of an edit", wire.Images{Edit: true}, form("@image[]", "x", "prompt", "a", "model", "gpt-image-1", "strength", "1"), "unknown-parameter", "strength", "Unknown"),
		Entry("the size of an edit", wire.Images{Edit: true}, form("@image", "x", "prompt", "a", "model", "gpt-image-1", "size", "1x1"), "unknown-value", "size", "1024x1536"),
		Entry("a text to transcribe", wire.Transcriptions{}, bytes.Replace(form("@file", "x", "model", "whisper-1"), []byte("a.wav"), []byte("a.txt"), 1), "unknown-value", "file", "Supported formats: ['flac'"),
		Entry("a temperature of 2", wire.Transcriptions{}, form("@file", "x", "model", "whisper-1", "temperature", "2"), "ranges", "temperature", "<= 1"),
		Entry("an unknown granularity", wire.Transcriptions{}, form("@file", "x", "model", "whisper-1", "response_format", "verbose_json", "timestamp_granularities[]", "letter"), "unknown-value", "timestamp_granularities", "'word', 'segment'"),
		Entry("too much to transcribe", wire.Transcriptions{}, form("@file", strings.Repeat("x", 25<<20+1), "model", "whisper-1"), "ranges", "file", "exceeded"),
	)

	It("generate a valid small image, which depends on the prompt and the choice", func() {
		seen := map[string]bool{}
		for _, prompt := range []string{"a", "b"} {
			call, err := wire.Images{}.Decode([]byte(`{"prompt":"` + prompt + `"}`))
			Expect(err).NotTo(HaveOccurred())
			for _, choice := range []string{"", ":1"} {
				m, generateErr := wire.GenerateMedia(&call, choice)
				Expect(generateErr).NotTo(HaveOccurred())
				Expect(m.Type).To(Equal("image/png"))
				config, kind, decodeErr := image.DecodeConfig(bytes.NewReader(m.Data))
				Expect(decodeErr).NotTo(HaveOccurred())
				Expect(kind).To(Equal("png"))
				Expect(config.Width).To(Equal(16))
				seen[string(m.Data)] = true
			}
		}
		Expect(seen).To(HaveLen(4))
	})

	DescribeTable("generate silence", func(format, kind string, size int) {
		call, err := wire.Speech{}.Decode([]byte(`{"model":"tts-1","input":"a","voice":"alloy","response_format":"` + format + `"}`))
		Expect(err).NotTo(HaveOccurred())
		m, generateErr := wire.GenerateMedia(&call, "")
		if size == 0 {
			Expect(generateErr).To(MatchError(ContainSubstring("asks for " + format)))
			return
		}
		Expect(generateErr).NotTo(HaveOccurred())
		Expect(m.Kind).To(Equal(wire.AudioOutput))
		Expect(m.Type).To(Equal(kind))
		Expect(m.Data).To(HaveLen(size))
	},
		Entry("as WAV", "wav", "audio/wave", 4844), Entry("as PCM", "pcm", "audio/pcm", 4800),
		Entry("as MP3", "mp3", "audio/mpeg", 960), Entry("not as Opus", "opus", "", 0))

	It("have an error of the provider for a refused image", func() {
		call, err := wire.Images{}.Decode([]byte(`{"prompt":"a"}`))
		Expect(err).NotTo(HaveOccurred())
		f := wire.Images{}.Encode(call, wire.Completion{Refusal: "No."})[0]
		Expect(f.Status).To(Equal(400))
		Expect(string(f.Data)).To(And(ContainSubstring("moderation_blocked"), ContainSubstring(`"No."`)))
	})

	It("are not read from an address", func() {
		_, err := wire.Images{}.ReadAnswer(false, []byte(`{"created":1,"data":[{"url":"https://x.example/a.png"}]}`))
		Expect(err).To(MatchError(ContainSubstring("response_format b64_json")))
		_, err = wire.Images{}.ReadAnswer(false, []byte(`{"created":1,"data":[]}`))
		Expect(errors.Is(err, wire.ErrEmptyAnswer)).To(BeTrue())
	})
})

// FuzzMedia: no body makes a codec for media panic, a refusal is the client's fault, and what is accepted can be answered
// and is read as the same.
func FuzzMedia(f *testing.F) {
	cases := mediaCases()
	for i, c := range cases {
		f.Add(i, c.body)
		f.Add(i, c.body[:len(c.body)/2])
	}
	f.Add(4, []byte(`{"model":"m","input":"a","voice":{"id":"v"},"speed":1e400}`))
	f.Fuzz(func(t *testing.T, i int, body []byte) {
		if i < 0 || i >= len(cases) {
			return
		}
		codec := cases[i].codec
		call, e := codec.Decode(body)
		if e != nil {
			if e.Status != 400 || e.Message == "" || !json.Valid(codec.EncodeError(e)[0].Data) {
				t.Fatalf("refused with %+v", e)
			}
			return
		}
		answer := wire.Completion{ID: "x", Text: "a b", Usage: llm.Usage{Output: 1}}
		if call.Output != wire.TextOutput {
			answer.Media = wire.NewMedia([]byte("GIF89a"))
		}
		frames := codec.Encode(call, answer)
		got, err := codec.ReadAnswer(call.Stream, bodyOf(frames))
		if err != nil || (got.Media == nil) != (answer.Media == nil) || got.Media == nil && got.Text != answer.Text {
			t.Fatalf("answered %+v, which is read as %+v, %v", answer, got, err)
		}
	})
}

// FuzzReadMedia: no answer makes a reader of media panic.
func FuzzReadMedia(f *testing.F) {
	cases := mediaCases()
	for i, c := range cases {
		call, answer := c.decode()
		f.Add(i, call.Stream, bodyOf(c.codec.Encode(call, answer)))
	}
	f.Add(0, false, []byte(`{"data":[{"url":"data:;base64,AA"},{"b64_json":"="}]}`))
	f.Fuzz(func(t *testing.T, i int, streamed bool, body []byte) {
		if i < 0 || i >= len(cases) {
			return
		}
		c, err := cases[i].codec.ReadAnswer(streamed, body)
		if err != nil && err.Error() == "" {
			t.Fatalf("an error without words: %#v", err)
		}
		if c.Media != nil && c.Recorded() == "" {
			t.Fatal("media without a description")
		}
	})
}
