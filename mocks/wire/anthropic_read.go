package wire

import (
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// messagesAnswer is an answer of the provider.
type messagesAnswer struct {
	Type       string         `json:"type"`
	ID         string         `json:"id"`
	Model      string         `json:"model"`
	Content    []block        `json:"content"`
	StopReason string         `json:"stop_reason"`
	Usage      *messagesUsage `json:"usage"`
	Error      *errorBody     `json:"error"`
}

// messagesUsage has pointers because a later event may omit the counts of an earlier one.
type messagesUsage struct {
	Input      *int `json:"input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	Output     *int `json:"output_tokens"`
	Details    struct {
		Thinking *int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// addTo replaces the counts of c by those in u.
func (u *messagesUsage) addTo(c *Completion) {
	if u == nil {
		return
	}
	for _, count := range []struct {
		given *int
		into  *int
	}{
		{u.Input, &c.Usage.Input},
		{u.CacheWrite, &c.Usage.CacheWrite},
		{u.CacheRead, &c.Usage.CachedInput},
		{u.Output, &c.Usage.Output},
		{u.Details.Thinking, &c.Usage.Reasoning},
	} {
		if count.given != nil {
			*count.into = *count.given
		}
	}
	c.Usage = reported(c.Usage)
}

// ReadAnswer implements Reader. It joins the texts of several blocks.
func (AnthropicMessages) ReadAnswer(streamed bool, body []byte) (Completion, error) {
	var s messagesStream
	err := readAnswer(streamed, body, s.read, s.add)
	s.close()
	if err == nil && !s.begun && s.reason == "" {
		err = ErrEmptyAnswer
	}
	c := s.completion()
	stopped(&c, s.reason)
	return c, err
}

// add adds a whole answer.
func (s *messagesStream) add(a *messagesAnswer) error {
	if a.Error != nil {
		return a.Error.apiError()
	}
	s.ID, s.Model, s.reason, s.begun = a.ID, a.Model, a.StopReason, len(a.Content) > 0
	a.Usage.addTo(&s.Completion)
	for i := range a.Content {
		s.addBlock(&a.Content[i])
	}
	return nil
}

func (s *messagesStream) addBlock(b *block) {
	switch b.Type {
	case "text":
		s.text.WriteString(b.Text)
	case "thinking":
		s.thinking.WriteString(b.Thinking)
	case blockToolUse:
		s.call(llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: writtenInput(b.Input)})
	}
}

// writtenInput is the inverse of toolInput.
func writtenInput(input jsontext.Value) string {
	if input.Kind() != '"' {
		return string(input)
	}
	return unquoted(input)
}

// stopped sets the finish reason. The text of an answer that ends in a refusal is the refusal.
func stopped(c *Completion, reason string) {
	switch reason {
	case "":
	case "max_tokens", "model_context_window_exceeded":
		c.Finish = llm.FinishLength
	case "tool_use":
		c.Finish = llm.FinishToolCalls
	case "refusal":
		c.Finish = llm.FinishContentFilter
		c.Text, c.Refusal = "", c.Text
	default: // end_turn, stop_sequence, pause_turn
		c.Finish = llm.FinishStop
	}
}

// messagesEvent is an event, with the members of all types.
type messagesEvent struct {
	Type         string         `json:"type"`
	Index        int            `json:"index"`
	Message      messagesAnswer `json:"message"`
	ContentBlock block          `json:"content_block"`
	Delta        struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		Partial    string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage *messagesUsage `json:"usage"`
	Error *errorBody     `json:"error"`
}

// messagesStream assembles an answer.
type messagesStream struct {
	gathered
	block  *block // the open one
	input  strings.Builder
	reason string
	begun  bool // there was a block
}

func (s *messagesStream) read(data []byte) (done bool, err error) {
	var e messagesEvent
	if err := jsonv2.Unmarshal(data, &e, lenient); err != nil {
		return false, err
	}
	switch e.Type {
	case "error":
		if e.Error == nil {
			e.Error = &errorBody{}
		}
		return false, e.Error.apiError()
	case "message_start":
		s.ID, s.Model = e.Message.ID, e.Message.Model
		e.Message.Usage.addTo(&s.Completion)
	case "content_block_start":
		s.close()
		s.begun = true
		switch e.ContentBlock.Type {
		case "text", "thinking":
			s.addBlock(&e.ContentBlock) // before its deltas
		default:
			s.block = &e.ContentBlock
		}
	case "content_block_delta":
		s.text.WriteString(e.Delta.Text)
		s.thinking.WriteString(e.Delta.Thinking)
		s.input.WriteString(e.Delta.Partial)
	case "content_block_stop":
		s.close()
	case "message_delta":
		s.reason = e.Delta.StopReason
		e.Usage.addTo(&s.Completion)
	case "message_stop":
		return true, nil
	}
	return false, nil
}

// close adds the open block: a call with the input of its deltas, any other block with its
// initial content.
func (s *messagesStream) close() {
	if s.block == nil {
		return
	}
	if text := s.input.String(); s.block.Type == blockToolUse && text != "" {
		s.call(llm.ToolCall{ID: s.block.ID, Name: s.block.Name, Arguments: text})
	} else {
		s.addBlock(s.block)
	}
	s.block = nil
	s.input.Reset()
}
