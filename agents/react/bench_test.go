package react_test

import (
	"context"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/agents/react/reflect"
	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
)

const benchIterations = 100

// hundred returns the answers of a run of 100 iterations.
func hundred() []string {
	answers := []string{searching}
	for range benchIterations - 1 {
		answers = append(answers, docs(goingOn, reading))
	}
	return append(answers, ended)
}

// playing returns a backend that gives answers in turn.
func playing(answers []string) llm.Backend {
	n := 0
	return llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) {
		n++
		return llm.Reply{Text: answers[n-1]}, nil
	})
}

// BenchmarkHundredIterations is a whole run; its floor makes the calls, and reads and judges
// what they answer.
func BenchmarkHundredIterations(b *testing.B) {
	answers, a := hundred(), &agentfile.Agent{ID: "auditor", MaxIterations: benchIterations}
	set := setFunc(func(string) action.Result { return action.Result{Observation: found} })
	b.ReportAllocs()
	for b.Loop() {
		res := react.Run(b.Context(), a, react.Task{Do: "Audit."}, react.Options{Stuck: -1}, react.Deps{
			Backend: playing(answers), Clock: clock.NewVirtual(),
			Actions: func(*agentfile.Agent) (action.Set, error) { return set, nil },
		})
		if res.Status != react.StatusDone || res.Iterations != benchIterations {
			b.Fatal(res.Status, res.Details)
		}
	}
}

// BenchmarkHundredIterationsFloor makes the same calls, and parses and judges.
func BenchmarkHundredIterationsFloor(b *testing.B) {
	answers := hundred()
	b.ReportAllocs()
	for b.Loop() {
		backend := playing(answers)
		for range answers {
			reply, err := backend.Complete(b.Context(), llm.Request{})
			if err != nil {
				b.Fatal(err)
			}
			found, err := step.Parse(reply.Text)
			if err != nil {
				b.Fatal(err)
			}
			for i := range found {
				if found[i].Kind == step.Reflect {
					reflect.Judge("src/login.go:12 calls eval with user input", found[i].Reflection)
				}
			}
		}
	}
}
