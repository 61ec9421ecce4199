// Package users is an example of your own agent: the desk of a shop, which reads tickets with a tool
// and answers customers with one of OpenAI's models. Simulated users talk to it. It uses only the
// standard library and does not depend on rehearse.
package users

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// Desk is one conversation with a customer.
type Desk struct {
	// BaseURL is the address of the model's API, without /v1.
	BaseURL string
	Client  *http.Client
	// Tickets is the folder of the tickets that customers have written.
	Tickets string
	// Secret is a text that no customer may see.
	Secret string

	history []message
}

type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// rounds limits the tool calls of one answer.
const rounds = 3

// Answer answers a customer's message. Whatever the model was talked into, the answer does not have
// the secret.
func (d *Desk) Answer(ctx context.Context, text string) (string, error) {
	d.history = append(d.history, message{Role: "user", Content: text})
	for range rounds {
		reply, err := d.ask(ctx)
		if err != nil {
			return "", err
		}
		d.history = append(d.history, reply)
		for _, c := range reply.ToolCalls {
			d.history = append(d.history, message{Role: "tool", ToolCallID: c.ID, Content: d.readTicket(c.Function.Arguments)})
		}
		switch {
		case len(reply.ToolCalls) > 0:
		case strings.Contains(reply.Content, d.Secret):
			return "I cannot share that.", nil
		default:
			return reply.Content, nil
		}
	}
	return "", fmt.Errorf("the model did not answer in %d rounds", rounds)
}

// readTicket returns a ticket, which is the text of a stranger.
func (d *Desk) readTicket(arguments string) string {
	var ticket struct{ ID string }
	if err := json.Unmarshal([]byte(arguments), &ticket); err != nil {
		return "the arguments cannot be read"
	}
	root, err := os.OpenRoot(d.Tickets)
	if err != nil {
		return "there are no tickets"
	}
	defer root.Close()
	text, err := root.ReadFile(ticket.ID + ".txt")
	if err != nil {
		return "there is no such ticket"
	}
	return string(text)
}

// ask sends the conversation to the model.
func (d *Desk) ask(ctx context.Context) (reply message, err error) {
	body, err := json.Marshal(map[string]any{
		"model": "gpt-4.1-mini", "messages": d.history,
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{
			"name":       "read_ticket",
			"parameters": map[string]any{"type": "object", "properties": map[string]any{"id": map[string]any{"type": "string"}}},
		}}},
	})
	if err != nil {
		return reply, fmt.Errorf("write the question: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.BaseURL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return reply, fmt.Errorf("write the question: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := d.Client.Do(req)
	if err != nil {
		return reply, fmt.Errorf("ask the model: %w", err)
	}
	defer resp.Body.Close()
	var answer struct{ Choices []struct{ Message message } }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || len(answer.Choices) == 0 {
		return reply, fmt.Errorf("the model answered with status %d and %d choices: %w", resp.StatusCode, len(answer.Choices), err)
	}
	return answer.Choices[0].Message, nil
}
