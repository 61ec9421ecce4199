package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// storage collects the batches of a tape. Their requests become lines like those of other calls.
type storage struct {
	files   map[string][]byte // contents by id
	batches []*batch
	faults  []mocks.StorageFault
}

// batch is a batch of a tape.
type batch struct {
	n         int // of the exchange that created it
	id, input string
	outputs   []string // files
	requests  []batchRequest
	results   map[string]batchResult // by custom id
}

// batchRequest is a request in either provider's form.
type batchRequest struct {
	CustomID string          `json:"custom_id"`
	URL      string          `json:"url"`
	Body     json.RawMessage `json:"body"`
	Params   json.RawMessage `json:"params"` // Anthropic's body
}

// batchResult is the answer to a request in either provider's form.
type batchResult struct {
	CustomID string `json:"custom_id"`
	Response *struct {
		Status int             `json:"status_code"`
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
	Result struct {
		Type    string          `json:"type"`
		Message json.RawMessage `json:"message"`
		Error   json.RawMessage `json:"error"`
	} `json:"result"`
}

// add reads an exchange about files or batches.
func (s *storage) add(x *tape.Exchange) {
	_, endpoint := wire.SplitRoot(x.Path)
	request := wire.StorageRequestOf(x.Verb(), endpoint)
	if x.Status >= http.StatusBadRequest {
		s.fail(x, request)
		return
	}
	var answer struct {
		ID         string `json:"id"`
		OutputFile string `json:"output_file_id"`
		ErrorFile  string `json:"error_file_id"`
	}
	_ = json.Unmarshal(x.Body, &answer) // the content of a file has no id
	var asked struct {
		InputFile string         `json:"input_file_id"`
		Requests  []batchRequest `json:"requests"`
	}
	_ = json.Unmarshal(x.Request, &asked) // only batches have these fields
	id := path.Base(strings.TrimSuffix(endpoint, "/content"))
	switch request {
	case "POST /v1/files":
		if form, err := wire.ParseForm(x.Form); err == nil && len(form.Files) > 0 {
			s.keep(answer.ID, form.Files[0].Content)
		}
	case "GET /v1/files/*/content":
		s.keep(id, x.Body)
	case "POST /v1/batches", "POST /v1/messages/batches":
		s.batches = append(s.batches, &batch{n: x.N, id: answer.ID, input: asked.InputFile, requests: asked.Requests})
	case "GET /v1/batches/*":
		if b := s.batch(id); b != nil {
			b.outputs = []string{answer.OutputFile, answer.ErrorFile}
		}
	case "GET /v1/messages/batches/*/results":
		if b := s.batch(path.Base(path.Dir(endpoint))); b != nil {
			b.read(x.Body)
		}
	}
}

// fail adds a fault for an error that the scripted backend would not answer by itself.
func (s *storage) fail(x *tape.Exchange, request string) {
	if x.Status != http.StatusRequestTimeout && x.Status != http.StatusConflict && x.Status != http.StatusTooManyRequests && x.Status < 500 {
		return
	}
	e := wire.ReadError(x.Status, nil, x.Body)
	s.faults = append(s.faults, mocks.StorageFault{Request: request, Fault: mocks.Fault{
		Kind: "status", Status: x.Status, RetryAfter: quantity.Duration(x.RetryAfter), Message: e.Message,
	}})
}

func (s *storage) keep(id string, content []byte) {
	if s.files == nil {
		s.files = map[string][]byte{}
	}
	s.files[id] = content
}

func (s *storage) batch(id string) *batch {
	i := slices.IndexFunc(s.batches, func(b *batch) bool { return b.id == id })
	if i < 0 {
		return nil
	}
	return s.batches[i]
}

// read reads results, a line each.
func (b *batch) read(content []byte) {
	if b.results == nil {
		b.results = map[string]batchResult{}
	}
	for line := range bytes.Lines(content) {
		var r batchResult
		if json.Unmarshal(line, &r) == nil {
			b.results[r.CustomID] = r
		}
	}
}

// addBatches adds the requests of all batches with their answers, in the order of the input.
func (m *maker) addBatches() {
	for _, b := range m.storage.batches {
		for line := range bytes.Lines(m.storage.files[b.input]) {
			var r batchRequest
			if json.Unmarshal(line, &r) == nil {
				b.requests = append(b.requests, r)
			}
		}
		for _, id := range b.outputs {
			b.read(m.storage.files[id])
		}
		if len(b.requests) == 0 {
			m.skipped = append(m.skipped, Skipped{b.n, fmt.Sprintf("the input of batch %.64s is not on the tape", b.id)})
		}
		for _, r := range b.requests {
			if why := m.addBatchRequest(b, &r); why != "" {
				m.skipped = append(m.skipped, Skipped{b.n, fmt.Sprintf("request %.64s of batch %.64s: %s", r.CustomID, b.id, why)})
			}
		}
	}
}

// addBatchRequest adds a request of a batch as if it had been made alone, or returns why it cannot.
func (m *maker) addBatchRequest(b *batch, r *batchRequest) (why string) {
	x := tape.Exchange{N: b.n, Path: r.URL, Request: r.Body, Status: http.StatusOK, ContentType: "application/json"}
	if r.Params != nil {
		x.Path, x.Request = "/v1/messages", r.Params
	}
	codec, ok := wire.ForPath(http.MethodPost, x.Path)
	result, answered := b.results[r.CustomID]
	switch {
	case !ok: // embeddings and moderations
		return ""
	case !answered:
		return "its answer was not retrieved"
	case result.Response != nil:
		x.Status, x.Body = result.Response.Status, []byte(result.Response.Body)
	case result.Result.Message != nil:
		x.Body = []byte(result.Result.Message)
	case result.Result.Error != nil:
		x.Body = []byte(result.Result.Error)
		x.Status = wire.ReadError(0, nil, x.Body).Status
	default:
		return "it has no answer: " + result.Result.Type
	}
	x.Protocol = codec.Protocol()
	t, why := m.turn(&x)
	if why == "" && t.answer.Frames != nil {
		why = "its images do not fit into a script"
	}
	if why == "" {
		t.answer.Latency = nil // the time of the batch
		m.insert(t)
	}
	return why
}
