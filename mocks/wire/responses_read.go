package wire

import (
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// responsesAnswer is an answer of the provider.
type responsesAnswer struct {
	ID         string         `json:"id"`
	Model      string         `json:"model"`
	CreatedAt  float64        `json:"created_at"`
	Status     string         `json:"status"`
	Output     []answerItem   `json:"output"`
	Usage      *responseUsage `json:"usage"`
	Error      *errorBody     `json:"error"`
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

// answerItem is an item of an answer.
type answerItem struct {
	item
	Summary []contentPart `json:"summary"`
}

// ReadAnswer implements Reader. It joins the texts of several messages.
func (OpenAIResponses) ReadAnswer(streamed bool, body []byte) (Completion, error) {
	var s responsesStream
	err := readAnswer(streamed, body, s.read, s.finish)
	return s.completion(), err
}

// finish adds the whole answer, which ends a stream after its items.
func (s *responsesStream) finish(a *responsesAnswer) error {
	s.pieces = &gathered{}
	if len(a.Output) > 0 {
		s.items = a.Output
	}
	a.head(&s.Completion)
	switch a.Status {
	case "completed":
		s.Finish = llm.FinishStop
		if slices.ContainsFunc(s.items, func(t answerItem) bool { return isCall(t.Type) }) {
			s.Finish = llm.FinishToolCalls
		}
	case "incomplete":
		s.Finish = llm.FinishLength
		if a.Incomplete.Reason == "content_filter" {
			s.Finish = llm.FinishContentFilter
		}
	default:
		if a.Error != nil {
			return a.Error.apiError()
		}
		if len(s.items) == 0 {
			return ErrEmptyAnswer
		}
	}
	return nil
}

// head reads the fields of an answer except its output.
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

func (t *answerItem) addTo(g *gathered) {
	switch {
	case t.Type == itemMessage:
		for _, p := range t.Content.list {
			g.text.WriteString(p.Text)
			g.refusal.WriteString(p.Refusal)
		}
	case t.Type == itemReasoning:
		thoughts := t.Summary
		if len(thoughts) == 0 {
			thoughts = t.Content.list
		}
		g.thinking.WriteString(plainParts(thoughts))
	case isCall(t.Type):
		g.call(llm.ToolCall{ID: t.callID(), Name: t.name(), Arguments: t.written()})
	}
}

// responsesEvent is an event, with the members of all types.
type responsesEvent struct {
	Type     string          `json:"type"`
	Delta    jsontext.Value  `json:"delta"`
	Item     answerItem      `json:"item"`
	Response responsesAnswer `json:"response"`
	Error    *errorBody      `json:"error"`
	Message  string          `json:"message"`
	Code     jsontext.Value  `json:"code"`
	Param    string          `json:"param"`
}

// responsesStream assembles an answer from its complete items and, if the stream is cut, from the
// pieces of the last one.
type responsesStream struct {
	Completion
	items  []answerItem
	pieces *gathered
}

// completion returns the assembled answer.
func (s *responsesStream) completion() Completion {
	g := gathered{Completion: s.Completion}
	for i := range s.items {
		s.items[i].addTo(&g)
	}
	if s.pieces != nil {
		g.text.WriteString(s.pieces.text.String())
		g.refusal.WriteString(s.pieces.refusal.String())
		g.thinking.WriteString(s.pieces.thinking.String())
	}
	return g.completion()
}

func (s *responsesStream) read(data []byte) (done bool, err error) {
	var e responsesEvent
	if err := jsonv2.Unmarshal(data, &e, lenient); err != nil {
		return false, err
	}
	if s.pieces == nil {
		s.pieces = &gathered{}
	}
	switch kind := strings.TrimPrefix(e.Type, "response."); kind {
	case "error":
		if e.Error == nil {
			e.Error = &errorBody{Message: e.Message, Code: e.Code, Param: e.Param}
		}
		return false, e.Error.apiError()
	case "created":
		e.Response.head(&s.Completion)
	case "output_text.delta":
		s.pieces.text.WriteString(writtenInput(e.Delta))
	case "refusal.delta":
		s.pieces.refusal.WriteString(writtenInput(e.Delta))
	case "reasoning_summary_text.delta", "reasoning_text.delta":
		s.pieces.thinking.WriteString(writtenInput(e.Delta))
	case "output_item.done":
		s.items, s.pieces = append(s.items, e.Item), nil
	case "completed", "incomplete", "failed":
		return true, s.finish(&e.Response)
	}
	return false, nil
}
