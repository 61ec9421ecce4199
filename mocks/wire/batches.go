package wire

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The states of a batch. Each retrieval advances it by one: validating, in_progress, completed; or validating, failed;
// or cancelling, cancelled.
const (
	batchValidating = "validating"
	batchInProgress = "in_progress"
	batchCompleted  = "completed"
	batchFailed     = "failed"
	batchCancelling = "cancelling"
	batchCancelled  = "cancelled"
)

// Limits of batches.
const (
	maxBatchRequests = 50_000
	// https://platform.claude.com/docs/en/api/messages/batches/create
	maxMessageRequests = 100_000
	maxBatchErrors     = 20 // that are reported
	maxCustomID        = 512
	batchWindow        = 24 * time.Hour
)

// batchEndpoints are the endpoints for requests of a batch, see
// https://developers.openai.com/api/reference/resources/batches/methods/create. The server has not all of them.
var batchEndpoints = []string{
	"/v1/responses", "/v1/chat/completions", "/v1/embeddings", "/v1/completions", "/v1/moderations", "/v1/images/generations",
	"/v1/images/edits", "/v1/videos",
}

// batch is a batch of either provider.
type batch struct {
	id       string
	requests []batchRequest
	state    string
	created  time.Time
	at       map[string]time.Time // of each state since then
	results  []batchResult
	openAI   *openAIBatch // nil for Anthropic's
}

// batchRequest is one request of a batch.
type batchRequest struct {
	customID, endpoint string
	body               jsontext.Value
}

// batchResult is the answer to a request; err is the failure of the connection.
type batchResult struct {
	customID string
	status   int
	body     jsontext.Value
	err      error
}

func (r *batchResult) failed() bool { return r.err != nil || r.status != http.StatusOK }

// addBatch stores a batch, and drops the oldest one beyond the limit.
func (s *Storage) addBatch(b *batch) {
	b.at = map[string]time.Time{b.state: b.created}
	s.batches = append(s.batches, b)
	if s.Keep > 0 && len(s.batches) > s.Keep {
		s.batches = slices.Delete(s.batches, 0, 1)
	}
}

// batch returns the batch with an id; nil if there is none.
func (s *Storage) batch(id string, openAI bool) *batch {
	for _, b := range s.batches {
		if b.id == id && (b.openAI != nil) == openAI {
			return b
		}
	}
	return nil
}

// newest returns the batches of a provider, newest first.
func (s *Storage) newest(openAI bool) []*batch {
	var all []*batch
	for _, b := range slices.Backward(s.batches) {
		if (b.openAI != nil) == openAI {
			all = append(all, b)
		}
	}
	return all
}

func (b *batch) enter(state string, now time.Time) {
	b.state, b.at[state] = state, now
}

// run answers all requests of the batch, in order.
func (c storageCall) run(b *batch) {
	for _, r := range b.requests {
		result := batchResult{customID: r.customID}
		result.status, result.body, result.err = c.answer(r)
		b.results = append(b.results, result)
	}
}

func (c storageCall) answer(r batchRequest) (status int, body jsontext.Value, err error) {
	status, answer, err := c.Answer(r.endpoint, r.body)
	if body = answer; err == nil && !body.IsValid() {
		err = fmt.Errorf("the answer with status %d is not JSON", status)
	}
	return status, body, err
}

// count returns the numbers of answered and of failed requests.
func (b *batch) count() (answered, failed int) {
	for i := range b.results {
		if b.results[i].failed() {
			failed++
		} else {
			answered++
		}
	}
	return answered, failed
}

// openAIBatch has the parts of a batch of OpenAI's API.
type openAIBatch struct {
	inputFile, endpoint, window string
	outputFile, errorFile       string
	metadata                    map[string]string
	errors                      []batchError
}

// batchError is a mistake in the input file.
type batchError struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Param   *string `json:"param"`
	Line    *int    `json:"line"`
}

