package wire

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// messageBatches is the endpoint of Anthropic's message batches, see
// https://docs.anthropic.com/en/api/creating-message-batches. Their states are in_progress, canceling and ended: the second
// retrieval of a batch ends it.
const messageBatches = "/messages/batches"

const (
	batchCanceling = "canceling"
	batchEnded     = "ended"
)

// messageBatchID matches the ids of requests.
var messageBatchID = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)

// createMessageBatch answers POST /v1/messages/batches.
func (c storageCall) createMessageBatch() []Frame {
	var r struct {
		Requests []struct {
			CustomID string         `json:"custom_id"`
			Params   jsontext.Value `json:"params"`
		} `json:"requests"`
	}
	if err := jsonv2.Unmarshal(c.Body, &r); err != nil {
		return messageBatchError(http.StatusBadRequest, "invalid_request_error", "%s", decodeError(err).Message)
	}
	invalid := func(format string, args ...any) []Frame {
		return messageBatchError(http.StatusBadRequest, "invalid_request_error", format, args...)
	}
	n := len(r.Requests)
	tooMany := &APIError{Message: fmt.Sprintf("requests: List should have at most %d items, not %d", maxMessageRequests, n)}
	switch {
	case n == 0:
		return invalid("requests: List should have at least 1 item, not 0")
	case n > maxMessageRequests && c.rule(ruleRanges, tooMany) != nil:
		return invalid("%s", tooMany.Message)
	}
	b := &batch{state: batchInProgress, created: c.Now}
	seen := map[string]bool{}
	for i, q := range r.Requests {
		switch {
		case !messageBatchID().MatchString(q.CustomID):
			return invalid("requests.%d.custom_id: String should match pattern '%s'", i, messageBatchID())
		case seen[q.CustomID]:
			return invalid("requests.%d.custom_id: the id '%s' is used twice", i, q.CustomID)
		case q.Params.Kind() != '{':
			return invalid("requests.%d.params: Field required", i)
		}
		var params struct {
			Stream bool `json:"stream"`
		}
		if jsonv2.Unmarshal(q.Params, &params) == nil && params.Stream {
			return invalid("requests.%d.params.stream: streaming is not supported in batches", i)
		}
		seen[q.CustomID] = true
		b.requests = append(b.requests, batchRequest{q.CustomID, "/v1/messages", q.Params})
	}
	b.id = c.newID("msgbatch_")
	c.addBatch(b)
	return jsonValue(c.messageView(b))
}

// getMessageBatch answers GET /v1/messages/batches/ID. A batch that is retrieved for the second time has ended.
func (c storageCall) getMessageBatch() []Frame {
	b := c.batch(c.id, false)
	switch {
	case b == nil:
		return noMessageBatch(c.id)
	case b.state == batchInProgress && b.at[batchValidating].IsZero(): // the first retrieval
		b.at[batchValidating] = c.Now
	case b.state == batchInProgress:
		c.run(b)
		b.enter(batchEnded, c.Now)
	case b.state == batchCanceling:
		b.enter(batchEnded, c.Now)
	}
	return jsonValue(c.messageView(b))
}

// cancelMessageBatch answers POST /v1/messages/batches/ID/cancel.
func (c storageCall) cancelMessageBatch() []Frame {
	b := c.batch(c.id, false)
	switch {
	case b == nil:
		return noMessageBatch(c.id)
	case b.state == batchInProgress:
		b.enter(batchCanceling, c.Now)
	}
	return jsonValue(c.messageView(b))
}

// deleteMessageBatch answers DELETE /v1/messages/batches/ID.
func (c storageCall) deleteMessageBatch() []Frame {
	b := c.batch(c.id, false)
	switch {
	case b == nil:
		return noMessageBatch(c.id)
	case b.state != batchEnded:
		return messageBatchError(http.StatusBadRequest, "invalid_request_error", "Batch %s is still being processed; cancel it first.", b.id)
	}
	c.batches = slices.DeleteFunc(c.batches, func(o *batch) bool { return o == b })
	return jsonFrames("", jsonText(`{"type":"message_batch_deleted","id":`).quote(b.id).raw(`}`))
}

