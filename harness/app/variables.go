package app

// Key is the API key that agents find. It works nowhere else, and no scanner of secrets
// takes it for one.
const Key = "rehearse-works-nowhere-else"

// Variables are the usual variables by which clients find a backend, as NAME=value.
// backend is its base URL without "/v1". OpenAI's clients want the version in the URL,
// Anthropic's do not.
func Variables(backend string) []string {
	return []string{
		"OPENAI_BASE_URL=" + backend + "/v1",
		"OPENAI_API_BASE=" + backend + "/v1",
		"OPENAI_API_KEY=" + Key,
		"ANTHROPIC_BASE_URL=" + backend,
		"ANTHROPIC_API_KEY=" + Key,
	}
}
