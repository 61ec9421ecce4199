package wire

import (
	"bytes"
	"cmp"
	"net/http"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/llm"
)

// Images implements the generation of images of OpenAI's API, see
// https://platform.openai.com/docs/api-reference/images. The prompt is the user's message; images to edit
// are its attachments.
type Images struct {
	openAIMedia
	// Edit is true for POST /v1/images/edits, whose body is multipart.
	Edit bool
}

var _ Reader = Images{}

// Limits of OpenAI's images.
const (
	maxImages      = 10
	maxPartial     = 3
	defaultImages  = "dall-e-2"
	gptImagePrefix = "gpt-image"
)

// Protocol implements Codec.
func (i Images) Protocol() string {
	if i.Edit {
		return "openai-image-edits"
	}
	return "openai-images"
}

// imageRequest is the request as it is sent.
type imageRequest struct {
	Prompt            *string `json:"prompt"`
	Model             string  `json:"model"`
	N                 *int    `json:"n"`
	Size              string  `json:"size"`
	Quality           string  `json:"quality"`
	Background        string  `json:"background"`
	ResponseFormat    string  `json:"response_format"`
	OutputFormat      string  `json:"output_format"`
	OutputCompression *int    `json:"output_compression"`
	PartialImages     *int    `json:"partial_images"`
	Stream            bool    `json:"stream"`

	images []llm.Attachment // to edit
}

// Decode implements Codec.
func (i Images) Decode(body []byte) (Call, *APIError) {
	var r imageRequest
	if i.Edit {
		if err := r.readForm(body); err != nil {
			return Call{}, err
		}
	} else if err := jsonv2.Unmarshal(body, &r); err != nil {
		return Call{}, decodeError(err)
	}
	r.Model = cmp.Or(i.Root.Deployment, r.Model, defaultImages)
	if err := r.check(); err != nil {
		return Call{}, err
	}
	call := Call{Output: ImageOutput, IncludeUsage: r.isGPT()}
	call.Model, call.Stream = r.Model, r.Stream
	call.Messages = []llm.Message{{Role: llm.User, Content: *r.Prompt, Attachments: r.images}}
	if r.N != nil {
		call.N = *r.N
	}
	call.media = mediaOptions{
		format: cmp.Or(r.OutputFormat, "png"), url: !r.isGPT() && r.ResponseFormat != "b64_json", events: r.Stream,
		size: r.Size, quality: r.Quality, background: r.Background,
	}
	if r.PartialImages != nil && r.Stream {
		call.media.partial = *r.PartialImages
	}
	return call, nil
}

// readForm reads the multipart body of an edit.
func (r *imageRequest) readForm(body []byte) *APIError {
	f, err := ParseForm(body)
	if err != nil {
		return err
	}
	for _, file := range f.filesOf("image") {
		r.images = append(r.images, file.attachment(string(ImageOutput)))
	}
	if len(r.images) == 0 {
		return missing("image")
	}
	for _, file := range f.filesOf("mask") {
		mask := file.attachment(string(ImageOutput))
		mask.Name = shortSource("mask " + mask.Name)
		r.images = append(r.images, mask)
	}
	if _, ok := f.fields["prompt"]; ok {
		prompt := f.Field("prompt")
		r.Prompt = &prompt
	}
	r.Model, r.Size, r.Quality, r.Background = f.Field("model"), f.Field("size"), f.Field("quality"), f.Field("background")
	r.ResponseFormat, r.OutputFormat = f.Field("response_format"), f.Field("output_format")
	for name, field := range map[string]**int{"n": &r.N, "output_compression": &r.OutputCompression, "partial_images": &r.PartialImages} {
		if *field, err = f.integer(name); err != nil {
			return err
		}
	}
	r.Stream, err = f.boolean("stream")
	return err
}

func (r *imageRequest) isGPT() bool { return isGPTImage(r.Model) }

// isGPTImage reports whether the model is one of the gpt-image models, which answer in base64 and report usage.
func isGPTImage(model string) bool {
	return strings.HasPrefix(model, gptImagePrefix) || model == "chatgpt-image-latest"
}

// check validates the prompt and the numbers of images, which the answer depends on. The rest are rules.
func (r *imageRequest) check() *APIError {
	switch {
	case r.Prompt == nil:
		return missing("prompt")
	case *r.Prompt == "":
		return bad("prompt", "empty_string", "Invalid 'prompt': empty string. Expected a string with minimum length 1.")
	case r.N != nil && (*r.N < 1 || *r.N > maxImages):
		return bad("n", "invalid_value", "Invalid value for 'n': expected an integer from 1 to %d, but got %d instead.", maxImages, *r.N)
	case r.PartialImages != nil && (*r.PartialImages < 0 || *r.PartialImages > maxPartial):
		return bad("partial_images", "invalid_value",
			"Invalid value for 'partial_images': expected an integer from 0 to %d, but got %d instead.", maxPartial, *r.PartialImages)
	}
	return nil
}

