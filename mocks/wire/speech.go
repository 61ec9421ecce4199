package wire

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// Speech implements POST /v1/audio/speech of OpenAI's API, see
// https://platform.openai.com/docs/api-reference/audio/createSpeech. The text to speak is the user's message,
// the instructions are the system's.
type Speech struct {
	openAIMedia
}

var _ Reader = Speech{}

const (
	maxSpeech = 4096 // characters
	// audioChunk is the size of a chunk of audio, in bytes; a short answer has minChunks of them.
	audioChunk = 4 << 10
	minChunks  = 4
)

// audioTypes are the media types of the formats of speech.
var audioTypes = map[string]string{
	"mp3": "audio/mpeg", "opus": "audio/opus", "aac": "audio/aac", "flac": "audio/flac", "wav": "audio/wav", "pcm": "audio/pcm",
}

// Protocol implements Codec.
func (Speech) Protocol() string { return "openai-speech" }

// Decode implements Codec. Answers are streams: of bytes, or of events if the request asks for them.
func (s Speech) Decode(body []byte) (Call, *APIError) {
	var r struct {
		Model          string         `json:"model"`
		Input          *string        `json:"input"`
		Voice          jsontext.Value `json:"voice"` // a name, or an object with the id of a custom voice
		Instructions   string         `json:"instructions"`
		ResponseFormat string         `json:"response_format"`
		StreamFormat   string         `json:"stream_format"`
		Speed          *float64       `json:"speed"` // a rule checks its range
	}
	if err := jsonv2.Unmarshal(body, &r); err != nil {
		return Call{}, decodeError(err)
	}
	r.Model = cmp.Or(s.Root.Deployment, r.Model)
	switch {
	case r.Model == "":
		return Call{}, missing("model")
	case r.Input == nil:
		return Call{}, missing("input")
	case *r.Input == "":
		return Call{}, bad("input", "string_too_short", "Invalid 'input': empty string. Expected a string with minimum length 1.")
	case !given(r.Voice):
		return Call{}, missing("voice")
	case r.Voice.Kind() != '"' && r.Voice.Kind() != '{':
		return Call{}, wrongType("voice", "a string", r.Voice.Kind())
	}
	call := Call{Output: AudioOutput}
	call.Model, call.Stream = r.Model, true
	if r.Instructions != "" {
		call.Messages = append(call.Messages, llm.Message{Role: llm.System, Content: r.Instructions})
	}
	call.Messages = append(call.Messages, llm.Message{Role: llm.User, Content: *r.Input})
	call.media = mediaOptions{format: cmp.Or(r.ResponseFormat, "mp3"), events: r.StreamFormat == "sse"}
	call.IncludeUsage = call.media.events
	return call, nil
}

// Encode implements Codec. The chunks are the scripted bytes, whatever their form; the content type is that of the
// requested form.
func (Speech) Encode(call Call, c Completion) []Frame {
	var data []byte
	if c.Media != nil && !c.bare {
		data = c.Media.Data
	}
	size := max(1, min(audioChunk, (len(data)+minChunks-1)/minChunks))
	pieces := (len(data) + size - 1) / size
	s := newStream(c, c.ID, pieces, pieces+1, len(data)*3/2+100*(pieces+1))
	for chunk := range slices.Chunk(data, size) {
		s.skip(1)
		if call.media.events {
			s.buf = s.buf.raw(`data: {"type":"speech.audio.delta","audio":"`).raw(base64.StdEncoding.EncodeToString(chunk)).raw("\"}\n\n")
		} else {
			s.buf = append(s.buf, chunk...)
		}
		s.frame()
	}
	if call.media.events {
		s.buf = s.buf.raw(speechDone).raw(`,"usage":`).mediaTokens(c.reportedUsage()).raw("}\n\n")
		s.frame()
		return s.frames
	}
	s.frames[0].Header = head(cmp.Or(audioTypes[call.media.format], "audio/mpeg"), c.ID, -1)
	return s.frames
}

// speechDone begins the last event of a stream.
const speechDone = `data: {"type":"speech.audio.done"`

// mediaTokens appends token counts.
func (j jsonText) mediaTokens(u llm.Usage) jsonText {
	input := addUp(u.Input, u.CachedInput, u.CacheWrite)
	return j.raw(`{"input_tokens":`).int(input).raw(`,"output_tokens":`).int(u.Output).
		raw(`,"total_tokens":`).int(addUp(input, u.Output)).raw(`}`)
}

// Dialect implements Codec.
func (Speech) Dialect() Dialect {
	return Dialect{
		AnswerID: "speech_", Unexpected: http.StatusBadRequest, RateLimit: openAIRateLimit, Media: true,
		ends:      func(event []byte) bool { return bytes.HasPrefix(event, []byte(speechDone)) },
		textMarks: []string{`"audio":"`},
		errorEvent: func(call Call, _ Completion, e *APIError, _ int) []byte {
			if !call.media.events {
				return nil
			}
			return sseEvent("", openAIError(e))
		},
	}
}

// ReadAnswer implements Reader. An answer that begins like an event is a stream of events.
func (Speech) ReadAnswer(_ bool, body []byte) (Completion, error) {
	var c Completion
	data := body
	if bytes.HasPrefix(body, []byte(sseData)) || bytes.HasPrefix(body, []byte("event: ")) {
		data = nil
		err := readStream(body, func(event []byte) (bool, error) {
			var e struct {
				Type  string      `json:"type"`
				Audio []byte      `json:"audio"`
				Error *errorBody  `json:"error"`
				Usage *mediaUsage `json:"usage"`
			}
			if err := jsonv2.Unmarshal(event, &e, lenient); err != nil {
				return false, err
			}
			if e.Error != nil {
				return false, e.Error.apiError()
			}
			data = append(data, e.Audio...)
			c.Usage = e.Usage.neutral()
			return e.Type == "speech.audio.done", nil
		})
		if err != nil {
			return c, err
		}
	}
	if len(data) == 0 {
		return c, ErrEmptyAnswer
	}
	c.Media = NewMedia(data)
	c.Media.Kind = AudioOutput
	return c, nil
}
