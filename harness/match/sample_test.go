package match_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	goopenai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/app"
)

// desk is an agent that relays messages between the user and its model, and retries a
// failed call once.
func desk(ctx context.Context, site app.Site, text string) (string, error) {
	cfg := goopenai.DefaultConfig(app.Key)
	cfg.BaseURL, cfg.HTTPClient = site.Backend+"/v1", site.Client
	client := goopenai.NewClientWithConfig(cfg)
	var err error
	for range 2 {
		var resp goopenai.ChatCompletionResponse
		resp, err = client.CreateChatCompletion(ctx, goopenai.ChatCompletionRequest{
			Model:    "gpt-4.1-mini",
			Messages: []goopenai.ChatCompletionMessage{{Role: goopenai.ChatMessageRoleUser, Content: text}},
			Metadata: map[string]string{"purpose": "answer"},
		})
		if err == nil && len(resp.Choices) > 0 {
			return resp.Choices[0].Message.Content, nil
		}
	}
	return "", fmt.Errorf("ask the model: %w", err)
}

// rehearse drives the desk.
func rehearse(text string) *harness.Result {
	GinkgoHelper()
	res, err := harness.Rehearse(context.Background(), harness.Rehearsal{
		Text: "name: desk/hours\n" + text,
		Functions: map[string]app.Function{
			"desk": desk,
			"broken": func(ctx context.Context, site app.Site, text string) (string, error) {
				_, err := desk(ctx, site, text)
				return "", errors.Join(errors.New("out of order"), err)
			},
			"silent": func(context.Context, app.Site, string) (string, error) { return "Hm.", nil },
			"binary": func(context.Context, app.Site, string) (string, error) { return "\xff\xfe", nil },
		},
	})
	Expect(err).NotTo(HaveOccurred())
	return res
}

// hours is a successful conversation with one failed call.
const hours = `
drive: {function: {name: desk, turns: [When do you open?, And on Sunday?]}}
backend:
  model: gpt-4.1-mini
  replies:
    - fault: {kind: status, status: 503}
    - {text: "At nine. Do you want to come? Or do you call?", latency: 2s, usage: {input: 400, output: 20}}
    - {text: We are closed., latency: 500ms, usage: {input: 450, output: 10}}
expect: {status: done, calls: 3}
`
