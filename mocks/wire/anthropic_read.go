package wire

import (
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// messagesAnswer is an answer as it is read.
type messagesAnswer struct {
	Type       string         `json:"type"`
	ID         string         `json:"id"`
	Model      string         `json:"model"`
	Content    []block        `json:"content"`
	StopReason string         `json:"stop_reason"`
	Usage      *messagesUsage `json:"usage"`
	Error      *toldError     `json:"error"`
}

// messagesUsage has pointers, for a later event need not repeat an earlier one's.
type messagesUsage struct {
	Input      *int `json:"input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	Output     *int `json:"output_tokens"`
	Details    struct {
		Thinking *int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// addTo replaces the counts that are told.
func (u *messagesUsage) addTo(c *Completion) {
	if u == nil {
		return
	}
	for _, count := range []struct {
		told *int
		as   *int
	}{
		{u.Input, &c.Usage.Input},
		{u.CacheWrite, &c.Usage.CacheWrite},
		{u.CacheRead, &c.Usage.CachedInput},
		{u.Output, &c.Usage.Output},
		{u.Details.Thinking, &c.Usage.Reasoning},
	} {
		if count.told != nil {
			*count.as = *count.told
		}
	}
	c.Usage = reported(c.Usage)
}

// ReadAnswer implements Reader. The texts of several blocks are one text.
func (AnthropicMessages) ReadAnswer(streamed bool, body []byte) (Completion, error) {
	if streamed {
		return readMessagesStream(body)
	}
	var c Completion
	var a messagesAnswer
	if err := readBody(body, &a); err != nil {
		return c, err
	}
	if a.Error != nil {
		return c, a.Error.apiError()
	}
	if len(a.Content) == 0 && a.StopReason == "" {
		return c, ErrEmptyAnswer
	}
	c.ID, c.Model = a.ID, a.Model
	a.Usage.addTo(&c)
	for i := range a.Content {
		a.Content[i].addTo(&c)
	}
	stopped(&c, a.StopReason)
	return c, nil
}

// addTo adds what a block says.
func (b *block) addTo(c *Completion) {
	switch b.Type {
	case "text":
		c.Text += b.Text
	case "thinking":
		c.Thinking += b.Thinking
	case blockToolUse:
		c.ToolCalls = append(c.ToolCalls, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: writtenInput(b.Input)})
	}
}

// writtenInput is the inverse of toolInput.
func writtenInput(input jsontext.Value) string {
	if input.Kind() != '"' {
		return string(input)
	}
	text, _ := unquote(input) // it was read as JSON
	return text
}

// stopped says why an answer ended. A text that ends in a refusal is one.
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
	Error *toldError     `json:"error"`
}

// messagesStream puts an answer together.
type messagesStream struct {
	c      Completion
	block  *block // that is open
	input  strings.Builder
	reason string
	said   bool
}

func readMessagesStream(body []byte) (Completion, error) {
	var s messagesStream
	err := readStream(body, s.read)
	s.close()
	if err == nil && !s.said && s.reason == "" {
		err = ErrEmptyAnswer
	}
	stopped(&s.c, s.reason)
	return s.c, err
}

func (s *messagesStream) read(data []byte) (done bool, err error) {
	var e messagesEvent
	if err := jsonv2.Unmarshal(data, &e, lenient); err != nil {
		return false, err
	}
	switch e.Type {
	case "error":
		if e.Error == nil {
			e.Error = &toldError{}
		}
		return false, e.Error.apiError()
	case "message_start":
		s.c.ID, s.c.Model = e.Message.ID, e.Message.Model
		e.Message.Usage.addTo(&s.c)
	case "content_block_start":
		s.close()
		s.block, s.said = &e.ContentBlock, true
	case "content_block_delta":
		s.c.Text += e.Delta.Text
		s.c.Thinking += e.Delta.Thinking
		s.input.WriteString(e.Delta.Partial)
	case "content_block_stop":
		s.close()
	case "message_delta":
		s.reason = e.Delta.StopReason
		e.Usage.addTo(&s.c)
	case "message_stop":
		return true, nil
	}
	return false, nil
}

// close adds the open block: a call with the input that came in pieces, and of
// others what they began with.
func (s *messagesStream) close() {
	if s.block == nil {
		return
	}
	if text := s.input.String(); s.block.Type == blockToolUse && text != "" {
		s.c.ToolCalls = append(s.c.ToolCalls, llm.ToolCall{ID: s.block.ID, Name: s.block.Name, Arguments: text})
	} else {
		s.block.addTo(&s.c)
	}
	s.block = nil
	s.input.Reset()
}
