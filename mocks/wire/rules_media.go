package wire

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// The rules of OpenAI's media are in the order of the rules of chat requests. Their values and limits are those of
// https://developers.openai.com/api/reference/resources/images/methods/generate (and edit), and of
// https://developers.openai.com/api/reference/resources/audio below speech, transcriptions and translations.
var (
	imageRules = mediaRules(wordSet(
		"background", "image", "input_fidelity", "mask", "model", "moderation", "n", "output_compression", "output_format", "partial_images",
		"prompt", "quality", "response_format", "size", "stream", "style", "user",
	), imageValues, imageRanges)
	speechRules = mediaRules(wordSet(
		"input", "instructions", "model", "response_format", "speed", "stream_format", "voice",
	), speechValues, speechRanges)
	transcriptionRules = mediaRules(wordSet(
		"chunking_strategy", "file", "include", "known_speaker_names", "known_speaker_references", "language", "model", "prompt",
		"response_format", "stream", "temperature", "timestamp_granularities",
	), transcriptionValues, transcriptionRanges)
)

func mediaRules(fields map[string]bool, values, ranges func(*ruledRequest) *APIError) []rule {
	return []rule{
		{ruleMissingKey, openAIKey},
		{ruleUnknownModel, openAIUnknownModel},
		{ruleUnknownParameter, forOpenAI(func(r *ruledRequest) *APIError {
			if unknown := r.unknownFields(fields); len(unknown) > 0 {
				return bad(unknown[0], "unknown_parameter", "Unknown parameter: '%s'.", unknown[0])
			}
			return nil
		})},
		{ruleUnknownValue, forOpenAI(values)},
		{ruleRanges, forOpenAI(ranges)},
	}
}

// openAIMediaModel matches the names of OpenAI's models for media.
var openAIMediaModel = lazyregexp.New(`^(openai/)?(dall-e-|gpt-image-|chatgpt-image-|gpt-4o-|tts-1|whisper-1$)`)

// readForm reads the fields of a multipart body as those of an object. Files have no value.
func (r *ruledRequest) readForm(body []byte) {
	form, _ := ParseForm(body) // valid, because it was decoded
	r.files = form.Files
	for name, values := range form.fields {
		v := jsontext.Value(values[0])
		if v.Kind() != '0' || !v.IsValid() {
			v = jsontext.Value(jsonText(nil).quote(values[0]))
		}
		r.fields.set(strings.TrimSuffix(name, "[]"), v)
	}
	for _, file := range form.Files {
		r.fields.set(strings.TrimSuffix(file.Field, "[]"), nil)
	}
}

// oneOf validates a field that is a text.
func (r *ruledRequest) oneOf(field string, values ...string) *APIError {
	var value string
	r.read(field, &value)
	if value == "" || slices.Contains(values, value) {
		return nil
	}
	return unsupported(field, value, values...)
}

// atMost validates the number of characters of a field that is a text.
func (r *ruledRequest) atMost(field string, limit int) *APIError {
	var value string
	r.read(field, &value)
	if n := utf8.RuneCountInString(value); n > limit {
		return tooLong(field, "string", limit, n)
	}
	return nil
}

// imageSizes are those of the models whose sizes are documented.
var imageSizes = map[string][]string{
	"dall-e-2":         {"256x256", "512x512", "1024x1024"},
	"dall-e-3":         {"1024x1024", "1792x1024", "1024x1792"},
	"gpt-image-1":      {"1024x1024", "1024x1536", "1536x1024", "auto"},
	"gpt-image-1-mini": {"1024x1024", "1024x1536", "1536x1024", "auto"},
}

