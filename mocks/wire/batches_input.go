package wire

import (
	"bytes"
	"fmt"
	"net/http"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// readBatch reads the lines of an input file.
func readBatch(content []byte, endpoint string) (requests []batchRequest, errors []batchError) {
	seen := map[string]bool{}
	n := 0
	for line := range bytes.Lines(content) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		r, problem := readBatchLine(line, endpoint, seen)
		if problem != nil {
			at := n
			problem.Line = &at
			if errors = append(errors, *problem); len(errors) == maxBatchErrors {
				break
			}
			continue
		}
		requests = append(requests, r)
	}
	switch {
	case len(errors) > 0:
		return nil, errors
	case len(requests) == 0:
		return nil, []batchError{{Code: "empty_file", Message: "The input file is empty: a batch needs at least one request."}}
	}
	return requests, nil
}

// readBatchLine reads one request. seen has the ids so far.
func readBatchLine(line []byte, endpoint string, seen map[string]bool) (batchRequest, *batchError) {
	var r struct {
		CustomID string         `json:"custom_id"`
		Method   string         `json:"method"`
		URL      string         `json:"url"`
		Body     jsontext.Value `json:"body"`
	}
	fail := func(code, param, format string, args ...any) (batchRequest, *batchError) {
		e := &batchError{Code: code, Message: fmt.Sprintf(format, args...)}
		if param != "" {
			e.Param = &param
		}
		return batchRequest{}, e
	}
	if jsonv2.Unmarshal(line, &r) != nil {
		return fail("invalid_json_line", "", "This line is not parseable as valid JSON.")
	}
	var body struct {
		Stream bool `json:"stream"`
	}
	switch {
	case r.CustomID == "":
		return fail("missing_required_parameter", "custom_id", "Missing required parameter: 'custom_id'.")
	case len(r.CustomID) > maxCustomID:
		return fail("invalid_value", "custom_id", "The custom_id is longer than %d bytes.", maxCustomID)
	case seen[r.CustomID]:
		return fail("duplicate_custom_id", "custom_id", "The custom_id '%.64s' for this request is a duplicate of another request.", r.CustomID)
	case r.Method != http.MethodPost:
		return fail("invalid_method", "method", "Invalid method: expected POST, got '%.20s'.", r.Method)
	case r.URL != endpoint:
		return fail("invalid_url", "url", "The URL '%.100s' of this request does not match the endpoint '%s' of the batch.", r.URL, endpoint)
	case r.Body.Kind() != '{':
		return fail("invalid_request", "body", "The body of this request is not an object.")
	case jsonv2.Unmarshal(r.Body, &body) == nil && body.Stream:
		return fail("invalid_request", "body.stream", "Streaming is not supported in batches.")
	}
	seen[r.CustomID] = true
	return batchRequest{r.CustomID, r.URL, r.Body}, nil
}
