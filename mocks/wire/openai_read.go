package wire

import (
	"cmp"
	"math"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// chatAnswer is an answer, or a chunk of one.
type chatAnswer struct {
	ID      string       `json:"id"`
	Model   string       `json:"model"`
	Created float64      `json:"created"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage"`
	XGroq   struct {
		Usage *chatUsage `json:"usage"`
	} `json:"x_groq"`
	Error *errorBody `json:"error"`
}

type chatChoice struct {
	Index        int         `json:"index"`
	Message      chatContent `json:"message"`
	Delta        chatContent `json:"delta"`
	FinishReason string      `json:"finish_reason"`
}

// chatContent is the content of a choice, or a piece of it.
type chatContent struct {
	Content   string            `json:"content"`
	Refusal   string            `json:"refusal"`
	ToolCalls []chatContentCall `json:"tool_calls"`
	// FunctionCall is a call in the older form.
	FunctionCall *chatFunction `json:"function_call"`
	// The thinking of other services, in one field or in both.
	ReasoningContent string         `json:"reasoning_content"`
	Reasoning        jsontext.Value `json:"reasoning"`
}

// thinking returns the thinking of the content.
func (c *chatContent) thinking() string {
	if c.ReasoningContent == "" && c.Reasoning.Kind() == '"' {
		return unquoted(c.Reasoning)
	}
	return c.ReasoningContent
}

type chatContentCall struct {
	Index *int `json:"index"`
	chatToolCall
}

type chatUsage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	PromptDetails struct {
		Cached     int `json:"cached_tokens"`
		CacheWrite int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *chatUsage) neutral() llm.Usage {
	in := u.PromptDetails
	return reported(llm.Usage{
		Input: u.Prompt - in.Cached - in.CacheWrite, CachedInput: in.Cached, CacheWrite: in.CacheWrite,
		Output: u.Completion, Reasoning: u.CompletionDetails.Reasoning,
	})
}

// ReadAnswer implements Reader. It reads the first of several choices.
func (OpenAIChat) ReadAnswer(streamed bool, body []byte) (Completion, error) {
	var s chatStream
	err := readAnswer(streamed, body, s.read, s.add)
	if err == nil && !s.begun {
		err = ErrEmptyAnswer
	}
	return s.completion(), err
}

// chatStream assembles an answer.
type chatStream struct {
	gathered
	begun  bool  // there was a choice
	custom []int // the indexes of calls of custom tools
}

func (s *chatStream) read(data []byte) (done bool, err error) {
	if string(data) == "[DONE]" {
		return s.Finish != "" || !s.begun, nil
	}
	var chunk chatAnswer
	if err := jsonv2.Unmarshal(data, &chunk, lenient); err != nil {
		return false, err
	}
	return false, s.add(&chunk)
}

// add adds the content of an answer or a chunk.
func (s *chatStream) add(a *chatAnswer) error {
	if a.Error != nil {
		return a.Error.apiError()
	}
	if a.ID != "" {
		s.ID, s.Model, s.Created = a.ID, a.Model, unixTime(a.Created)
	}
	if u := cmp.Or(a.Usage, a.XGroq.Usage); u != nil {
		s.Usage = u.neutral()
	}
	i := slices.IndexFunc(a.Choices, func(c chatChoice) bool { return c.Index == 0 })
	if i < 0 {
		return nil
	}
	s.begun = true
	choice := &a.Choices[i]
	switch choice.FinishReason {
	case "":
	case finishFunctionCall:
		s.Finish = llm.FinishToolCalls
	default:
		s.Finish = llm.FinishReason(choice.FinishReason)
	}
	for _, c := range []*chatContent{&choice.Message, &choice.Delta} {
		s.text.WriteString(c.Content)
		s.refusal.WriteString(c.Refusal)
		s.thinking.WriteString(c.thinking())
		for j := range c.ToolCalls {
			s.addCall(&c.ToolCalls[j])
		}
		if f := c.FunctionCall; f != nil {
			s.addCall(&chatContentCall{Index: new(int), chatToolCall: chatToolCall{Function: *f}})
		}
	}
	return nil
}

// addCall adds a tool call, or a piece of one to the call with its index.
func (s *chatStream) addCall(t *chatContentCall) {
	at := len(s.ToolCalls)
	if t.Index != nil && *t.Index >= 0 {
		at = min(*t.Index, at)
	}
	if at == len(s.ToolCalls) {
		s.call(llm.ToolCall{})
	}
	call := &s.ToolCalls[at]
	call.ID += t.ID
	call.Name += t.Function.Name + t.Custom.Name
	s.arguments[at].WriteString(t.Function.Arguments + t.Custom.Input)
	if t.Type == toolCustom && !slices.Contains(s.custom, at) {
		s.custom = append(s.custom, at)
	}
}

// completion returns the assembled answer. The text for a custom tool becomes arguments in JSON.
func (s *chatStream) completion() Completion {
	c := s.gathered.completion()
	for _, at := range s.custom {
		c.ToolCalls[at].Arguments = customArguments(c.ToolCalls[at].Arguments)
	}
	return c
}

// unixTime converts a Unix time in seconds; 0 is the zero time.
func unixTime(seconds float64) time.Time {
	if !(seconds >= 1 && seconds < math.MaxInt32*1000) {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}
