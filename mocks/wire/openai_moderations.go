package wire

import (
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// moderationCategories are those of https://platform.openai.com/docs/guides/moderation.
var moderationCategories = []string{
	"harassment", "harassment/threatening", "hate", "hate/threatening", "illicit", "illicit/violent",
	"self-harm", "self-harm/instructions", "self-harm/intent", "sexual", "sexual/minors", "violence", "violence/graphic",
}

// ModerationCategories returns the categories of OpenAI's moderations.
func ModerationCategories() []string { return slices.Clone(moderationCategories) }

// Moderate answers POST /v1/moderations, see https://platform.openai.com/docs/api-reference/moderations.
// flag returns the categories for which a text is flagged.
func (c OpenAIChat) Moderate(body []byte, flag func(text string) []string) []Frame {
	var r struct {
		Model string         `json:"model"`
		Input jsontext.Value `json:"input"`
	}
	if err := jsonv2.Unmarshal(body, &r); err != nil {
		return c.EncodeError(decodeError(err))
	}
	texts, apiErr := moderationInputs(r.Input)
	if apiErr != nil {
		return c.EncodeError(apiErr)
	}
	if r.Model == "" {
		r.Model = "omni-moderation-latest"
	}
	j := jsonText(`{"id":"modr-rehearse","model":`).quote(r.Model).raw(`,"results":[`)
	for i, text := range texts {
		j = j.comma(i).moderation(flag(text))
	}
	return jsonFrames("", j.raw(`]}`))
}

// moderationInputs reads a text, a list of texts, or a list of parts, which has one result.
func moderationInputs(input jsontext.Value) ([]string, *APIError) {
	var texts []string
	var parts []contentPart
	switch {
	case !given(input):
		return nil, missing("input")
	case input.Kind() == '"':
		return []string{unquoted(input)}, nil
	case input.Kind() != '[':
		return nil, wrongType("input", "a string or an array", input.Kind())
	case jsonv2.Unmarshal(input, &texts) == nil && len(texts) > 0:
		return texts, nil
	case len(texts) == 0 && string(input) == "[]":
		return nil, emptyArray("input")
	}
	if err := jsonv2.Unmarshal(input, &parts); err != nil {
		return nil, decodeError(err)
	}
	for i := range parts {
		if kind := parts[i].Type; kind != "text" && kind != "image_url" {
			return nil, unsupported("input", kind, "text", "image_url")
		}
	}
	return []string{joined(parts, "\n")}, nil
}

// moderation appends the result for one input.
func (j jsonText) moderation(flagged []string) jsonText {
	if len(flagged) == 0 {
		j = j.raw(`{"flagged":false,"categories":{`)
	} else {
		j = j.raw(`{"flagged":true,"categories":{`)
	}
	each := func(name string, value func(category string) string) {
		for i, category := range moderationCategories {
			j = j.comma(i).quote(category).raw(":").raw(value(category))
		}
		j = j.raw(name)
	}
	either := func(yes, no string) func(string) string {
		return func(category string) string {
			if slices.Contains(flagged, category) {
				return yes
			}
			return no
		}
	}
	each(`},"category_scores":{`, either("true", "false"))
	each(`},"category_applied_input_types":{`, either("0.98", "0.0001"))
	each(`}}`, either(`["text"]`, `["text"]`))
	return j
}
