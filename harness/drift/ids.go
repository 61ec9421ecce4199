package drift

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// ids maps the ids of files and batches in the capture to those of the repeated requests.
type ids map[string]string

// idFields are the members of an answer with the id of a file or a batch.
type idFields struct {
	ID         string `json:"id"`
	OutputFile string `json:"output_file_id"`
	ErrorFile  string `json:"error_file_id"`
}

// learn adds the ids of an answer, each with its counterpart in the captured one.
func (m ids) learn(captured, now []byte) {
	var before, after idFields
	if json.Unmarshal(captured, &before) != nil || json.Unmarshal(now, &after) != nil {
		return // the content of a file
	}
	for _, pair := range [...][2]string{{before.ID, after.ID}, {before.OutputFile, after.OutputFile}, {before.ErrorFile, after.ErrorFile}} {
		if pair[0] != "" && pair[1] != "" {
			m[pair[0]] = pair[1]
		}
	}
}

// replace returns a captured request about files or batches with the ids of now, or why it cannot be repeated.
// Other requests are unchanged.
func (m ids) replace(codec wire.Reader, x *tape.Exchange) (sent tape.Exchange, why string) {
	sent = *x
	if _, stored := codec.(wire.Stored); !stored {
		return sent, ""
	}
	_, endpoint := wire.SplitRoot(x.Path)
	request := wire.StorageRequestOf(x.Verb(), endpoint)
	if request == "GET /v1/messages/batches/*/results" || request == "DELETE /v1/messages/batches/*" {
		return sent, "the batch has not ended yet"
	}
	before, after, _ := strings.Cut(strings.TrimPrefix(request, x.Verb()+" /v1"), "*")
	if id := strings.TrimSuffix(strings.TrimPrefix(endpoint, before), after); id != "" {
		if m[id] == "" {
			return sent, noCounterpart(id)
		}
		sent.Path = strings.Replace(x.Path, id, m[id], 1)
	}
	var asked struct {
		InputFile string `json:"input_file_id"`
	}
	if json.Unmarshal(x.Request, &asked) == nil && asked.InputFile != "" {
		if m[asked.InputFile] == "" {
			return sent, noCounterpart(asked.InputFile)
		}
		sent.Request = bytes.ReplaceAll(x.Request, []byte(asked.InputFile), []byte(m[asked.InputFile]))
	}
	return sent, ""
}

func noCounterpart(id string) string {
	return "the file or batch " + id + " of the capture has no counterpart now"
}
