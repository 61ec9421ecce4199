package wire

import (
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// openAIModel matches the names of OpenAI's own models. The gpt-oss models are served by others.
var openAIModel = lazyregexp.New(`^(gpt-[0-9]|chatgpt-|codex-|computer-use-|o[1-9]($|-)|ft:|text-)`)

// isOpenAI reports whether a model is one of OpenAI's, also as named by gateways: "openai/gpt-5".
func isOpenAI(model string) bool {
	return openAIModel().MatchString(strings.TrimPrefix(model, "openai/"))
}

// mistralModel matches the names of Mistral's models.
var mistralModel = lazyregexp.New(`\b(open-)?(mis|minis|magis|codes|devs|pix|mix)tral`)

// isMistral reports whether a model is one of Mistral's, whose API differs from OpenAI's in more than its
// paths, see https://docs.mistral.ai/api.
func isMistral(model string) bool {
	return strings.Contains(model, "tral") && mistralModel().MatchString(model)
}

// service is a service with OpenAI's chat completions, as far as its answers differ from those of others.
type service uint8

const (
	otherService service = iota // such as DeepSeek, or a server of the user's own
	openAI                      // and Azure
	openRouter
	groq
	mistral
)

// service returns the service that a request for a model is sent to. Groq and Azure's newer API have one root.
func (c OpenAIChat) service(model string) service {
	switch {
	case c.Root.Path == rootOpenRouter:
		return openRouter
	case c.Root.Deployment != "" || isOpenAI(model):
		return openAI
	case c.Root.Path == rootGroq:
		return groq
	case isMistral(model):
		return mistral
	}
	return otherService
}

// alwaysUsage reports whether the service sends the usage in all streams, see
// https://openrouter.ai/docs/use-cases/usage-accounting.
func (s service) alwaysUsage() bool { return s == openRouter || s == groq || s == mistral }

// thinkingField returns the field of an answer with the thinking, which OpenAI's own API does not have:
//   - "" for OpenAI's models, and for Azure's deployments
//   - "reasoning" for OpenRouter, see https://openrouter.ai/docs/use-cases/reasoning-tokens, and for Groq, see
//     https://console.groq.com/docs/reasoning
//   - elsewhere "reasoning_content", the field of DeepSeek, Qwen, Kimi, GLM and vLLM, see
//     https://api-docs.deepseek.com/guides/reasoning_model
func (s service) thinkingField() string {
	switch s {
	case openAI:
		return ""
	case openRouter, groq:
		return "reasoning"
	default:
		return "reasoning_content"
	}
}
