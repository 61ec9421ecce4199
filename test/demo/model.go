package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

// model is a model behind an API, at the address that the environment names.
type model struct {
	url     string
	headers map[string]string
	// request and answer translate between the neutral form and the API's.
	request func([]message) any
	answer  func([]byte) (message, error)
}

func newModel(api string) *model {
	if api == "anthropic" {
		return &model{
			url:     cmp.Or(os.Getenv("ANTHROPIC_BASE_URL"), "https://api.anthropic.com") + "/v1/messages",
			headers: map[string]string{"X-Api-Key": os.Getenv("ANTHROPIC_API_KEY"), "Anthropic-Version": "2023-06-01"},
			request: anthropicRequest, answer: anthropicAnswer,
		}
	}
	return &model{
		url:     cmp.Or(os.Getenv("OPENAI_BASE_URL"), "https://api.openai.com/v1") + "/chat/completions",
		headers: map[string]string{"Authorization": "Bearer " + os.Getenv("OPENAI_API_KEY")},
		request: openAIRequest, answer: openAIAnswer,
	}
}

const (
	modelName = "gpt-4.1-mini"
	maxTokens = 1000
	system    = "You answer shortly, and write files with the tool write_file."
)

// ask sends the conversation to the model and returns its message.
func (m *model) ask(ctx context.Context, history []message) (message, error) {
	body, err := json.Marshal(m.request(history))
	if err != nil {
		return message{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return message{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range m.headers {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return message{}, fmt.Errorf("the model cannot be reached: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return message{}, fmt.Errorf("the model's answer was cut off: %w", err)
	case resp.StatusCode != http.StatusOK:
		return message{}, fmt.Errorf("the model answered with status %d", resp.StatusCode)
	}
	reply, err := m.answer(data)
	if err != nil {
		return message{}, fmt.Errorf("the model's answer cannot be read: %w", err)
	}
	return reply, nil
}

type object = map[string]any

// schema is the schema of the tool's arguments.
var schema = object{
	"type": "object", "required": []string{"path", "text"},
	"properties": object{"path": object{"type": "string"}, "text": object{"type": "string"}},
}

// openAIRequest and openAIAnswer implement the chat completions API,
// platform.openai.com/docs/api-reference/chat.
func openAIRequest(history []message) any {
	messages := []object{{"role": "system", "content": system}}
	for _, m := range history {
		out := object{"role": m.Role, "content": m.Text}
		switch {
		case m.Role == "tool":
			out["tool_call_id"] = m.Call.ID
		case m.Call != nil:
			function := object{"name": m.Call.Name, "arguments": m.Call.Arguments}
			out["tool_calls"] = []object{{"id": m.Call.ID, "type": "function", "function": function}}
		}
		messages = append(messages, out)
	}
	return object{
		"model": modelName, "messages": messages,
		"tools": []object{{"type": "function", "function": object{"name": "write_file", "parameters": schema}}},
	}
}

func openAIAnswer(data []byte) (message, error) {
	var body struct {
		Choices []struct {
			Message struct {
				Content   string `json:"content"`
				ToolCalls []struct {
					ID       string `json:"id"`
					Function struct {
						Name      string `json:"name"`
						Arguments string `json:"arguments"`
					} `json:"function"`
				} `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return message{}, err
	}
	if len(body.Choices) == 0 {
		return message{}, fmt.Errorf("there is no choice in it")
	}
	reply := message{Role: "assistant", Text: body.Choices[0].Message.Content}
	for _, c := range body.Choices[0].Message.ToolCalls {
		reply.Call = &call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments}
		break // at most one tool call
	}
	return reply, nil
}

// anthropicRequest and anthropicAnswer implement the Messages API,
// docs.anthropic.com/en/api/messages.
func anthropicRequest(history []message) any {
	messages := []object{}
	for _, m := range history {
		text := object{"type": "text", "text": m.Text}
		switch {
		case m.Role == "tool":
			result := object{"type": "tool_result", "tool_use_id": m.Call.ID, "content": m.Text}
			messages = append(messages, object{"role": "user", "content": []object{result}})
		case m.Call != nil:
			messages = append(messages, object{"role": m.Role, "content": []object{
				{"type": "tool_use", "id": m.Call.ID, "name": m.Call.Name, "input": json.RawMessage(m.Call.Arguments)},
			}})
		default:
			messages = append(messages, object{"role": m.Role, "content": []object{text}})
		}
	}
	return object{
		"model": modelName, "max_tokens": maxTokens, "system": system, "messages": messages,
		"tools": []object{{"name": "write_file", "input_schema": schema}},
	}
}

func anthropicAnswer(data []byte) (message, error) {
	var body struct {
		Content []struct {
			Type  string          `json:"type"`
			Text  string          `json:"text"`
			ID    string          `json:"id"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		} `json:"content"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return message{}, err
	}
	reply := message{Role: "assistant"}
	for _, block := range body.Content {
		switch block.Type {
		case "text":
			reply.Text += block.Text
		case "tool_use":
			reply.Call = &call{ID: block.ID, Name: block.Name, Arguments: string(block.Input)}
		}
	}
	return reply, nil
}
