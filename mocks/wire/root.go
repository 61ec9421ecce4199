package wire

import "strings"

// Root is the part of a path before the endpoint, by which services that imitate OpenAI's API
// differ.
type Root struct {
	// Path is the root, such as "/v1" or "/openai/deployments/gpt-4o"; empty if there is none.
	Path string
	// Deployment is the name of Azure's deployment in the path.
	Deployment string
}

// The roots of OpenRouter and of Groq, which differ from OpenAI in more than their paths. Azure's newer
// API has the same root as Groq.
const (
	rootOpenRouter = "/api/v1"
	rootGroq       = "/openai/v1"
)

// SplitRoot splits a path such as "/openai/v1/chat/completions" into root and endpoint. Azure's older paths have
// a deployment below "/openai", see https://learn.microsoft.com/azure/ai-services/openai/reference;
// Azure's client for Node appends it to any base URL.
func SplitRoot(path string) (root Root, endpoint string) {
	for _, known := range [...]string{"/v1", rootGroq, rootOpenRouter, "/openai"} {
		rest, ok := strings.CutPrefix(path, known)
		if ok {
			rest, ok = strings.CutPrefix(rest, "/")
		}
		if !ok {
			continue
		}
		below, ok := strings.CutPrefix(rest, "deployments/")
		if name, end, whole := strings.Cut(below, "/"); ok && whole && name != "" {
			return Root{Path: path[:len(path)-len(end)-1], Deployment: name}, path[len(path)-len(end)-1:]
		}
		return Root{Path: known}, path[len(known):]
	}
	return Root{}, path
}
