package wire

import (
	"bytes"
	"net/http"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// maxStored limits a ResponseStore, in bytes.
const maxStored = 64 << 20

// ResponseStore stores the answers of one trial like the Responses API: later requests can refer
// to them by previous_response_id and item_reference. Beyond 64 MB it drops the oldest. It is safe
// for concurrent use; the zero value is ready to use.
type ResponseStore struct {
	// Keep is the maximum number of answers, set before the first use; 0 means no limit.
	Keep int

	mu     sync.Mutex
	byID   map[string]*storedResponse
	order  []string // keys of byID, oldest first
	size   int
	unread []*storedResponse // their items are not in items yet
	items  map[string]item
}

// storedResponse is one answer with the conversation before it.
type storedResponse struct {
	previous *storedResponse // may be nil
	input    []item
	frames   []Frame // of the answer
	streamed bool
	size     int
	once     sync.Once
	output   []item
}

// Remember stores the frames of the answer to the call, if the protocol stores answers and the
// call allows it.
func (c *Call) Remember(id string, frames []Frame) {
	if c.store != nil && id != "" {
		c.store.add(c, id, frames)
	}
}

func (s *ResponseStore) add(call *Call, id string, frames []Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil {
		s.byID, s.items = map[string]*storedResponse{}, map[string]item{}
	}
	r := &storedResponse{previous: s.byID[call.previous], input: call.input, frames: frames, streamed: call.Stream, size: call.inputSize}
	for i := range frames {
		r.size += len(frames[i].Data)
	}
	s.drop(id)
	s.byID[id] = r
	s.order = append(s.order, id)
	s.unread = append(s.unread, r)
	s.size += r.size
	for len(s.order) > 1 && (s.size > maxStored || s.Keep > 0 && len(s.order) > s.Keep) {
		s.drop(s.order[0])
	}
}

// drop removes an answer and its items. Later answers of the conversation keep them reachable.
func (s *ResponseStore) drop(id string) {
	r, ok := s.byID[id]
	if !ok {
		return
	}
	delete(s.byID, id)
	s.size -= r.size
	s.order = slices.DeleteFunc(s.order, func(o string) bool { return o == id })
	if i := slices.Index(s.unread, r); i >= 0 {
		s.unread = slices.Delete(s.unread, i, i+1)
		return
	}
	for _, t := range r.items() {
		delete(s.items, t.ID)
	}
}

// conversation returns all items up to and including an answer; ok is false if the id is unknown.
func (s *ResponseStore) conversation(id string) (all []item, ok bool) {
	s.mu.Lock()
	r, ok := s.byID[id]
	s.mu.Unlock()
	var chain []*storedResponse
	for ; r != nil; r = r.previous {
		chain = append(chain, r)
	}
	for _, r := range slices.Backward(chain) {
		all = append(append(all, r.input...), r.items()...)
	}
	return all, ok
}

func (s *ResponseStore) item(id string) (t item, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.unread {
		for _, t := range r.items() {
			s.items[t.ID] = t
		}
	}
	s.unread = nil
	t, ok = s.items[id]
	return t, ok
}

// items returns the items of the answer. It reads them from the frames on first use, because
// those are what the client received.
func (r *storedResponse) items() []item {
	r.once.Do(func() {
		var body bytes.Buffer
		for i := range r.frames {
			body.Write(r.frames[i].Data)
		}
		r.frames = nil
		var s responsesStream
		if r.streamed {
			_ = readStream(body.Bytes(), s.read) // items before an error count
		} else {
			var a responsesAnswer
			_ = readBody(body.Bytes(), &a)
			s.items = a.Output
		}
		for i := range s.items {
			t := s.items[i].item
			t.stored = true
			r.output = append(r.output, t)
		}
	})
	return r.output
}

// resolve replaces the references of a request.
func (r *responsesRequest) resolve(s *ResponseStore) *APIError {
	if s == nil {
		return nil
	}
	if id := r.PreviousResponseID; id != "" {
		earlier, ok := s.conversation(id)
		if !ok {
			return bad("previous_response_id", "previous_response_not_found", "Previous response with id '%.64s' not found.", id)
		}
		r.earlier, r.resolved = earlier, true
	}
	for i := range r.Input.list {
		t := &r.Input.list[i]
		if !t.isReference() {
			continue
		}
		stored, ok := s.item(t.ID)
		if !ok {
			e := bad("input", "", "Item with id '%.64s' not found. Items are not persisted when `store` is set to false. "+
				"Try again with `store` set to true, or remove this item from your input.", t.ID)
			e.Status = http.StatusNotFound
			return e
		}
		*t = stored
	}
	return nil
}

func (r *responsesRequest) newItems() []item {
	if r.Input.kind == '"' {
		return []item{{Type: itemMessage, Role: "user", Content: content{kind: '"', text: r.Input.text}, stored: true}}
	}
	return r.Input.list
}

// allItems returns the whole conversation as items.
func (r *responsesRequest) allItems() []item {
	if len(r.earlier) == 0 {
		return r.Input.list
	}
	return append(slices.Clip(r.earlier), r.newItems()...)
}

// textSize returns the approximate size in bytes of the text of the items.
func textSize(items []item) int {
	n := 0
	for i := range items {
		t := &items[i]
		n += 256 + len(contentText(&t.Content, "")) + len(t.Input) + len(t.Output.text)
		for _, v := range []jsontext.Value{t.Arguments, t.Action, t.Operation} {
			n += len(v)
		}
	}
	return n
}
