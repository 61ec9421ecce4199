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

// alwaysUsage reports whether the service sends the usage in all streams: Mistral and OpenRouter do, see
// https://openrouter.ai/docs/use-cases/usage-accounting.
func (c OpenAIChat) alwaysUsage(model string) bool {
	return c.Root.Path == rootOpenRouter || isMistral(model)
}

// thinkingField returns the field of an answer with the thinking, which OpenAI's own API does not have:
//   - below the root of OpenRouter "reasoning", for any model, see
//     https://openrouter.ai/docs/use-cases/reasoning-tokens
//   - "" for OpenAI's models, and for Azure's deployments
//   - below the root of Groq "reasoning", see https://console.groq.com/docs/reasoning
//   - elsewhere "reasoning_content", the field of DeepSeek, Qwen, Kimi, GLM and vLLM, see
//     https://api-docs.deepseek.com/guides/reasoning_model
func (c OpenAIChat) thinkingField(model string) string {
	switch {
	case c.Root.Path == rootOpenRouter:
		return "reasoning"
	case c.Root.Deployment != "" || isOpenAI(model):
		return ""
	case c.Root.Path == rootGroq:
		return "reasoning"
	}
	return "reasoning_content"
}
