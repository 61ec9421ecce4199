package wire

import (
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// responsesAnswer is an answer as it is read.
type responsesAnswer struct {
	ID         string         `json:"id"`
	Model      string         `json:"model"`
	CreatedAt  float64        `json:"created_at"`
	Status     string         `json:"status"`
	Output     []saidItem     `json:"output"`
	Usage      *responseUsage `json:"usage"`
	Error      *toldError     `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

type responseUsage struct {
	Input        int `json:"input_tokens"`
	Output       int `json:"output_tokens"`
	InputDetails struct {
		Cached     int `json:"cached_tokens"`
		CacheWrite int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// saidItem is an item of an answer.
type saidItem struct {
	item
	Summary []contentPart `json:"summary"`
}

// ReadAnswer implements Reader. What several messages say is one text.
func (OpenAIResponses) ReadAnswer(streamed bool, body []byte) (Completion, error) {
	if streamed {
		return readResponsesStream(body)
	}
	var c Completion
	var a responsesAnswer
	if err := readBody(body, &a); err != nil {
		return c, err
	}
	return c, a.addTo(&c)
}

// addTo makes c what the answer says.
func (a *responsesAnswer) addTo(c *Completion) error {
	a.head(c)
	for i := range a.Output {
		a.Output[i].addTo(c)
	}
	switch a.Status {
	case "completed":
		c.Finish = Completion{ToolCalls: c.ToolCalls}.FinishReason()
	case "incomplete":
		c.Finish = llm.FinishLength
		if a.Incomplete.Reason == "content_filter" {
			c.Finish = llm.FinishContentFilter
		}
	default:
		if a.Error != nil {
			return a.Error.apiError()
		}
		if len(a.Output) == 0 {
			return ErrEmptyAnswer
		}
	}
	return nil
}

// head is what an answer says beside its output.
func (a *responsesAnswer) head(c *Completion) {
	c.ID, c.Model, c.Created = a.ID, a.Model, unixTime(a.CreatedAt)
	if u := a.Usage; u != nil {
		c.Usage = reported(llm.Usage{
			Input:       u.Input - u.InputDetails.Cached - u.InputDetails.CacheWrite,
			CachedInput: u.InputDetails.Cached, CacheWrite: u.InputDetails.CacheWrite,
			Output: u.Output, Reasoning: u.OutputDetails.Reasoning,
		})
	}
}

// addTo adds what an item says.
func (t *saidItem) addTo(c *Completion) {
	switch {
	case t.Type == itemMessage:
		for _, p := range t.Content.parts {
			c.Text += p.Text
			c.Refusal += p.Refusal
		}
	case t.Type == itemReasoning:
		thoughts := t.Summary
		if len(thoughts) == 0 {
			thoughts = t.Content.parts
		}
		c.Thinking += plainParts(thoughts)
	case isCall(t.Type):
		c.ToolCalls = append(c.ToolCalls, llm.ToolCall{ID: t.callID(), Name: t.name(), Arguments: t.written()})
	}
}

// responsesEvent is an event, with the members of all types.
type responsesEvent struct {
	Type     string          `json:"type"`
	Delta    jsontext.Value  `json:"delta"`
	Item     saidItem        `json:"item"`
	Response responsesAnswer `json:"response"`
	Error    *toldError      `json:"error"`
	Message  string          `json:"message"`
	Code     jsontext.Value  `json:"code"`
	Param    string          `json:"param"`
}

// responsesStream puts an answer together: of the items that are done and, where
// the stream is cut, the pieces of the one that is not.
type responsesStream struct {
	c      Completion
	items  []saidItem
	pieces Completion
}

func readResponsesStream(body []byte) (Completion, error) {
	var s responsesStream
	err := readStream(body, s.read)
	if err != nil {
		for i := range s.items {
			s.items[i].addTo(&s.c)
		}
		s.c.Text += s.pieces.Text
		s.c.Refusal += s.pieces.Refusal
		s.c.Thinking += s.pieces.Thinking
	}
	return s.c, err
}

func (s *responsesStream) read(data []byte) (done bool, err error) {
	var e responsesEvent
	if err := jsonv2.Unmarshal(data, &e, lenient); err != nil {
		return false, err
	}
	switch kind := strings.TrimPrefix(e.Type, "response."); kind {
	case "error":
		if e.Error == nil {
			e.Error = &toldError{Message: e.Message, Code: e.Code, Param: e.Param}
		}
		return false, e.Error.apiError()
	case "created":
		e.Response.head(&s.c)
	case "output_text.delta":
		s.pieces.Text += writtenInput(e.Delta)
	case "refusal.delta":
		s.pieces.Refusal += writtenInput(e.Delta)
	case "reasoning_summary_text.delta", "reasoning_text.delta":
		s.pieces.Thinking += writtenInput(e.Delta)
	case "output_item.done":
		s.items, s.pieces = append(s.items, e.Item), Completion{}
	case "completed", "incomplete", "failed":
		if len(e.Response.Output) == 0 {
			e.Response.Output = s.items
		}
		s.c = Completion{}
		return true, e.Response.addTo(&s.c)
	}
	return false, nil
}
