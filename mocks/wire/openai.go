package wire

import "time"

// OpenAIChat implements the chat-completions protocol of OpenAI's API, see
// https://platform.openai.com/docs/api-reference/chat. It ignores fields without a neutral form
// if the provider accepts them. It differs from the provider in one way: metadata, in which agents
// send the purpose of a call, does not need "store".
type OpenAIChat struct {
	// Root of the path. It selects the service's form of thinking, and Azure's deployment replaces
	// the model of a request.
	Root Root

	mistral bool // the request is for a model of Mistral's; see ForModel
}

var _ Codec = OpenAIChat{}

// Protocol implements Codec.
func (OpenAIChat) Protocol() string { return "openai-chat" }

// invalidRequest is the type of the errors that the request itself causes.
const invalidRequest = "invalid_request_error"

// quotaCode is the code of a used-up quota.
const quotaCode = "insufficient_quota"

// EncodeModel answers GET /v1/models/<model>.
func (OpenAIChat) EncodeModel(model string, created time.Time) []Frame {
	return jsonFrames("", jsonText(nil).openAIModel(model, created))
}

func (j jsonText) openAIModel(model string, created time.Time) jsonText {
	return j.raw(`{"id":`).quote(model).raw(`,"object":"model","created":`).unix(created).raw(`,"owned_by":"rehearse"}`)
}

// EncodeModels answers GET /v1/models with the only model.
func (OpenAIChat) EncodeModels(model string, created time.Time) []Frame {
	return jsonFrames("", jsonText(`{"object":"list","data":[`).openAIModel(model, created).raw(`]}`))
}