// listMessageBatches answers GET /v1/messages/batches.
func (c storageCall) listMessageBatches() []Frame {
	var views []messageBatchView
	for _, b := range c.newest(false) {
		views = append(views, c.messageView(b))
	}
	p, err := pageOf(views, c.Query, func(v messageBatchView) string { return v.ID }, "")
	if err != nil {
		return messageBatchError(err.Status, "invalid_request_error", "%s", err.Message)
	}
	return jsonValue(p)
}

// messageResults answers GET /v1/messages/batches/ID/results.
func (c storageCall) messageResults() []Frame {
	b := c.batch(c.id, false)
	switch {
	case b == nil:
		return noMessageBatch(c.id)
	case b.state != batchEnded:
		return messageBatchError(http.StatusNotFound, "not_found_error", "Batch %s has no available results.", b.id)
	}
	var out jsonText
	for i, r := range b.requests {
		out = out.raw(`{"custom_id":`).quote(r.customID).raw(`,"result":`)
		switch {
		case i >= len(b.results):
			out = out.raw(`{"type":"canceled"}`)
		case b.results[i].err != nil:
			text := anthropicError(&APIError{Type: "api_error", Message: b.results[i].err.Error()})
			out = append(out.raw(`{"type":"errored","error":`), text...).raw(`}`)
		case b.results[i].failed():
			out = append(out.raw(`{"type":"errored","error":`), bytes.TrimSpace(b.results[i].body)...).raw(`}`)
		default:
			out = append(out.raw(`{"type":"succeeded","message":`), bytes.TrimSpace(b.results[i].body)...).raw(`}`)
		}
		out = out.raw("}\n")
	}
	return []Frame{{Status: http.StatusOK, Header: head("application/x-jsonl", "", len(out)), Data: out}}
}

// messageBatchView is a batch as clients of Anthropic's API see it.
type messageBatchView struct {
	ID                string            `json:"id"`
	Type              string            `json:"type"`
	ProcessingStatus  string            `json:"processing_status"`
	RequestCounts     messageBatchCount `json:"request_counts"`
	CreatedAt         string            `json:"created_at"`
	ExpiresAt         string            `json:"expires_at"`
	EndedAt           *string           `json:"ended_at"`
	CancelInitiatedAt *string           `json:"cancel_initiated_at"`
	ArchivedAt        *string           `json:"archived_at"`
	ResultsURL        *string           `json:"results_url"`
}

type messageBatchCount struct {
	Processing int `json:"processing"`
	Succeeded  int `json:"succeeded"`
	Errored    int `json:"errored"`
	Canceled   int `json:"canceled"`
	Expired    int `json:"expired"`
}

func (c storageCall) messageView(b *batch) messageBatchView {
	at := func(state string) *string {
		if t, ok := b.at[state]; ok {
			return orNil(t.UTC().Format(time.RFC3339))
		}
		return nil
	}
	v := messageBatchView{
		ID: b.id, Type: "message_batch", ProcessingStatus: b.state,
		CreatedAt: b.created.UTC().Format(time.RFC3339), ExpiresAt: b.created.Add(batchWindow).UTC().Format(time.RFC3339),
		EndedAt: at(batchEnded), CancelInitiatedAt: at(batchCanceling),
	}
	if b.state != batchEnded {
		v.RequestCounts.Processing = len(b.requests)
		return v
	}
	v.RequestCounts.Succeeded, v.RequestCounts.Errored = b.count()
	v.RequestCounts.Canceled = len(b.requests) - len(b.results)
	v.ResultsURL = orNil(c.Root + messageBatches + "/" + b.id + "/results")
	return v
}

func messageBatchError(status int, kind, format string, args ...any) []Frame {
	return AnthropicMessages{}.EncodeError(&APIError{Status: status, Type: kind, Message: fmt.Sprintf(format, args...)})
}

func noMessageBatch(id string) []Frame {
	return messageBatchError(http.StatusNotFound, "not_found_error", "message_batch: %.64s not found", id)
}
