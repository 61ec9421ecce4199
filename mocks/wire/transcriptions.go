package wire

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/llm"
)

// Transcriptions implements POST /v1/audio/transcriptions and /v1/audio/translations of OpenAI's API, see
// https://platform.openai.com/docs/api-reference/audio/createTranscription. The sound is an attachment of the user's
// message, whose text is the prompt; the answer is the text. Its times are made up: wordTime for each word.
type Transcriptions struct {
	openAIMedia
	// Translate is true for translations into English.
	Translate bool
}

var _ Reader = Transcriptions{}

// wordTime is the time of a word in subtitles.
const wordTime = 400 * time.Millisecond

// The forms of a transcription.
const (
	formJSON    = "json"
	formText    = "text"
	formSRT     = "srt"
	formVerbose = "verbose_json"
	formVTT     = "vtt"
)

// Protocol implements Codec.
func (t Transcriptions) Protocol() string {
	if t.Translate {
		return "openai-translations"
	}
	return "openai-transcriptions"
}

// Decode implements Codec.
func (t Transcriptions) Decode(body []byte) (Call, *APIError) {
	f, err := ParseForm(body)
	if err != nil {
		return Call{}, err
	}
	model, format := cmp.Or(t.Root.Deployment, f.Field("model")), f.Field("response_format")
	whisper := strings.HasPrefix(model, "whisper")
	files, words := f.filesOf("file"), f.All("timestamp_granularities")
	stream, err := f.boolean("stream")
	switch {
	case err != nil:
		return Call{}, err
	case len(files) == 0:
		return Call{}, missing("file")
	case len(files[0].Content) == 0:
		return Call{}, bad("file", "invalid_value", "Audio file might be corrupted or unsupported.")
	case model == "":
		return Call{}, missing("model")
	case format == "diarized_json":
		return Call{}, bad("response_format", "", "The scripted server does not know speakers, and so not the response format diarized_json.")
	case len(words) > 0 && format != formVerbose:
		return Call{}, bad("timestamp_granularities", "invalid_value", "Timestamp granularities need the response format 'verbose_json'.")
	}
	if text := f.Field("temperature"); text != "" {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return Call{}, bad("temperature", "invalid_type", "Invalid type for 'temperature': expected a decimal number.")
		}
	}
	var call Call
	call.Model, call.Stream = model, stream && !whisper && !t.Translate // whisper ignores it
	call.Messages = []llm.Message{{
		Role: llm.User, Content: f.Field("prompt"), Attachments: []llm.Attachment{files[0].attachment(string(AudioOutput))},
	}}
	call.media = mediaOptions{
		format: cmp.Or(format, formJSON), events: call.Stream, language: f.Field("language"), words: slices.Contains(words, "word"),
	}
	call.IncludeUsage = !whisper && !t.Translate && call.media.format == formJSON
	return call, nil
}

// Encode implements Codec.
func (t Transcriptions) Encode(call Call, c Completion) []Frame {
	if c.Refusal != "" {
		c.Text = c.Refusal // the protocol has no refusals
	}
	if c.bare {
		c.Text = ""
	}
	if call.Stream {
		return t.encodeStream(&call, c)
	}
	contentType := "text/plain; charset=utf-8"
	var body []byte
	switch call.media.format {
	case formText:
		body = []byte(c.Text + "\n")
	case formSRT:
		body = fmt.Appendf(nil, "1\n%s --> %s\n%s\n\n", clockTime(0, ','), clockTime(duration(c.Text), ','), c.Text)
	case formVTT:
		body = fmt.Appendf(nil, "WEBVTT\n\n%s --> %s\n%s\n\n", clockTime(0, '.'), clockTime(duration(c.Text), '.'), c.Text)
	case formVerbose:
		contentType, body = jsonType, t.verbose(&call, c.Text)
	default:
		contentType = jsonType
		j := jsonText(`{"text":`).quote(c.Text)
		if call.IncludeUsage {
			j = j.raw(`,"usage":`).transcriptUsage(c.reportedUsage())
		}
		body = j.raw(`}`)
	}
	return []Frame{{
		Status: http.StatusOK, Header: head(contentType, c.ID, len(body)), Data: body, Delay: addUp(c.First, generation(c)),
	}}
}

// transcriptUsage appends token counts. All input counts as sound.
func (j jsonText) transcriptUsage(u llm.Usage) jsonText {
	input := addUp(u.Input, u.CachedInput, u.CacheWrite)
	j = j.raw(`{"type":"tokens","input_token_details":{"text_tokens":0,"audio_tokens":`).int(input).raw(`},`)
	return append(j, jsonText(nil).mediaTokens(u)[1:]...)
}

// duration returns the made-up duration of a text.
func duration(text string) time.Duration { return wordTime * time.Duration(len(strings.Fields(text))) }

