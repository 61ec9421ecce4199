package wire

import (
	"bytes"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/llm"
)

// geminiAnswer is an answer, or a chunk of one.
type geminiAnswer struct {
	Candidates []struct {
		Index        int         `json:"index"`
		Content      geminiBlock `json:"content"`
		FinishReason string      `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage      *geminiUsage `json:"usageMetadata"`
	Model      string       `json:"modelVersion"`
	ResponseID string       `json:"responseId"`
	Error      *errorBody   `json:"error"`
}

type geminiUsage struct {
	Prompt     int `json:"promptTokenCount"`
	Cached     int `json:"cachedContentTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount"`
	ToolPrompt int `json:"toolUsePromptTokenCount"`
}

func (u *geminiUsage) neutral() llm.Usage {
	return reported(llm.Usage{
		Input: addUp(u.Prompt, u.ToolPrompt) - u.Cached, CachedInput: u.Cached,
		Output: addUp(u.Candidates, u.Thoughts), Reasoning: u.Thoughts,
	})
}

// ReadAnswer implements Reader. It reads the first of several candidates. A body that is a list has
// the chunks of a stream.
func (g Gemini) ReadAnswer(streamed bool, body []byte) (Completion, error) {
	var s geminiReader
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) && !streamed {
		err = s.readList(body)
	} else {
		err = readAnswer(streamed, body, s.read, s.add)
	}
	if err == nil && !s.begun {
		err = ErrEmptyAnswer
	}
	c := s.completion()
	stoppedBy(&c, s.reason)
	return c, err
}

// geminiReader assembles an answer.
type geminiReader struct {
	gathered
	begun  bool // there was a candidate, or the prompt was blocked
	reason string
}

func (s *geminiReader) read(data []byte) (done bool, err error) {
	var chunk geminiAnswer
	if err := jsonv2.Unmarshal(data, &chunk, lenient); err != nil {
		return false, err
	}
	err = s.add(&chunk)
	return s.reason != "", err
}

func (s *geminiReader) readList(body []byte) error {
	var chunks []geminiAnswer
	if err := jsonv2.Unmarshal(body, &chunks, lenient); err != nil {
		return fmt.Errorf("read the answer's body: %w", err)
	}
	for i := range chunks {
		if err := s.add(&chunks[i]); err != nil {
			return err
		}
	}
	if s.begun && s.reason == "" {
		return fmt.Errorf("%w, after %d chunks", ErrCutAnswer, len(chunks))
	}
	return nil
}

// add adds the content of an answer or a chunk.
func (s *geminiReader) add(a *geminiAnswer) error {
	if a.Error != nil {
		return a.Error.apiError()
	}
	if a.ResponseID != "" {
		s.ID = a.ResponseID
	}
	if a.Model != "" {
		s.Model = a.Model
	}
	if a.Usage != nil {
		s.Usage = a.Usage.neutral()
	}
	if reason := a.PromptFeedback.BlockReason; reason != "" {
		s.begun, s.reason = true, geminiSafety
	}
	for i := range a.Candidates {
		c := &a.Candidates[i]
		if c.Index != 0 {
			continue
		}
		s.begun = true
		if c.FinishReason != "" {
			s.reason = c.FinishReason
		}
		for j := range c.Content.Parts {
			s.addPart(&c.Content.Parts[j])
		}
	}
	return nil
}

func (s *geminiReader) addPart(p *geminiPart) {
	switch {
	case p.FunctionCall != nil:
		arguments := "{}"
		if given(p.FunctionCall.Args) {
			arguments = string(p.FunctionCall.Args)
		}
		s.call(llm.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: arguments})
	case p.Text == nil:
	case p.Thought:
		s.thinking.WriteString(*p.Text)
	default:
		s.text.WriteString(*p.Text)
	}
}

// stoppedBy sets the finish reason. The text of an answer that a filter ended is the refusal.
func stoppedBy(c *Completion, reason string) {
	switch reason {
	case "":
	case geminiMaxTokens:
		c.Finish = llm.FinishLength
	case geminiSafety, "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY":
		c.Finish = llm.FinishContentFilter
		c.Text, c.Refusal = "", c.Text
	case geminiStop:
		c.Finish = Completion{ToolCalls: c.ToolCalls}.FinishReason()
	default: // such as MALFORMED_FUNCTION_CALL and OTHER
		c.Finish = llm.FinishStop
	}
}
