package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of OpenAI's embeddings API.
const (
	maxEmbeddingInputs = 2048
	maxDimensions      = 3072 // of text-embedding-3-large
)

// defaultDimensions returns the length of a model's vectors: see https://platform.openai.com/docs/guides/embeddings and
// https://docs.mistral.ai/capabilities/embeddings/text_embeddings.
func defaultDimensions(model string) int {
	switch {
	case strings.HasSuffix(model, "-3-large"):
		return maxDimensions
	case strings.Contains(model, "mistral-embed"):
		return 1024
	}
	return 1536
}

// embeddings is a valid request to /v1/embeddings.
type embeddings struct {
	model string
	// inputs are the texts; token ids are written "[1 2 3]".
	inputs []string
	// dimensions is the length of each vector.
	dimensions int
	// base64 asks for little-endian float32 bytes in base64 instead of numbers.
	base64 bool
}

// embeddingsBody is the request as it is sent.
type embeddingsBody struct {
	Model          string         `json:"model"`
	Input          jsontext.Value `json:"input"`
	Dimensions     *int           `json:"dimensions"`
	EncodingFormat string         `json:"encoding_format"`
}

// Embed answers POST /v1/embeddings. The vectors have length 1 and depend only on the input and
// the dimensions. Texts of similar meaning do not have similar vectors. Count returns the number
// of tokens of a text; may be nil.
func (c OpenAIChat) Embed(body []byte, count func(model, text string) int) []Frame {
	r, err := decodeEmbeddings(body, c.Root.Deployment)
	if err != nil {
		return c.EncodeError(err)
	}
	tokens := 0
	if count != nil {
		for _, text := range r.inputs {
			tokens += count(r.model, text)
		}
	}
	return r.encode(tokens)
}

// decodeEmbeddings parses and validates a request as the provider does. Azure's deployment replaces
// the model.
func decodeEmbeddings(body []byte, deployment string) (embeddings, *APIError) {
	var b embeddingsBody
	if err := jsonv2.Unmarshal(body, &b); err != nil {
		return embeddings{}, decodeError(err)
	}
	b.Model = cmp.Or(deployment, b.Model)
	r := embeddings{model: b.Model, dimensions: defaultDimensions(b.Model), base64: b.EncodingFormat == "base64"}
	if b.Dimensions != nil {
		r.dimensions = *b.Dimensions
	}
	switch {
	case b.Model == "":
		return r, missing("model")
	case b.Input == nil:
		return r, missing("input")
	case b.EncodingFormat != "" && b.EncodingFormat != "float" && b.EncodingFormat != "base64":
		return r, unsupported("encoding_format", b.EncodingFormat, "float", "base64")
	case r.dimensions < 1 || r.dimensions > maxDimensions:
		return r, bad("dimensions", "invalid_value",
			"Invalid value for 'dimensions': expected an integer from 1 to %d, but got %d instead.", maxDimensions, r.dimensions)
	}
	var err *APIError
	r.inputs, err = embeddingInputs(b.Input)
	return r, err
}

// embeddingInputs reads a text, a list of token ids, or a list of either.
func embeddingInputs(input jsontext.Value) ([]string, *APIError) {
	items := []jsontext.Value{input}
	if input.Kind() == '[' {
		var list []jsontext.Value
		if err := jsonv2.Unmarshal(input, &list); err != nil {
			return nil, decodeError(err)
		}
		if len(list) == 0 || list[0].Kind() != '0' {
			items = list
		}
	}
	if n := len(items); n == 0 || n > maxEmbeddingInputs {
		return nil, bad("input", "invalid_value",
			"Invalid 'input': expected 1 to %d inputs, but got %d instead.", maxEmbeddingInputs, n)
	}
	texts := make([]string, len(items))
	for i, item := range items {
		text, ok := embeddingInput(item)
		if !ok {
			return nil, bad("input", "invalid_type",
				"Invalid 'input': expected texts that are not empty, or arrays of token ids; input %d is neither.", i)
		}
		texts[i] = text
	}
	return texts, nil
}

func embeddingInput(item jsontext.Value) (text string, ok bool) {
	if item.Kind() == '"' {
		err := jsonv2.Unmarshal(item, &text)
		return text, err == nil && text != ""
	}
	var tokens []uint32
	err := jsonv2.Unmarshal(item, &tokens)
	return fmt.Sprint(tokens), err == nil && len(tokens) > 0
}

func (r *embeddings) encode(tokens int) []Frame {
	j := jsonText(`{"object":"list",`)
	if isMistral(r.model) { // its client requires an id
		j = j.raw(`"id":"embd-rehearse",`)
	}
	j = j.raw(`"data":[`)
	for i, input := range r.inputs {
		j = j.comma(i).raw(`{"object":"embedding","index":`).int(i).raw(`,"embedding":`)
		j = r.appendVector(j, unitVector(input, r.dimensions)).raw(`}`)
	}
	return jsonFrames("", j.raw(`],"model":`).quote(r.model).
		raw(`,"usage":{"prompt_tokens":`).int(tokens).raw(`,"total_tokens":`).int(tokens).raw(`}}`))
}

func (r *embeddings) appendVector(j jsonText, v []float32) jsonText {
	if r.base64 {
		raw := make([]byte, 0, 4*len(v))
		for _, x := range v {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
		return j.quote(base64.StdEncoding.EncodeToString(raw))
	}
	j = j.raw("[")
	for i, x := range v {
		j = strconv.AppendFloat(j.comma(i), float64(x), 'g', -1, 32)
	}
	return j.raw("]")
}

// unitVector returns a vector of length 1 from a generator with the SHA-256 of the text as its
// seed. The coordinates are scaled uniform numbers, because Go may change its normal generator.
func unitVector(text string, dimensions int) []float32 {
	source := rand.NewChaCha8(sha256.Sum256([]byte(text)))
	drawn := make([]float64, dimensions)
	sum := 0.0
	for i := range drawn {
		drawn[i] = float64(int64(source.Uint64())) / (1 << 63)
		sum += drawn[i] * drawn[i]
	}
	v := make([]float32, dimensions)
	for i, x := range drawn {
		v[i] = float32(x / math.Sqrt(sum)) // sum is 0 with probability 2^-64
	}
	return v
}
