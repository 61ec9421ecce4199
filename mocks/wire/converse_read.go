package wire

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/llm"
)

// converseAnswer is an answer without streaming, or the payload of an event, with the members of
// all types.
type converseAnswer struct {
	Output struct {
		Message struct {
			Content []converseBlock `json:"content"`
		} `json:"message"`
	} `json:"output"`
	StopReason string `json:"stopReason"`
	Usage      *struct {
		Input      int `json:"inputTokens"`
		Output     int `json:"outputTokens"`
		CacheRead  int `json:"cacheReadInputTokens"`
		CacheWrite int `json:"cacheWriteInputTokens"`
	} `json:"usage"`
	Start struct {
		ToolUse *converseToolUse `json:"toolUse"`
	} `json:"start"`
	Delta struct {
		Text      string `json:"text"`
		Reasoning struct {
			Text string `json:"text"`
		} `json:"reasoningContent"`
		ToolUse struct {
			Input string `json:"input"`
		} `json:"toolUse"`
	} `json:"delta"`
	Message string `json:"message"` // of an exception
}

// ReadAnswer implements Reader. The model is that of the path.
func (c Converse) ReadAnswer(streamed bool, body []byte) (Completion, error) {
	var s converseStream
	var err error
	if streamed {
		err = readEvents(body, splitMessage, s.read)
	} else {
		err = readAnswer(false, body, nil, s.add)
	}
	if err == nil && !s.begun {
		err = ErrEmptyAnswer
	}
	answer := s.completion()
	for i := range answer.ToolCalls {
		if answer.ToolCalls[i].Arguments == "" {
			answer.ToolCalls[i].Arguments = "{}"
		}
	}
	answer.Model = c.Model
	switch s.reason {
	case "content_filtered", "guardrail_intervened":
		stopped(&answer, "refusal")
	default:
		stopped(&answer, s.reason)
	}
	return answer, err
}

// converseStream assembles an answer.
type converseStream struct {
	gathered
	reason string
	begun  bool
}

// read adds an event. The metadata is the last one.
func (s *converseStream) read(data []byte) (done bool, err error) {
	m, err := decodeMessage(data)
	if err != nil {
		return false, err
	}
	var a converseAnswer
	if err := jsonv2.Unmarshal(m.payload, &a, lenient); err != nil {
		return false, err
	}
	if name := m.headers[":exception-type"]; name != "" {
		return false, streamException(name, a.Message)
	}
	if m.headers[":message-type"] == "error" {
		return false, &APIError{Status: http.StatusInternalServerError, Type: m.headers[":error-code"], Message: m.headers[":error-message"]}
	}
	switch m.headers[":event-type"] {
	case "contentBlockStart":
		s.begun = true
		if t := a.Start.ToolUse; t != nil {
			s.call(llm.ToolCall{ID: t.ID, Name: t.Name})
		}
	case "contentBlockDelta":
		s.begun = true
		s.text.WriteString(a.Delta.Text)
		s.thinking.WriteString(a.Delta.Reasoning.Text)
		if n := len(s.arguments); n > 0 {
			s.arguments[n-1].WriteString(a.Delta.ToolUse.Input)
		} else if a.Delta.ToolUse.Input != "" {
			return false, errors.New("the input of a tool call precedes its start")
		}
	case "messageStop":
		s.begun = s.begun || a.StopReason != ""
		s.reason = a.StopReason
	case "metadata":
		return true, s.add(&a)
	}
	return false, nil
}

// streamException returns the error of an exception event.
func streamException(name, message string) error {
	e := &APIError{Status: http.StatusInternalServerError, Type: name, Message: message}
	for _, x := range exceptions {
		if strings.EqualFold(x.name, name) {
			e.Status, e.Type = x.status, x.name
		}
	}
	if message == "" {
		e.Message = fmt.Sprintf("the stream ended with the exception %.64s", name)
	}
	return e
}

// add adds a whole answer, or the metadata of a stream.
func (s *converseStream) add(a *converseAnswer) error {
	if a.StopReason != "" {
		s.reason, s.begun = a.StopReason, true
	}
	if u := a.Usage; u != nil {
		s.Usage = reported(llm.Usage{Input: u.Input, Output: u.Output, CachedInput: u.CacheRead, CacheWrite: u.CacheWrite})
	}
	for i := range a.Output.Message.Content {
		s.begun = true
		b := &a.Output.Message.Content[i]
		if b.Text != nil {
			s.text.WriteString(*b.Text)
		}
		if r := b.Reasoning; r != nil {
			s.thinking.WriteString(r.Text.Text)
		}
		if t := b.ToolUse; t != nil {
			s.call(llm.ToolCall{ID: t.ID, Name: t.Name, Arguments: writtenInput(t.Input)})
		}
	}
	return nil
}