// Encode implements Codec. A refusal is an error of the provider, as is filtered content.
func (i Images) Encode(call Call, c Completion) []Frame {
	if c.Refusal != "" || c.Finish == llm.FinishContentFilter {
		frames := i.EncodeError(&APIError{
			Status: http.StatusBadRequest, Type: "image_generation_user_error", Code: "moderation_blocked",
			Message: cmp.Or(c.Refusal, "Your request was rejected as a result of our safety system."),
		})
		frames[0].Delay = c.First
		return frames
	}
	if call.Stream {
		return i.encodeStream(&call, c)
	}
	j := make(jsonText, 0, 256+mediaLen(c)*4/3).raw(`{"created":`).unix(c.Created).raw(`,"data":[`)
	for n, choice := range c.choices() {
		if c.bare {
			break
		}
		j = j.comma(n).raw(`{`).image(&call, choice.Media)
		if choice.Text != "" && strings.HasPrefix(call.Model, "dall-e-3") {
			j = j.raw(`,"revised_prompt":`).quote(choice.Text)
		}
		j = j.raw(`}`)
	}
	j = j.raw(`]`)
	if call.IncludeUsage {
		j = j.raw(`,`).imageForm(&call).raw(`,"usage":`).imageUsage(c.reportedUsage())
	}
	frames := jsonFrames(c.ID, j.raw(`}`))
	frames[0].Delay = addUp(c.First, generation(c))
	return frames
}

// image appends the member with the image.
func (j jsonText) image(call *Call, m *Media) jsonText {
	if call.media.url {
		kind := "image/png"
		if m != nil {
			kind = cmp.Or(m.Type, kind)
		}
		return j.raw(`"url":`).quote("data:" + kind + ";base64," + m.base64())
	}
	return j.raw(`"b64_json":`).quote(m.base64())
}

// imageForm appends the members about the form of an image; "auto" is decided by the model.
func (j jsonText) imageForm(call *Call) jsonText {
	decided := func(value, auto string) string {
		if value == "" || value == "auto" {
			return auto
		}
		return value
	}
	m := &call.media
	return j.raw(`"background":`).quote(decided(m.background, "opaque")).raw(`,"output_format":`).quote(cmp.Or(m.format, "png")).
		raw(`,"quality":`).quote(decided(m.quality, "high")).raw(`,"size":`).quote(decided(m.size, "1024x1024"))
}

// imageUsage appends token counts. All input counts as text, because the script does not divide it.
func (j jsonText) imageUsage(u llm.Usage) jsonText {
	input := addUp(u.Input, u.CachedInput, u.CacheWrite)
	return j.raw(`{"input_tokens":`).int(input).raw(`,"input_tokens_details":{"text_tokens":`).int(input).
		raw(`,"image_tokens":0},"output_tokens":`).int(u.Output).raw(`,"total_tokens":`).int(addUp(input, u.Output)).raw(`}`)
}

// encodeStream returns the events of a stream: unfinished images, which are the image itself, and the image.
func (i Images) encodeStream(call *Call, c Completion) []Frame {
	all := c.choices()
	if c.bare {
		all = nil
	}
	events := len(all) * (call.media.partial + 1)
	s := newStream(c, c.ID, events, events, (mediaLen(c)*4/3+400)*(call.media.partial+1))
	name := i.event()
	for _, choice := range all {
		for n := range call.media.partial {
			s.skip(1)
			s.begin(name + ".partial_image")
			s.buf = s.buf.raw(`,"partial_image_index":`).int(n).raw(`,`)
			s.imageEvent(call, choice, c.Created)
			s.end()
		}
		s.skip(1)
		s.begin(name + ".completed")
		s.buf = s.buf.raw(`,"usage":`).imageUsage(c.reportedUsage()).raw(`,`)
		s.imageEvent(call, choice, c.Created)
		s.end()
	}
	return s.frames
}

func (s *stream) imageEvent(call *Call, c Completion, created time.Time) {
	s.buf = s.buf.raw(`"b64_json":`).quote(c.Media.base64()).raw(`,"created_at":`).unix(created).raw(`,`).imageForm(call)
}

func (i Images) event() string {
	if i.Edit {
		return "image_edit"
	}
	return "image_generation"
}

// mediaLen returns the size of all media of an answer, in bytes.
func mediaLen(c Completion) int {
	n := 0
	for _, choice := range c.choices() {
		if choice.Media != nil {
			n += len(choice.Media.Data)
		}
	}
	return n
}

// Dialect implements Codec.
func (i Images) Dialect() Dialect {
	return Dialect{
		AnswerID: "img_", Unexpected: http.StatusBadRequest, RateLimit: openAIRateLimit, Media: true,
		ends:      func(event []byte) bool { return bytes.HasPrefix(event, []byte("event: "+i.event()+".completed\n")) },
		textMarks: []string{`"b64_json":"`, `":"`},
		errorEvent: func(_ Call, _ Completion, e *APIError, _ int) []byte {
			return sseEvent("error", jsonText(`{"type":"error",`).raw(string(openAIError(e)[1:])))
		},
	}
}
