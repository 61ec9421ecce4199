package incident

import "strings"

// maxDetect is the number of documents of a file that are searched for the marks of a format.
const maxDetect = 50

// detect returns the format of documents, or "".
func detect(docs []document) Format {
	for _, d := range docs[:min(len(docs), maxDetect)] {
		if f := detectOne(d.value); f != "" {
			return f
		}
	}
	return ""
}

func detectOne(v *value) Format {
	kind := v.at("type").text()
	switch {
	case v.at("resourceSpans") != nil, v.at("resourceLogs") != nil:
		return OTLP
	case strings.HasPrefix(v.at("schema").text(), "rehearse.recording/"):
		return Recording
	case v.at("payload") != nil && (kind == "session_meta" || kind == "response_item" || kind == "event_msg"):
		return Codex
	case v.at("sessionId") != nil && v.at("traceId") == nil && kind != "":
		return Claude
	case isObservation(v), len(observationsOf(v)) > 0:
		return Langfuse
	case v.at("results", "results") != nil, v.at("prompts") != nil && v.at("providers") != nil:
		return Promptfoo
	}
	return ""
}
