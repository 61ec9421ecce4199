package harness_test

import (
	"context"
	"fmt"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/function"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// An agent that asks its model once for each turn, by a client for OpenAI's API.
func concierge(ctx context.Context, site app.Site, text string) (string, error) {
	config := goopenai.DefaultConfig(app.Key)
	config.BaseURL, config.HTTPClient = site.Backend+"/v1", site.Client
	reply, err := goopenai.NewClientWithConfig(config).CreateChatCompletion(ctx, goopenai.ChatCompletionRequest{
		Model:    "gpt-4.1-mini",
		Messages: []goopenai.ChatCompletionMessage{{Role: goopenai.ChatMessageRoleUser, Content: text}},
	})
	if err != nil {
		return "", fmt.Errorf("ask the model: %w", err)
	}
	return reply.Choices[0].Message.Content, nil
}

func ExampleRehearse() {
	res, err := harness.Rehearse(context.Background(), harness.Rehearsal{
		Functions: map[string]app.Function{"concierge": concierge},
		Text: `
name: hotel/breakfast
drive:
  function: {name: concierge, turns: [When is breakfast?, And tomorrow?]}
backend:
  model: gpt-4.1-mini
  replies:
    - {text: From seven to ten., latency: 20s}
    - {fault: {kind: status, status: 503}}
expect: {status: done}
`,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Verdict)
	fmt.Print(res)
	// Output:
	// fail
	// FAIL hotel/breakfast: failed, 2 calls, 9 tokens, 0.00000960 USD, 20s
	//   ✗ status: expected status "done", saw "failed" (expect.status)
	//     the function failed: ask the model: error, status code: 503, status: 503 Service Unavailable, message: The engine is currently overloaded, please try again later.
	//   user     "When is breakfast?"
	//   call 1   gpt-4.1-mini, 4 + 5 tokens, 20s: "From seven to ten."
	//   answer   "From seven to ten."
	//   user     "And tomorrow?"
	//   call 2   gpt-4.1-mini: unavailable: the scripted fault status
	//   end      failed: the function failed: ask the model: error, status code: 503, status: 503 Service Unavailable, message: The engine is currently overloaded, please try again later.
}

// A scenario can be a Go value, for cases that a loop generates.
func ExampleRehearse_scenario() {
	res, err := harness.Rehearse(context.Background(), harness.Rehearsal{
		Functions: map[string]app.Function{"concierge": concierge},
		Scenarios: []scenarios.Scenario{{
			Name: "hotel/towels",
			Drive: scenarios.Drive{Kind: "function", Options: &function.Options{
				Name: "concierge", Talk: scenarios.Talk{Turns: []string{"May I have towels?"}},
			}},
			Backend: scenarios.Backend{
				Script: mocks.Script{Model: "gpt-4.1-mini", Replies: []mocks.Line{mocks.Say("They are on their way.").IfUser("towels")}},
			},
			Expect: expect.Expect{Status: "done"},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(res.Trials[0])
	// Output:
	// PASS hotel/towels: done, 1 call, 11 tokens, 0.0000116 USD, 0s
	//   user     "May I have towels?"
	//   call 1   gpt-4.1-mini, 5 + 6 tokens: "They are on their way."
	//   answer   "They are on their way."
	//   end      done
}
