package cli

import (
	"encoding/json"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/redact"
)

func TestRedactedResult(t *testing.T) {
	g := gomega.NewWithT(t)
	const secret = "correct-horse-battery"
	session := &Session{redact: redact.New([]string{secret})}
	for value, want := range map[string]string{
		`{"b": 1.0,  "a": ["x"]}`: `{"b": 1.0,  "a": ["x"]}`, // as it is, byte for byte
		`{"a": ["` + secret + `", {"b": "\u0063orrect-horse-battery"}], "n": 1}`: `{"a":["[REDACTED:secret]",{"b":"[REDACTED:secret]"}],"n":1}`,
		``: ``,
	} {
		given := react.Result{Value: json.RawMessage(value), Output: secret, Transcript: []react.Entry{{Thought: secret}}}
		r := session.redactResult(given)
		g.Expect(string(r.Value)).To(gomega.Equal(want))
		g.Expect(r.Output).To(gomega.Equal("[REDACTED:secret]"))
		g.Expect(r.Transcript[0].Thought).To(gomega.Equal("[REDACTED:secret]"))
		g.Expect(given.Transcript[0].Thought).To(gomega.Equal(secret), "the engine's own result stays as it is")
	}
	input := map[string]any{"a": []any{secret}}
	task := session.redactTask(react.Task{Input: input})
	g.Expect(task.Input).To(gomega.Equal(map[string]any{"a": []any{"[REDACTED:secret]"}}))
	g.Expect(input).To(gomega.Equal(map[string]any{"a": []any{secret}}), "the task that is run stays as it is")
}
