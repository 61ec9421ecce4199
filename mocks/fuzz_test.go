package mocks_test

import (
	"context"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
)

// FuzzScript takes any bytes for a script. What is valid must compile and answer
// every call with something, and a second compilation must answer the same.
func FuzzScript(f *testing.F) {
	for _, seed := range []string{
		"replies: [{text: a, times: 2}, {fault: timeout}]",
		"rules: [{when: {user: {matches: 'a+'}}, template: '{{.User}} {{json .Messages}}'}]",
		"{state: a, rules: [{in: a, then: b, tool_calls: [{name: f, arguments: {x: 1}}]}, {in: b, refusal: no}]}",
		"replies: [{text: a, latency: {first: 1s, per_token: 1ms, jitter: 1}, usage: {input: 1, output: 2}, finish: length}]",
		"replies: [{when: {turn: 0, metadata: {purpose: p}, header: {a: b}}, text: a, fault: {kind: slow-drip, after: 1}}]",
		"rules: [{when: {user: }}]", "replies: [[]]", "&a [*a]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s mocks.Script
		if yaml.Load(data, &s, yaml.WithKnownFields()) != nil || len(s.Validate()) > 0 {
			return
		}
		play := func() string {
			program, err := mocks.Compile(s)
			if err != nil {
				return "error: " + err.Error() // a file that is not loaded
			}
			e := mocks.NewEngine(program, mocks.EngineOptions{Clock: clock.NewVirtual()})
			all := ""
			for range 3 {
				x := e.Begin(context.Background(), neutral{llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "aab"}}}}, nil, nil)
				if len(x.Frames()) == 0 {
					t.Fatal("an exchange without frames")
				}
				for i, frame := range x.Frames() {
					if err := x.Send(i, handOver); err != nil {
						t.Fatal(err)
					}
					all += string(frame.Data)
				}
				x.End()
			}
			e.Report()
			return all
		}
		if a, b := play(), play(); a != b {
			t.Fatalf("the same script answered differently: %q and %q", a, b)
		}
	})
}
