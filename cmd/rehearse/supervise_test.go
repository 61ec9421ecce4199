package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/react"
)

func TestPlanNames(t *testing.T) {
	g := gomega.NewWithT(t)
	for folder, want := range map[string]string{
		"shop": "shop", "/x/My Shop": "my-shop", "/x/.hidden": "hidden", "/": "project", "/x/été": "t", "/x/日本": "project",
	} {
		g.Expect(planName(folder)).To(gomega.Equal(want), folder)
	}
	valid := regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`) // as the plan's schema says
	rapid.Check(t, func(t *rapid.T) {
		folder := filepath.Join("/", rapid.String().Draw(t, "folder"))
		if name := planName(folder); !valid.MatchString(name) {
			t.Fatalf("%q becomes %q", folder, name)
		}
	})
}

func TestRedactedReactResult(t *testing.T) {
	g := gomega.NewWithT(t)
	const secret = "correct-horse-battery"
	transcript := &transcript{redact: redact.New([]string{secret})}
	for value, want := range map[string]string{
		`{"b": 1.0,  "a": ["x"]}`: `{"b": 1.0,  "a": ["x"]}`, // as it is, byte for byte
		`{"a": ["` + secret + `", {"b": "\u0063orrect-horse-battery"}], "n": 1}`: `{"a":["[REDACTED:secret]",{"b":"[REDACTED:secret]"}],"n":1}`,
		``: ``,
	} {
		given := react.Result{Value: json.RawMessage(value), Output: secret, Transcript: []react.Entry{{Thought: secret}}}
		r := transcript.redactReact(given)
		g.Expect(string(r.Value)).To(gomega.Equal(want))
		g.Expect(r.Output).To(gomega.Equal("[REDACTED:secret]"))
		g.Expect(r.Transcript[0].Thought).To(gomega.Equal("[REDACTED:secret]"))
		g.Expect(given.Transcript[0].Thought).To(gomega.Equal(secret), "the engine's own result stays as it is")
	}
	input := map[string]any{"a": []any{secret}}
	task := transcript.redactTask(react.Task{Input: input})
	g.Expect(task.Input).To(gomega.Equal(map[string]any{"a": []any{"[REDACTED:secret]"}}))
	g.Expect(input).To(gomega.Equal(map[string]any{"a": []any{secret}}), "the task that is run stays as it is")
}