func imageValues(r *ruledRequest) *APIError {
	model := strings.TrimPrefix(r.model, "openai/")
	if sizes := imageSizes[model]; sizes != nil {
		if err := r.oneOf("size", sizes...); err != nil {
			return err
		}
	}
	gpt, dalle := isGPTImage(model), strings.HasPrefix(model, "dall-e-")
	qualities := []string{"low", "medium", "high", "auto"}
	switch {
	case gpt && r.has("response_format"):
		return bad("response_format", "unknown_parameter", "Unknown parameter: 'response_format'.")
	case dalle && r.has("stream") && r.fields.get("stream").Kind() == jsontext.KindTrue:
		return bad("stream", "invalid_value", "Streaming is not supported for the model '%s'.", r.model)
	case model == "dall-e-2":
		qualities = []string{"standard", "auto"}
	case dalle:
		qualities = []string{"standard", "hd", "auto"}
	}
	for _, f := range []struct {
		name   string
		asked  bool
		values []string
	}{
		{"quality", gpt || dalle, qualities},
		{"response_format", true, []string{"url", "b64_json"}},
		{"output_format", true, []string{"png", "jpeg", "webp"}},
		{"background", gpt, []string{"transparent", "opaque", "auto"}},
		{"moderation", gpt, []string{"low", "auto"}},
		{"style", model == "dall-e-3", []string{"vivid", "natural"}},
	} {
		if f.asked {
			if err := r.oneOf(f.name, f.values...); err != nil {
				return err
			}
		}
	}
	return nil
}

func imageRanges(r *ruledRequest) *APIError {
	limit, most := 32_000, float64(maxImages)
	switch r.model {
	case "dall-e-2":
		limit = 1000
	case "dall-e-3":
		limit, most = 4000, 1
	}
	return firstError(
		func() *APIError { return r.atMost("prompt", limit) },
		func() *APIError { return r.checkRange("n", "integer", 1, most) },
		func() *APIError { return r.checkRange("output_compression", "integer", 0, 100) },
	)
}

// voices are the built-in voices.
var voices = []string{
	"alloy", "ash", "ballad", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer", "verse", "marin", "cedar",
}

func speechValues(r *ruledRequest) *APIError {
	if err := r.oneOf("stream_format", "audio", "sse"); err != nil {
		return err
	}
	var stream string
	if r.read("stream_format", &stream); stream == "sse" && strings.HasPrefix(r.model, "tts-1") {
		return bad("stream_format", "invalid_value", "The stream format 'sse' is not supported for the model '%.64s'.", r.model)
	}
	if err := r.oneOf("voice", voices...); err != nil {
		return err
	}
	return r.oneOf("response_format", "mp3", "opus", "aac", "flac", "wav", "pcm")
}

func speechRanges(r *ruledRequest) *APIError {
	if err := r.atMost("input", maxSpeech); err != nil {
		return err
	}
	return r.checkRange("speed", "decimal", 0.25, 4)
}

// soundFiles are the ends of the names of files that can be transcribed.
var soundFiles = []string{"flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm"}

// maxSound limits a file to transcribe, see https://developers.openai.com/api/docs/guides/speech-to-text.
const maxSound = 25 << 20

func transcriptionValues(r *ruledRequest) *APIError {
	formats := []string{formJSON, formText, formSRT, formVerbose, formVTT}
	if strings.HasPrefix(r.model, "gpt-4o") {
		formats = []string{formJSON, formText} // the reference of the API has no text, the guide has
	}
	for _, f := range r.files {
		end := strings.ToLower(f.Name[strings.LastIndexByte(f.Name, '.')+1:])
		if f.Field == "file" && !slices.Contains(soundFiles, end) {
			return bad("file", "unsupported_value", "Unrecognized file format. Supported formats: ['%s']", strings.Join(soundFiles, "', '"))
		}
	}
	if err := r.oneOf("response_format", formats...); err != nil {
		return err
	}
	return r.oneOf("timestamp_granularities", "word", "segment")
}

func transcriptionRanges(r *ruledRequest) *APIError {
	for _, f := range r.files {
		if n := len(f.Content); f.Field == "file" && n > maxSound {
			return bad("file", "file_too_large", "Maximum content size limit (%d) exceeded (%d bytes read)", maxSound, n)
		}
	}
	return r.checkRange("temperature", "decimal", 0, 1)
}
