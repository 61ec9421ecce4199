package answers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/internal/answers"
)

// FuzzParseCompletion feeds both readers anything, and checks what must hold of
// every answer.
func FuzzParseCompletion(f *testing.F) {
	for _, seed := range []string{
		"", "DONE", "x\n```\nDONE\n```\nDONE", "BLOCKED: y", `{"status":"done","summary":"s"}`,
		"```json\n{\"status\":\"done\"}\n```", `{"a":{"b":[{"status":"blocked"}]`, "{{{{", "{\"\xff\": 1}", `{"`, `{"a":"\`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		switch v := markers.Read(text); v.State {
		case answers.Done:
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "DONE" }) {
				t.Errorf("done without a marker: %q", text)
			}
		case answers.Blocked:
			if !strings.Contains(text, "BLOCKED:") {
				t.Errorf("blocked without a marker: %q", text)
			}
		case answers.Continue:
		}
		// An object put on a line of its own before the text changes nothing if the
		// text has one, and decides if it has none.
		v, with := answers.ReadObject(text), answers.ReadObject("{\"status\":\"done\"}\n"+text)
		if strings.HasPrefix(v.Note, "the answer holds no") {
			v = answers.Verdict{State: answers.Done}
		}
		if v != with {
			t.Errorf("%q: %+v, and after an object: %+v", text, v, with)
		}
	})
}