// createBatch answers POST /v1/batches, see https://platform.openai.com/docs/api-reference/batch.
func (c storageCall) createBatch() []Frame {
	var r struct {
		InputFileID      string            `json:"input_file_id"`
		Endpoint         string            `json:"endpoint"`
		CompletionWindow string            `json:"completion_window"`
		Metadata         map[string]string `json:"metadata"`
	}
	if err := jsonv2.Unmarshal(c.Body, &r); err != nil {
		return OpenAIChat{}.EncodeError(decodeError(err))
	}
	var err *APIError
	switch {
	case r.InputFileID == "":
		err = missing("input_file_id")
	case r.Endpoint == "":
		err = missing("endpoint")
	case r.CompletionWindow == "":
		err = missing("completion_window")
	case isStorage(r.Endpoint): // a batch of batches
		err = unsupported("endpoint", r.Endpoint, batchEndpoints...)
	case !slices.Contains(batchEndpoints, r.Endpoint):
		err = c.rule(ruleUnknownValue, unsupported("endpoint", r.Endpoint, batchEndpoints...))
	}
	if err == nil && r.CompletionWindow != "24h" {
		err = c.rule(ruleUnknownValue, unsupported("completion_window", r.CompletionWindow, "24h"))
	}
	if err == nil {
		err = checkMetadata(r.Metadata)
	}
	if err == nil {
		var f *storedFile
		if f, err = c.file(r.InputFileID, "input_file_id"); err == nil && f.Purpose != purposeBatch {
			err = bad("input_file_id", "invalid_value", "Invalid input file: expected the purpose '%s', but got '%s'.", purposeBatch, f.Purpose)
		}
	}
	if err != nil {
		return OpenAIChat{}.EncodeError(err)
	}
	b := &batch{id: c.newID("batch_"), state: batchValidating, created: c.Now, openAI: &openAIBatch{
		inputFile: r.InputFileID, endpoint: r.Endpoint, window: r.CompletionWindow, metadata: r.Metadata,
	}}
	c.addBatch(b)
	return jsonValue(b.view())
}

// getBatch answers GET /v1/batches/ID, and advances the batch.
func (c storageCall) getBatch() []Frame {
	b := c.batch(c.id, true)
	if b == nil {
		return noBatch(c.id)
	}
	switch b.state {
	case batchValidating:
		c.validate(b)
	case batchInProgress:
		c.complete(b)
	case batchCancelling:
		b.enter(batchCancelled, c.Now)
	}
	return jsonValue(b.view())
}

// validate reads the input file.
func (c storageCall) validate(b *batch) {
	if f, err := c.file(b.openAI.inputFile, ""); err != nil {
		b.openAI.errors = []batchError{{Code: "invalid_input_file", Message: err.Message}}
	} else {
		b.requests, b.openAI.errors = readBatch(f.content, b.openAI.endpoint)
		if n := len(b.requests); n > maxBatchRequests && c.Rules.applies(ruleRanges) {
			message := fmt.Sprintf("The batch has %d requests; at most %d are allowed.", n, maxBatchRequests)
			b.openAI.errors = []batchError{{Code: "too_many_tasks", Message: message}}
		}
	}
	if len(b.openAI.errors) > 0 {
		b.requests = nil
		b.enter(batchFailed, c.Now)
		return
	}
	b.enter(batchInProgress, c.Now)
}

// complete answers the requests and stores the files of their answers.
func (c storageCall) complete(b *batch) {
	c.run(b)
	var output, errors jsonText
	for i := range b.results {
		r := &b.results[i]
		line := jsonText(`{"id":`).quote(c.newID("batch_req_")).raw(`,"custom_id":`).quote(r.customID)
		if r.err != nil {
			line = line.raw(`,"response":null,"error":{"code":"server_error","message":`).quote(r.err.Error()).raw("}}\n")
		} else {
			line = append(line.raw(`,"response":{"status_code":`).int(r.status).raw(`,"request_id":`).quote(b.id+"-"+r.customID).
				raw(`,"body":`), bytes.TrimSpace(r.body)...).raw("},\"error\":null}\n")
		}
		if r.failed() {
			errors = append(errors, line...)
		} else {
			output = append(output, line...)
		}
	}
	if len(output) > 0 {
		b.openAI.outputFile = c.addFile(b.id+"_output.jsonl", purposeOutput, output, c.Now).ID
	}
	if len(errors) > 0 {
		b.openAI.errorFile = c.addFile(b.id+"_error.jsonl", purposeOutput, errors, c.Now).ID
	}
	b.enter(batchCompleted, c.Now)
}

