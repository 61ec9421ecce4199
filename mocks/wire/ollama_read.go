package wire

import (
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/llm"
)

// ollamaAnswer is an answer of either endpoint, or a line of one.
type ollamaAnswer struct {
	Model     string         `json:"model"`
	CreatedAt string         `json:"created_at"`
	Message   *ollamaMessage `json:"message"`
	// Response, Thinking and ToolCalls are the content of /api/generate.
	Response   *string      `json:"response"`
	Thinking   string       `json:"thinking"`
	ToolCalls  []ollamaCall `json:"tool_calls"`
	Done       bool         `json:"done"`
	DoneReason string       `json:"done_reason"`
	Prompt     *int         `json:"prompt_eval_count"`
	Output     *int         `json:"eval_count"`
	Error      *errorBody   `json:"error"`
}

// ReadAnswer implements Reader.
func (Ollama) ReadAnswer(streamed bool, body []byte) (Completion, error) {
	var s ollamaStream
	var err error
	if streamed {
		err = readEvents(body, splitLine, s.read)
	} else {
		err = readAnswer(false, body, nil, s.add)
	}
	if err == nil && !s.begun {
		err = ErrEmptyAnswer
	}
	c := s.completion()
	if s.done {
		c.Finish = Completion{ToolCalls: c.ToolCalls}.FinishReason()
		if s.reason == "length" {
			c.Finish = llm.FinishLength
		}
	}
	return c, err
}

// ollamaStream assembles an answer.
type ollamaStream struct {
	gathered
	reason      string
	begun, done bool
}

func (s *ollamaStream) read(data []byte) (done bool, err error) {
	var a ollamaAnswer
	if err := jsonv2.Unmarshal(data, &a, lenient); err != nil {
		return false, err
	}
	return a.Done, s.add(&a)
}

// add adds the content of an answer or a line.
func (s *ollamaStream) add(a *ollamaAnswer) error {
	if a.Error != nil {
		return a.Error.apiError()
	}
	s.begun = s.begun || a.Message != nil || a.Response != nil || a.Done
	s.done, s.reason, s.Model = a.Done, a.DoneReason, a.Model
	if t, err := time.Parse(time.RFC3339, a.CreatedAt); err == nil {
		s.Created = time.Unix(t.Unix(), 0)
	}
	m := a.Message
	if m == nil {
		m = &ollamaMessage{Thinking: a.Thinking, ToolCalls: a.ToolCalls}
	}
	if a.Response != nil {
		m.Content += *a.Response
	}
	s.text.WriteString(m.Content)
	s.thinking.WriteString(m.Thinking)
	for i := range m.ToolCalls {
		s.call(m.ToolCalls[i].neutral())
	}
	if a.Prompt != nil || a.Output != nil {
		s.Usage = reported(llm.Usage{Input: number(a.Prompt), Output: number(a.Output)})
	}
	return nil
}

func number(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