// clockTime writes a time as subtitles do: 00:00:01,200.
func clockTime(d time.Duration, point byte) string {
	return fmt.Sprintf("%02d:%02d:%02d%c%03d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60, point, d.Milliseconds()%1000)
}

// verbose returns the body of the form verbose_json, with one segment.
func (t Transcriptions) verbose(call *Call, text string) []byte {
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
	task := "transcribe"
	if t.Translate {
		task = "translate"
	}
	j := jsonText(`{"task":`).quote(task).raw(`,"language":`).quote(cmp.Or(call.media.language, "english")).
		raw(`,"duration":`).raw(seconds(duration(text))).raw(`,"text":`).quote(text)
	if call.media.words {
		j = j.raw(`,"words":[`)
		for i, word := range strings.Fields(text) {
			from := wordTime * time.Duration(i)
			j = j.comma(i).raw(`{"word":`).quote(word).raw(`,"start":`).raw(seconds(from)).raw(`,"end":`).raw(seconds(from + wordTime)).raw(`}`)
		}
		j = j.raw(`]`)
	}
	return j.raw(`,"segments":[{"id":0,"seek":0,"start":0,"end":`).raw(seconds(duration(text))).raw(`,"text":`).quote(text).
		raw(`,"tokens":[],"temperature":0,"avg_logprob":-0.1,"compression_ratio":1,"no_speech_prob":0}]}`)
}

// transcriptDone begins the last event of a stream.
const transcriptDone = `data: {"type":"transcript.text.done"`

func (t Transcriptions) encodeStream(call *Call, c Completion) []Frame {
	pieces := countPieces(c.Text)
	s := newStream(c, c.ID, pieces, pieces+1, len(c.Text)*3+60*pieces+300)
	for piece := range piecesOf(c.Text) {
		s.skip(1)
		s.buf = s.buf.raw(`data: {"type":"transcript.text.delta","delta":`).quote(piece).raw("}\n\n")
		s.frame()
	}
	s.buf = s.buf.raw(transcriptDone).raw(`,"text":`).quote(c.Text)
	if call.IncludeUsage {
		s.buf = s.buf.raw(`,"usage":`).transcriptUsage(c.reportedUsage())
	}
	s.buf = s.buf.raw("}\n\n")
	s.frame()
	return s.frames
}

// Dialect implements Codec.
func (Transcriptions) Dialect() Dialect {
	return Dialect{
		AnswerID: "transcript_", Unexpected: http.StatusBadRequest, RateLimit: openAIRateLimit, Media: true,
		ends:      func(event []byte) bool { return bytes.HasPrefix(event, []byte(transcriptDone)) },
		textMarks: []string{`"delta":"`, `"text":"`},
		errorEvent: func(_ Call, _ Completion, e *APIError, _ int) []byte {
			return sseEvent("", openAIError(e))
		},
	}
}

// transcript is an answer in JSON, or an event of a stream.
type transcript struct {
	Type  string      `json:"type"`
	Text  *string     `json:"text"`
	Delta string      `json:"delta"`
	Error *errorBody  `json:"error"`
	Usage *mediaUsage `json:"usage"`
}

// ReadAnswer implements Reader. Of subtitles it returns the text.
func (Transcriptions) ReadAnswer(streamed bool, body []byte) (Completion, error) {
	var c Completion
	if !streamed && !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		if c.Text = plainTranscript(string(body)); c.Text == "" {
			return c, ErrEmptyAnswer
		}
		return c, nil
	}
	add := func(a *transcript) error {
		if a.Error != nil {
			return a.Error.apiError()
		}
		if a.Usage != nil {
			c.Usage = a.Usage.neutral()
		}
		c.Text += a.Delta
		if a.Text != nil {
			c.Text = *a.Text
		}
		return nil
	}
	err := readAnswer(streamed, body, func(data []byte) (bool, error) {
		var a transcript
		if err := jsonv2.Unmarshal(data, &a, lenient); err != nil {
			return false, err
		}
		if a.Type == "transcript.text.segment" { // repeats the text of others
			return false, nil
		}
		return a.Type == "transcript.text.done", add(&a)
	}, func(a *transcript) error {
		if err := add(a); err != nil {
			return err
		}
		if a.Text == nil {
			return ErrEmptyAnswer
		}
		return nil
	})
	return c, err
}

// plainTranscript returns the text of an answer that is text or subtitles.
func plainTranscript(body string) string {
	if !strings.HasPrefix(body, "WEBVTT") && !strings.HasPrefix(body, "1\n00:") {
		return strings.TrimSuffix(body, "\n")
	}
	var texts []string
	for block := range strings.SplitSeq(body, "\n\n") {
		_, times, found := strings.Cut(block, " --> ")
		if _, text, ok := strings.Cut(times, "\n"); found && ok {
			texts = append(texts, strings.TrimSpace(text))
		}
	}
	return strings.Join(texts, " ")
}
