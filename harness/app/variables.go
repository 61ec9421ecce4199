package app

// Key is the API key of driven agents. It is not a real key, and scanners for secrets do not
// report it.
const Key = "rehearse-works-nowhere-else"

// Variables returns the usual variables by which clients find a backend, as NAME=value.
// backend is its base URL without "/v1", which only OpenAI's clients need. Clients of Mistral and
// OpenRouter read only a key.
func Variables(backend string) []string {
	return []string{
		"OPENAI_BASE_URL=" + backend + "/v1",
		"OPENAI_API_BASE=" + backend + "/v1",
		"OPENAI_API_KEY=" + Key,
		"ANTHROPIC_BASE_URL=" + backend,
		"ANTHROPIC_API_KEY=" + Key,
		"GOOGLE_GEMINI_BASE_URL=" + backend,
		"GEMINI_API_KEY=" + Key,
		"OLLAMA_HOST=" + backend,
		"AWS_ENDPOINT_URL_BEDROCK_RUNTIME=" + backend,
		"AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=" + Key,
		"AWS_SECRET_ACCESS_KEY=" + Key,
		"AZURE_OPENAI_ENDPOINT=" + backend,
		"AZURE_OPENAI_API_KEY=" + Key,
		"GROQ_BASE_URL=" + backend,
		"GROQ_API_KEY=" + Key,
		"MISTRAL_API_KEY=" + Key,
		"OPENROUTER_API_KEY=" + Key,
	}
}
