package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ollamaVersion is the version of Ollama whose protocol this is. Clients refuse old servers.
const ollamaVersion = "0.17.4"

// ollamaDimensions is the default length of embeddings, which is that of nomic-embed-text.
const ollamaDimensions = 768

// ollamaFrames returns a successful response of one JSON body.
func ollamaFrames(body jsonText) []Frame {
	return []Frame{{Status: http.StatusOK, Header: head(ollamaJSON, "", len(body)), Data: body}}
}

// EncodeVersion answers GET /api/version.
func (Ollama) EncodeVersion() []Frame {
	return ollamaFrames(jsonText(`{"version":"` + ollamaVersion + `"}`))
}

// EncodeModels answers GET /api/tags, and GET /api/ps for the loaded models, with the only model.
func (Ollama) EncodeModels(model string, created time.Time) []Frame {
	digest := sha256.Sum256([]byte(model))
	at := jsonText(nil).quote(time.Unix(unixSeconds(created), 0).UTC().Format(time.RFC3339))
	return ollamaFrames(jsonText(`{"models":[{"name":`).quote(model).raw(`,"model":`).quote(model).
		raw(`,"modified_at":`).raw(string(at)).raw(`,"expires_at":`).raw(string(at)).
		raw(`,"size":1,"size_vram":1,"digest":"`).raw(hex.EncodeToString(digest[:])).raw(`",`).raw(ollamaDetails).raw(`}]}`))
}

// ollamaDetails describes a model about which nothing is known.
const ollamaDetails = `"details":{"parent_model":"","format":"gguf","family":"rehearse","families":["rehearse"],` +
	`"parameter_size":"","quantization_level":""}`

// Show answers POST /api/show. The model can do everything that a script can.
func (o Ollama) Show(body []byte, now time.Time) []Frame {
	var r struct {
		Model string `json:"model"`
		Name  string `json:"name"`
	}
	if err := decodeOllama(body, &r); err != nil {
		return o.EncodeError(err)
	}
	if err := checkOllamaModel(r.Model+r.Name, http.StatusBadRequest); err != nil {
		return o.EncodeError(err)
	}
	return ollamaFrames(jsonText(`{"modelfile":"","parameters":"","template":"{{ .Prompt }}",` + ollamaDetails +
		`,"model_info":{"general.architecture":"rehearse","rehearse.context_length":131072},` +
		`"capabilities":["completion","tools","vision","thinking"],"modified_at":`).
		quote(time.Unix(unixSeconds(now), 0).UTC().Format(time.RFC3339)).raw(`}`))
}

// Embed answers POST /api/embed with the vectors of OpenAIChat.Embed, and POST /api/embeddings,
// which has one prompt instead of inputs.
func (o Ollama) Embed(body []byte, count func(model, text string) int) []Frame {
	var r struct {
		Model      string         `json:"model"`
		Input      jsontext.Value `json:"input"`
		Prompt     *string        `json:"prompt"`
		Dimensions int            `json:"dimensions"`
	}
	if err := decodeOllama(body, &r); err != nil {
		return o.EncodeError(err)
	}
	status := http.StatusNotFound
	if r.Prompt != nil {
		status = http.StatusBadRequest
	}
	if err := checkOllamaModel(r.Model, status); err != nil {
		return o.EncodeError(err)
	}
	vectors := embeddings{dimensions: ollamaDimensions}
	if 0 < r.Dimensions && r.Dimensions < vectors.dimensions {
		vectors.dimensions = r.Dimensions
	}
	if r.Prompt != nil {
		return ollamaFrames(vectors.appendVector(jsonText(`{"embedding":`), unitVector(*r.Prompt, vectors.dimensions)).raw(`}`))
	}
	inputs, err := ollamaInputs(r.Input)
	if err != nil {
		return o.EncodeError(err)
	}
	tokens := 0
	j := jsonText(`{"model":`).quote(r.Model).raw(`,"embeddings":[`)
	for i, text := range inputs {
		if count != nil {
			tokens += count(r.Model, text)
		}
		j = vectors.appendVector(j.comma(i), unitVector(text, vectors.dimensions))
	}
	return ollamaFrames(j.raw(`],"total_duration":1,"load_duration":1,"prompt_eval_count":`).int(tokens).raw(`}`))
}

// ollamaInputs reads a text or a list of texts.
func ollamaInputs(input jsontext.Value) ([]string, *APIError) {
	var texts []string
	switch {
	case !given(input):
	case input.Kind() == '"':
		if text := unquoted(input); text != "" {
			texts = []string{text}
		}
	case input.Kind() != '[' || jsonv2.Unmarshal(input, &texts) != nil:
		return nil, ollamaBad("invalid input type")
	}
	if len(texts) > maxEmbeddingInputs {
		return nil, ollamaBad("the input has %d texts; this scripted server accepts at most %d", len(texts), maxEmbeddingInputs)
	}
	return texts, nil
}
