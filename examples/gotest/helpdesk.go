// Package helpdesk is an example of your own agent: it answers customers with one of Anthropic's
// models, remembers the conversation, and retries if the model is overloaded. It uses only
// net/http and does not depend on rehearse.
package helpdesk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// attempts limits the calls to an overloaded model.
const attempts = 3

// Desk is one conversation with a customer.
type Desk struct {
	// BaseURL is the address of the model's API, such as https://api.anthropic.com.
	BaseURL string
	Key     string
	Client  *http.Client
	// Sleep waits between attempts.
	Sleep func(ctx context.Context, d time.Duration) error

	history []message
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Answer answers a customer's message.
func (d *Desk) Answer(ctx context.Context, text string) (string, error) {
	d.history = append(d.history, message{"user", text})
	for attempt := 1; ; attempt++ {
		answer, status, err := d.ask(ctx)
		switch {
		case err != nil:
			return "", err
		case status == http.StatusOK:
			d.history = append(d.history, message{"assistant", answer})
			return answer, nil
		case status < 500 && status != http.StatusTooManyRequests:
			return "", fmt.Errorf("the model refused the question with status %d", status)
		case attempt == attempts:
			return "Please call us: we cannot answer here right now.", nil
		}
		if err := d.Sleep(ctx, time.Duration(attempt)*10*time.Second); err != nil {
			return "", err
		}
	}
}

// ask sends the conversation to the model once.
func (d *Desk) ask(ctx context.Context) (answer string, status int, err error) {
	body, err := json.Marshal(map[string]any{
		"model": "claude-haiku-4-5", "max_tokens": 300, "messages": d.history,
		"system": "You are the help desk of a small bookshop. Ask at most one question at a time.",
	})
	if err != nil {
		return "", 0, fmt.Errorf("write the question: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.BaseURL+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return "", 0, fmt.Errorf("write the question: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", d.Key)
	resp, err := d.Client.Do(req)
	if err != nil {
		return "", 0, fmt.Errorf("ask the model: %w", err)
	}
	defer resp.Body.Close()
	var reply struct {
		Content []struct{ Text string }
	}
	if resp.StatusCode != http.StatusOK {
		return "", resp.StatusCode, nil
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return "", 0, fmt.Errorf("read the model's answer: %w", err)
	}
	for _, block := range reply.Content {
		answer += block.Text
	}
	return answer, resp.StatusCode, nil
}
