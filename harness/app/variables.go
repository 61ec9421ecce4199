package app

// Key is the API key of driven agents. It is not a real key, and scanners for secrets do not
// report it.
const Key = "rehearse-works-nowhere-else"

// Variables returns the usual variables by which clients find a backend, as NAME=value.
// backend is its base URL without "/v1", which OpenAI's clients need and Anthropic's do not.
func Variables(backend string) []string {
	return []string{
		"OPENAI_BASE_URL=" + backend + "/v1",
		"OPENAI_API_BASE=" + backend + "/v1",
		"OPENAI_API_KEY=" + Key,
		"ANTHROPIC_BASE_URL=" + backend,
		"ANTHROPIC_API_KEY=" + Key,
	}
}
