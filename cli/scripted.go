package cli

import (
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/mocks"
)

// scripted plays a model by a script.
type scripted struct {
	model string
	scale float64 // of latencies
	count func(model, text string) int
	retry openai.RetryPolicy
}

// backend returns a backend that plays a script through the project's real client.
func (s scripted) backend(script mocks.Script) (llm.Adapter, error) {
	program, err := mocks.Compile(script)
	if err != nil {
		return nil, usage(err)
	}
	engine := mocks.NewEngine(program, mocks.EngineOptions{
		Clock: clock.Real(), Scale: s.scale, Seed: 1, Count: s.count, Keep: maxRemembered,
	})
	backend, err := openai.New(openai.Config{
		BaseURL: "http://127.0.0.1/v1", APIKey: "scripted", Model: s.model, Offline: true,
		Transport: mocks.NewTransport(engine), Retry: s.retry,
	})
	if err != nil {
		return nil, noVerdict(err)
	}
	return backend, nil
}
