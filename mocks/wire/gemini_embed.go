package wire

import (
	"cmp"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
)

// maxGeminiInputs limits the texts of batchEmbedContents.
const maxGeminiInputs = 100

// geminiEmbedding is a request to embedContent, or one of batchEmbedContents.
type geminiEmbedding struct {
	Model      string      `json:"model"`
	Content    geminiBlock `json:"content"`
	Dimensions *int        `json:"outputDimensionality"`
	Config     struct {
		Dimensions *int `json:"outputDimensionality"`
	} `json:"embedContentConfig"`
}

// Embed answers embedContent, or batchEmbedContents if batch is true, see
// https://ai.google.dev/api/embeddings. The vectors are those of OpenAIChat.Embed.
func (g Gemini) Embed(body []byte, batch bool) []Frame {
	var list struct {
		Requests []geminiEmbedding `json:"requests"`
	}
	var one geminiEmbedding
	var err error
	if batch {
		err = jsonv2.Unmarshal(body, &list, googleNames)
	} else {
		err = jsonv2.Unmarshal(body, &one, googleNames)
		list.Requests = []geminiEmbedding{one}
	}
	if err != nil {
		return g.EncodeError(googleDecodeError(err))
	}
	if n := len(list.Requests); n == 0 || n > maxGeminiInputs {
		return g.EncodeError(google("", "* BatchEmbedContentsRequest.requests: at least one and at most %d requests can be in one batch, "+
			"got %d\n", maxGeminiInputs, n))
	}
	j := jsonText(`{"embedding":`)
	if batch {
		j = jsonText(`{"embeddings":[`)
	}
	for i := range list.Requests {
		r := &list.Requests[i]
		dimensions, apiErr := r.check(g.Model)
		if apiErr != nil {
			return g.EncodeError(apiErr)
		}
		vector := embeddings{}
		j = vector.appendVector(j.comma(i).raw(`{"values":`), unitVector(r.Content.text(), dimensions)).raw(`}`)
	}
	if batch {
		j = j.raw(`]`)
	}
	return jsonFrames("", j.raw(`}`))
}

// check validates a request to the model of the path, and returns the length of its vector.
func (r *geminiEmbedding) check(model string) (dimensions int, err *APIError) {
	dimensions = maxDimensions
	if strings.HasSuffix(model, "embedding-004") || model == "embedding-001" {
		dimensions = 768
	}
	if given := cmp.Or(r.Dimensions, r.Config.Dimensions); given != nil {
		dimensions = *given
	}
	const rule = "* EmbedContentRequest.%s: %s\n"
	switch {
	case dimensions < 1 || dimensions > maxDimensions:
		err = google("", rule, "output_dimensionality", fmt.Sprintf("must be in the range [1, %d].", maxDimensions))
	case r.Content.text() == "":
		err = google("", rule, "content", "contents is required")
	}
	return dimensions, err
}
