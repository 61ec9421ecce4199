package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/maphash"
	"io"
	"net/http"
	"reflect"
	"slices"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	goopenai "github.com/sashabaranov/go-openai"
)

// maxRequests limits Requests, in bytes of bodies.
const maxRequests = 4 << 20

// Requests remembers encoded requests for backends of one configuration that send the same ones again and again, such
// as those of an exploration: to encode a long conversation takes longer than everything else that a scripted call
// does. Streamed requests are not remembered. It is safe for concurrent use; the zero value is ready to use.
type Requests struct {
	mu   sync.Mutex
	seed maphash.Seed
	sent map[uint64]sentRequest
	size int
}

// sentRequest is a request as go-openai sent it.
type sentRequest struct {
	chat goopenai.ChatCompletionRequest
	http *http.Request
	body []byte
}

// create is client.CreateChatCompletion with the backend's remembered requests.
func (x *exchange) create(
	ctx context.Context, client *goopenai.Client, chat goopenai.ChatCompletionRequest,
) (res goopenai.ChatCompletionResponse, err error) {
	known := x.backend.cfg.Requests
	if known == nil {
		return client.CreateChatCompletion(ctx, chat)
	}
	hash := known.hash(&chat)
	req, ok := known.find(hash, &chat)
	if !ok {
		res, err = client.CreateChatCompletion(ctx, chat)
		known.add(hash, &chat, x.request)
		return res, err
	}
	again := req.http.WithContext(ctx)
	again.Body = io.NopCloser(bytes.NewReader(req.body))
	answer, err := x.Do(again) //nolint:bodyclose // it is in memory
	if err != nil {
		return res, err
	}
	return decode(answer.Body)
}

// decoding decodes like encoding/json, but a message at once, which go-openai decodes twice.
var decoding = jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv2.WithUnmarshalers(
	jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, m *goopenai.ChatCompletionMessage) error {
		type plain goopenai.ChatCompletionMessage
		return jsonv2.UnmarshalDecode(d, (*plain)(m))
	}),
))

// decode does what go-openai does, in a third of the time.
func decode(body io.Reader) (res goopenai.ChatCompletionResponse, err error) {
	data, err := io.ReadAll(body)
	if err != nil || jsonv2.Unmarshal(data, &res, decoding) == nil {
		return res, err
	}
	res = goopenai.ChatCompletionResponse{} // again, for its error
	err = json.NewDecoder(bytes.NewReader(data)).Decode(&res)
	return res, err
}

// hash returns a hash of the conversation.
func (r *Requests) hash(chat *goopenai.ChatCompletionRequest) uint64 {
	r.mu.Lock()
	if r.sent == nil {
		r.seed, r.sent = maphash.MakeSeed(), map[uint64]sentRequest{}
	}
	r.mu.Unlock()
	var h maphash.Hash
	h.SetSeed(r.seed)
	for i := range chat.Messages {
		_, _ = h.WriteString(chat.Messages[i].Content)
	}
	return h.Sum64()
}

// find returns the remembered form of a request.
func (r *Requests) find(hash uint64, chat *goopenai.ChatCompletionRequest) (sentRequest, bool) {
	r.mu.Lock()
	known, ok := r.sent[hash]
	r.mu.Unlock()
	return known, ok && sameRequest(known.chat, *chat)
}

// sameRequest reports whether two requests are encoded alike.
func sameRequest(a, b goopenai.ChatCompletionRequest) bool {
	if !slices.EqualFunc(a.Messages, b.Messages, sameMessage) {
		return false
	}
	a.Messages, b.Messages = nil, nil
	return reflect.DeepEqual(a, b)
}

// sameMessage compares what messages sets.
func sameMessage(a, b goopenai.ChatCompletionMessage) bool {
	return a.Content == b.Content && a.Role == b.Role && a.Name == b.Name && a.ToolCallID == b.ToolCallID &&
		(len(a.ToolCalls)+len(b.ToolCalls) == 0 || reflect.DeepEqual(a.ToolCalls, b.ToolCalls))
}

// add remembers a request that was sent; it does nothing for nil, a request that was not.
func (r *Requests) add(hash uint64, chat *goopenai.ChatCompletionRequest, sent *http.Request) {
	if sent == nil || sent.GetBody == nil {
		return
	}
	copied, _ := sent.GetBody() // of bytes in memory
	body, err := io.ReadAll(copied)
	if err != nil || len(body) > maxRequests {
		return
	}
	kept := sent.WithContext(context.Background()) // the context of the call may refer to a whole trial
	kept.Body, kept.GetBody = nil, nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size += len(body); r.size > maxRequests {
		clear(r.sent)
		r.size = len(body)
	}
	r.sent[hash] = sentRequest{*chat, kept, body}
}