// cancelBatch answers POST /v1/batches/ID/cancel.
func (c storageCall) cancelBatch() []Frame {
	b := c.batch(c.id, true)
	switch {
	case b == nil:
		return noBatch(c.id)
	case b.state != batchValidating && b.state != batchInProgress:
		return OpenAIChat{}.EncodeError(bad("", "", "Cannot cancel a batch with status '%s'.", b.state))
	}
	b.enter(batchCancelling, c.Now)
	return jsonValue(b.view())
}

// listBatches answers GET /v1/batches.
func (c storageCall) listBatches() []Frame {
	var views []batchView
	for _, b := range c.newest(true) {
		views = append(views, b.view())
	}
	p, err := pageOf(views, c.Query, func(v batchView) string { return v.ID }, "list")
	if err != nil {
		return OpenAIChat{}.EncodeError(err)
	}
	return jsonValue(p)
}

func noBatch(id string) []Frame {
	err := bad("", "", "No batch found with id '%.64s'.", id)
	err.Status = http.StatusNotFound
	return OpenAIChat{}.EncodeError(err)
}

// batchView is a batch as clients of OpenAI's API see it.
type batchView struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"`
	Endpoint         string            `json:"endpoint"`
	Errors           *page[batchError] `json:"errors"`
	InputFileID      string            `json:"input_file_id"`
	CompletionWindow string            `json:"completion_window"`
	Status           string            `json:"status"`
	OutputFileID     *string           `json:"output_file_id"`
	ErrorFileID      *string           `json:"error_file_id"`
	CreatedAt        int64             `json:"created_at"`
	InProgressAt     *int64            `json:"in_progress_at"`
	ExpiresAt        int64             `json:"expires_at"`
	FinalizingAt     *int64            `json:"finalizing_at"`
	CompletedAt      *int64            `json:"completed_at"`
	FailedAt         *int64            `json:"failed_at"`
	ExpiredAt        *int64            `json:"expired_at"`
	CancellingAt     *int64            `json:"cancelling_at"`
	CancelledAt      *int64            `json:"cancelled_at"`
	RequestCounts    batchCounts       `json:"request_counts"`
	Metadata         map[string]string `json:"metadata"`
}

type batchCounts struct {
	Total     int `json:"total"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
}

func (b *batch) view() batchView {
	at := func(state string) *int64 {
		t, ok := b.at[state]
		if !ok {
			return nil
		}
		seconds := unixSeconds(t)
		return &seconds
	}
	o := b.openAI
	v := batchView{
		ID: b.id, Object: "batch", Endpoint: o.endpoint, InputFileID: o.inputFile, CompletionWindow: o.window, Status: b.state,
		OutputFileID: orNil(o.outputFile), ErrorFileID: orNil(o.errorFile),
		CreatedAt: unixSeconds(b.created), ExpiresAt: unixSeconds(b.created.Add(batchWindow)),
		InProgressAt: at(batchInProgress), FinalizingAt: at(batchCompleted), CompletedAt: at(batchCompleted), FailedAt: at(batchFailed),
		CancellingAt: at(batchCancelling), CancelledAt: at(batchCancelled), Metadata: maps.Clone(o.metadata),
	}
	if len(o.errors) > 0 {
		v.Errors = &page[batchError]{Object: "list", Data: o.errors}
	}
	v.RequestCounts.Total = len(b.requests)
	v.RequestCounts.Completed, v.RequestCounts.Failed = b.count()
	return v
}

// orNil returns nil for an empty text.
func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
